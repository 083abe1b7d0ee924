"""Every component has a page, and every page says how to use it in both frameworks."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import hopweave.catalogue  # noqa: F401 - so that every kind is known
from hopweave.component import Fuser, Source, Stage, registered

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("components")
    subprocess.run([sys.executable, "docs/generate.py", str(folder)], cwd=ROOT, check=True)
    return {file.stem: file.read_text(encoding="utf-8") for file in folder.glob("*.md")}


@pytest.mark.parametrize("kind", [kind for role in (Source, Fuser, Stage) for kind in registered(role)])
def test_a_component_has_a_page_with_parameters_recipe_and_adapters(pages, kind):
    page = pages[kind]
    assert "| name | default | allowed | meaning |" in page
    assert f"kind: {kind}" in page
    for framework in ("Haystack", "LlamaIndex"):
        assert f"## In {framework}" in page


def test_what_the_pages_import_is_there(pages):
    lines = sorted({line for page in pages.values() for line in re.findall(r"^from \S+ import \w+$", page, re.M)})
    assert len(lines) > 40
    subprocess.run([sys.executable, "-c", "\n".join(lines)], cwd=ROOT, check=True)


def test_the_overview_links_every_page(pages):
    assert all(f"({name}.md)" in pages["index"] for name in pages if name != "index")
