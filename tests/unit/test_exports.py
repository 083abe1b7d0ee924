import subprocess
import sys
from importlib import import_module, resources

import pytest

from hopweave.catalogue import CATALOGUE, PARTS
from hopweave.exports import FOLDERS, components_in, stub


def test_components_are_imported_from_their_folder():
    from hopweave.fusion import ReciprocalRank
    from hopweave.sources import BM25, PageRank
    from hopweave.stages import MMR, Freshness

    kinds = [one.model_fields["kind"].default for one in (ReciprocalRank, PageRank, MMR, Freshness, BM25)]
    assert kinds == ["reciprocal_rank", "pagerank", "mmr", "freshness", "bm25"]


def test_every_component_is_in_one_folder():
    offered = [one for folder in FOLDERS for one in components_in(f"hopweave.{folder}").values()]
    assert sorted(offered, key=repr) == sorted({*CATALOGUE, *PARTS}, key=repr)


@pytest.mark.parametrize("folder", FOLDERS)
def test_what_type_checkers_see_is_what_there_is(folder):
    written = resources.files("hopweave") / folder / "__init__.pyi"
    assert written.read_text(encoding="utf-8") == stub(f"hopweave.{folder}"), "run: make fix"


@pytest.mark.parametrize("folder", FOLDERS)
def test_names_are_listed_and_others_are_refused(folder):
    package = import_module(f"hopweave.{folder}")
    assert dir(package) == package.__all__ == sorted(package.__all__)
    for name in ("Nonsense", "nonsense"):
        with pytest.raises(AttributeError, match=f"module 'hopweave.{folder}' has no attribute '{name}'"):
            getattr(package, name)


def test_a_star_import_brings_the_components():
    program = "from hopweave.stages import *; print(Freshness.__name__, MMR.__name__)"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout == "Freshness MMR\n"
