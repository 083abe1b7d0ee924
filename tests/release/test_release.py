"""What `make release` built, as users get it: installed with pip in an empty environment, away from the repository."""

import os
import re
import subprocess
import venv
from pathlib import Path

import pytest

import hopweave

ROOT = Path(__file__).parents[2]
NAMES = ("hopweave", "hopweave_haystack", "llama_index_hopweave", "hopweave_postgres")
OLDEST = ("haystack-ai==3.0.0", "llama-index-core==0.14.0")
TOGETHER = """
from llama_index.core.schema import TextNode
from llama_index.retrievers.bm25 import BM25Retriever as Stock
from llama_index.retrievers.hopweave import BM25Retriever, FusionRetriever
from llama_index.postprocessor.hopweave import MMRPostprocessor
from llama_index.query_engine.hopweave import load_query_engine
from haystack_integrations.components.retrievers.hopweave import RecipeRetriever
from hopweave import KnowledgeBase, Document

kb = KnowledgeBase.open("kb.db")
kb.add([Document("gate", "The tide gate opens at six."), Document("skua", "The Skua is a ferry.")])
nodes = [TextNode(id_="gate", text="The tide gate opens at six.")]
fused = FusionRetriever({"text": BM25Retriever(kb), "bm25": Stock.from_defaults(nodes=nodes, similarity_top_k=1)})
assert fused.retrieve("tide gate")[0].node_id == "gate"
assert "opens at six" in str(load_query_engine("hybrid", kb).query("When does the tide gate open?"))
assert RecipeRetriever(knowledge_base="kb.db").run(query="tide gate")["documents"][0].id == "gate"
"""
OPEN = """
from hopweave import GraphStore

GraphStore.open("postgresql://127.0.0.1:1/kb", connect_seconds=2)
"""

if not os.environ.get("HOPWEAVE_DIST"):
    pytest.skip("takes minutes: make release", allow_module_level=True)

DIST = Path(os.environ["HOPWEAVE_DIST"]).resolve()
WHEELS = [DIST / f"{name}-{hopweave.__version__}-py3-none-any.whl" for name in NAMES]


class Environment:
    """An empty virtual environment."""

    def __init__(self, folder):
        self.folder, self.bin = folder, folder / "venv" / "bin"
        venv.create(folder / "venv", with_pip=True)

    def install(self, *what):
        self.run("python", "-m", "pip", "install", "-q", "--find-links", DIST, *what)

    def run(self, program, *arguments):
        alone = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "VIRTUAL_ENV"))}
        command = [self.bin / program, *arguments]
        ran = subprocess.run(command, env=alone, cwd=self.folder, capture_output=True, text=True, check=False)
        assert ran.returncode == 0, ran.stderr
        return ran.stdout.strip()


@pytest.fixture
def environment(tmp_path):
    return Environment(tmp_path)


def test_wheels_and_sources_of_one_version():
    sources = [DIST / f"{name}-{hopweave.__version__}.tar.gz" for name in NAMES]
    assert sorted(DIST.iterdir()) == sorted([*WHEELS, *sources])


def test_the_core_alone(environment):
    environment.install(WHEELS[0])
    assert environment.run("hopweave", "--version") == f"hopweave {hopweave.__version__}"
    where = environment.run("python", "-c", "import hopweave; print(hopweave.__file__)")
    assert Path(where).is_relative_to(environment.folder)
    installed = environment.run("python", "-m", "pip", "list").lower()
    assert "haystack" not in installed
    assert "llama" not in installed.replace("wordllama", "")
    assert not {"psycopg", "pyspark", "httpx"} & set(installed.split())
    with pytest.raises(AssertionError, match="run: pip install hopweave-postgres"):
        environment.run("python", "-c", OPEN)


def test_the_core_finds_the_graph_store_for_a_url(environment):
    environment.install(WHEELS[0], WHEELS[3])
    with pytest.raises(AssertionError, match=r"GraphUnavailable: postgresql://127\.0\.0\.1:1/kb: no connection"):
        environment.run("python", "-c", OPEN)


@pytest.mark.parametrize("frameworks", [OLDEST, ()], ids=["oldest", "newest"])
def test_all_with_the_oldest_and_the_newest_frameworks(environment, frameworks):
    environment.install(*WHEELS, "llama-index-retrievers-bm25", *frameworks)
    environment.run("python", "-c", TOGETHER)


@pytest.mark.parametrize("heading", ["From Python", "In Haystack", "In LlamaIndex"])
def test_the_readme_works_for_a_newcomer(environment, heading):
    """Installed as the README says, from the wheels; its first snippet copied; printed is what it shows."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    section = re.search(rf"^## {heading}\n(.*?)^## ", readme, re.DOTALL | re.MULTILINE)[1]
    distribution, snippet, printed = (
        re.search(pattern, section, re.DOTALL | re.MULTILINE)[1]
        for pattern in (r"^pip install (\S+)$", r"^```python\n(.*?)^```", r"<!-- printed -->\n```text\n(.*?)^```")
    )
    environment.install(distribution)
    assert environment.run("python", "-c", snippet) == printed.strip()
