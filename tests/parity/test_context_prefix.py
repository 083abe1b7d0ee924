"""A context prefix is searched, embedded and reranked by, and never shown; in core, Haystack and LlamaIndex."""

import json

import pytest
from haystack import Document as HaystackDocument
from llama_index.core.schema import MetadataMode, TextNode
from llama_index.ingestion.hopweave import KnowledgeBaseWriter as LlamaIndexWriter
from llama_index.retrievers.hopweave import RecipeRetriever as LlamaIndexRetriever

from haystack_integrations.components.retrievers.hopweave import RecipeRetriever
from haystack_integrations.components.writers.hopweave import KnowledgeBaseWriter
from hopweave import Document, KnowledgeBase, read_documents
from hopweave.recipe import load_recipe

PREFIX = "From the rules of Stennick harbour on mooring."
TEXTS = {"a": "It costs four crowns a night.", "b": "It costs nine crowns a week."}
SOURCES = [("text", "bm25"), ("vector", "vector"), ("words", "full_text")]


def metadata(key):
    return {"context_prefix": PREFIX} if key == "b" else {}


def core(path):
    with KnowledgeBase.open(path) as kb:
        kb.add([Document(key, text, metadata(key)) for key, text in TEXTS.items()])


def lines(path):
    file = path.with_suffix(".jsonl")
    file.write_text("\n".join(json.dumps({"id": key, "text": TEXTS[key], **metadata(key)}) for key in TEXTS))
    with KnowledgeBase.open(path) as kb:
        kb.add(read_documents(file))


def haystack(path):
    documents = [HaystackDocument(id=key, content=text, meta=metadata(key)) for key, text in TEXTS.items()]
    KnowledgeBaseWriter(knowledge_base=path).run(documents=documents)


def llama_index(path):
    with KnowledgeBase.open(path) as kb:
        LlamaIndexWriter(knowledge_base=kb)(
            [TextNode(id_=key, text=text, metadata=metadata(key)) for key, text in TEXTS.items()]
        )


@pytest.mark.parametrize("write", [core, lines, haystack, llama_index])
def test_it_is_found_and_not_shown(write, tmp_path):
    path = tmp_path / "kb.db"
    write(path)
    for name, kind in SOURCES:
        sources = {name: {"kind": kind}}
        recipe = type(load_recipe("hybrid"))(name=name, sources=sources)
        with KnowledgeBase.open(path, read_only=True) as kb:
            best = kb.search("mooring in Stennick harbour", recipe=recipe).hits[0]
            assert kb.check() == []
        assert (best.id, best.text) == ("b", TEXTS["b"])
    question = "What does mooring in Stennick harbour cost?"
    with KnowledgeBase.open(path, read_only=True) as kb:
        result = kb.search(question, recipe="knowledge")
        assert result.hits[0].id == "b"
        assert result.evidence.features.coverage > 0.5
        assert "Stennick" not in (result.context.text if result.context else "")
        node = LlamaIndexRetriever(kb, recipe="hybrid").retrieve(question)[0].node
        assert "Stennick" not in node.get_content(metadata_mode=MetadataMode.LLM)
    document = RecipeRetriever(knowledge_base=path, recipe="hybrid").run(query=question)["documents"][0]
    assert (document.id, document.content) == ("b", TEXTS["b"])


def test_a_changed_prefix_is_indexed_again(tmp_path):
    with KnowledgeBase.open(tmp_path / "kb.db") as kb:
        kb.add([Document("a", TEXTS["a"], {"context_prefix": "Mooring."})])
        assert kb.add([Document("a", TEXTS["a"], {"context_prefix": "Fuel."})]).updated == 1
        assert kb.add([Document("a", TEXTS["a"], {"context_prefix": "Fuel."})]).unchanged == 1
        assert kb.add(list(kb.documents())).unchanged == 1
        assert kb.add([Document("a", TEXTS["a"], {"context_prefix": "Fuel."}, heading="Prices")]).updated == 1
        assert kb.add(list(kb.documents())).unchanged == 1
        assert kb.check() == []
        assert kb.rank_words("fuel prices", analyzer="nlp", top_k=1)
        assert not kb.rank_words("mooring", analyzer="nlp", top_k=1)
