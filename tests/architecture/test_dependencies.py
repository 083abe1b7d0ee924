"""What is installed with the package is what the shipped recipes run."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

from hopweave.errors import HopweaveError
from hopweave.graph.build.networkx_graph import to_networkx
from hopweave.graph.build.synonyms import synonym_edges
from hopweave.hit import Hit
from hopweave.query import Query
from hopweave.stages.diversify.mmr import MMR

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
OF_OTHER_FILES = {"docutils", "selectolax"}  # .rst and .html; tests/unit/markup has some
MODULES = {"markdown-it-py": "markdown_it", "pystemmer": "Stemmer", "pyyaml": "yaml", "faiss-cpu": "faiss"}

ONE_QUESTION_PER_RECIPE = """
import sys
from pathlib import Path
from hopweave import Document, KnowledgeBase, Pipeline
from hopweave.readers.files import read_documents
from hopweave.recipe import recipe_names

documents = [
    Document("skua", "MV Skua is a ferry that Ingrid Falk designed.", {"title": "MV Skua", "type": "page"}),
    Document("falk", "Ingrid Falk was born in Harris.", {"title": "Ingrid Falk", "type": "page"}),
]
folder = Path(sys.argv[1]).parent / "files"
folder.mkdir()
(folder / "a.md").write_text("# Skua")
(folder / "d.txt").write_bytes("Die Fähre fährt täglich nach Höfn.".encode("latin-1"))
with KnowledgeBase.open(sys.argv[1]) as kb:
    kb.add([*documents, *read_documents(folder)])
    for recipe in recipe_names():
        Pipeline(recipe, kb).run("Where was the designer of MV Skua born?")
print(*{name.split(".")[0] for name in sys.modules})
"""


def modules_of(requirements):
    names = [re.split(r"[\[<>=;~! ]", requirement)[0].lower() for requirement in requirements]
    return {MODULES.get(name, name.replace("-", "_")) for name in names if name != "hopweave"}


def test_the_shipped_recipes_use_every_required_package_and_no_other(tmp_path):
    ran = subprocess.run(
        [sys.executable, "-c", ONE_QUESTION_PER_RECIPE, str(tmp_path / "kb.db")],
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = set(ran.stdout.split())
    required = modules_of(PROJECT["dependencies"])
    extra = modules_of([one for extra in PROJECT["optional-dependencies"].values() for one in extra]) - required
    assert required - loaded <= {"tqdm"} | OF_OTHER_FILES  # which `hopweave index` shows its progress with
    assert extra & loaded <= {"tokenizers"}  # of the extra onnx; wordllama brings it


def test_what_needs_an_extra_says_which(monkeypatch):
    for module in ("faiss", "networkx", "pyversity"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(HopweaveError, match=r"pip install 'hopweave\[networkx\]'"):
        to_networkx([], [])
    with pytest.raises(HopweaveError, match=r"pip install 'hopweave\[pyversity\]'"):
        MMR(strategy="dpp").apply([Hit("a", 0.9), Hit("b", 0.5)], Query("ferries"))
    names = [str(number) for number in range(20_001)]
    with pytest.raises(HopweaveError, match=r"pip install 'hopweave\[faiss\]'"):
        synonym_edges(names, np.ones((len(names), 2)))
