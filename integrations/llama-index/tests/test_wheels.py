"""The three distributions as users get them: wheels side by side, beside other people's integrations."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from hatchling.builders.wheel import WheelBuilder

ROOT = Path(__file__).parents[3]
DISTRIBUTIONS = (ROOT, ROOT / "integrations" / "haystack", ROOT / "integrations" / "llama-index")
SCRIPT = """
import sys
from llama_index.core import Document, MockEmbedding, VectorStoreIndex
from llama_index.core.schema import TextNode
from llama_index.retrievers.bm25 import BM25Retriever as Stock
from llama_index.retrievers.hopweave import BM25Retriever, FusionRetriever
from llama_index.postprocessor.hopweave import MMRPostprocessor
from llama_index.query_engine.hopweave import load_query_engine
from haystack_integrations.components.retrievers.hopweave import RecipeRetriever
from hopweave import KnowledgeBase, Document as Passage
import hopweave, llama_index.hopweave

kb = KnowledgeBase.open("kb.db")
kb.add([Passage("gate", "The tide gate opens at six."), Passage("skua", "The Skua is a ferry.")])
nodes = [TextNode(id_="gate", text="The tide gate opens at six.")]
stock = Stock.from_defaults(nodes=nodes, similarity_top_k=1)
fused = FusionRetriever({"text": BM25Retriever(kb), "bm25": stock}).retrieve("tide gate")
assert fused[0].node_id == "gate", fused
assert "opens at six" in str(load_query_engine("hybrid", kb).query("When does the tide gate open?"))
assert RecipeRetriever(knowledge_base="kb.db").run(query="tide gate")["documents"][0].id == "gate"
print(hopweave.__file__, llama_index.hopweave.__file__)
"""


@pytest.fixture(scope="module")
def wheels(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dist")
    for root in DISTRIBUTIONS:
        next(WheelBuilder(str(root)).build(directory=str(folder), versions=["standard"]))
    return sorted(folder.glob("*.whl"))


def test_no_namespace_is_shadowed(wheels):
    assert len(wheels) == 3
    for wheel in wheels:
        names = zipfile.ZipFile(wheel).namelist()
        inits = [name for name in names if name.endswith("/__init__.py")]
        assert inits
        assert all("hopweave" in Path(name).parts for name in inits)
        assert not any("tests/" in name for name in names)
    names = zipfile.ZipFile(wheels[-1]).namelist()
    sources = (ROOT / "integrations" / "llama-index" / "llama_index").rglob("*.py")
    assert {str(file.relative_to(ROOT / "integrations" / "llama-index")) for file in sources} <= set(names)
    for package in {Path(name).parent for name in names if name.endswith("/__init__.py")}:
        assert f"{package}/py.typed" in names


def test_the_wheels_work_side_by_side(wheels, tmp_path):
    for wheel in wheels:
        zipfile.ZipFile(wheel).extractall(tmp_path / "site")
    libraries = [path for path in sys.path if path.endswith("site-packages")]
    # -S: without the .pth files that lead to the working tree
    run = subprocess.run(
        [sys.executable, "-S", "-c", SCRIPT],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path / "site"), *libraries])},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.count(str(tmp_path / "site")) == 2
