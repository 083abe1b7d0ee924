"""Every example in a docstring and in the README runs."""

import importlib
import re
from pathlib import Path

import pytest
from llama_index.core import Settings

from hopweave import KnowledgeBase

ROOT = Path(__file__).parents[1]
MODULES = sorted(
    ".".join(file.relative_to(ROOT).with_suffix("").parts)
    for file in (ROOT / "llama_index").rglob("*.py")
    if file.stem != "__init__"
)
NOT_RUN = {
    "llama_index.embeddings.hopweave.graph_embedder": "needs a trained file",
    "llama_index.embeddings.hopweave.onnx": "needs a model on disk",
}
BLOCK = re.compile(r"^( *)```python\n(.*?)^ *```", re.DOTALL | re.MULTILINE)


def blocks(text):
    return [re.sub(f"(?m)^{indent}", "", body) for indent, body in BLOCK.findall(text)]


@pytest.fixture
def here(kb, embed_model, llm, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with KnowledgeBase.open("hopweave.db") as copy:
        copy.add(kb.documents())
    monkeypatch.setattr(Settings, "_llm", llm)
    monkeypatch.setattr(Settings, "_embed_model", embed_model)
    monkeypatch.setenv("JINA_API_KEY", "")


@pytest.mark.parametrize("module", MODULES)
def test_docstrings(module, here, index, kb):
    source = Path(importlib.import_module(module).__file__).read_text()
    for body in blocks(source):
        program = compile(body, module, "exec")
        if module not in NOT_RUN:
            exec(program, {"index": index, "knowledge_base": kb})


def test_every_component_has_an_example():
    for package in ("postprocessor", "retrievers", "selectors", "query_engine", "embeddings", "vector_stores"):
        module = importlib.import_module(f"llama_index.{package}.hopweave")
        for name in module.__all__:
            if not name.endswith(("Selection", "RecipeQueryEngine")):
                assert "```python" in getattr(module, name).__doc__, name


def test_readme(here, index):
    found = blocks((ROOT / "README.md").read_text())
    assert found
    names = {"index": index}
    for body in found:
        exec(compile(body, "README.md", "exec"), names)
