"""The graph over documents that live in stores which are not ours."""

import pytest
from haystack import Document, Pipeline
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from haystack.document_stores.in_memory import InMemoryDocumentStore

from haystack_integrations.components.embedders.hopweave import StaticDocumentEmbedder, StaticTextEmbedder
from haystack_integrations.components.joiners.hopweave import ReciprocalRankJoiner
from haystack_integrations.components.rankers.hopweave import MMRRanker
from haystack_integrations.components.retrievers.hopweave import PageRankRetriever

QUESTION = "Who founded the yard that built MV Skua?"
DOCUMENTS = [
    Document(id="skua", content="MV Skua is a ferry built at Sørvåg yard.", meta={"title": "MV Skua"}),
    Document(id="yard", content="Sørvåg yard was founded by Ingrid Falk.", meta={"title": "Sørvåg yard"}),
    Document(id="gate", content="The tide gate opens at six.", meta={"title": "Tide gate"}),
]


def in_memory():
    return InMemoryDocumentStore()


def qdrant():
    pytest.importorskip("haystack_integrations.document_stores.qdrant")
    from haystack_integrations.document_stores.qdrant import QdrantDocumentStore

    return QdrantDocumentStore(location=":memory:", embedding_dim=256)


@pytest.fixture(params=[in_memory, qdrant], ids=["in_memory", "qdrant"])
def store(request):
    made = request.param()
    made.write_documents(StaticDocumentEmbedder().run(documents=DOCUMENTS)["documents"])
    return made


def test_page_rank_fetches_documents_from_any_store(store, file):
    retriever = PageRankRetriever(knowledge_base=file, document_store=store, seeds_from=["vector"], word_source=None)
    found = retriever.run(query=QUESTION)["documents"]
    # the walk also reaches passages that only our file has; the store knows three
    assert {one.id for one in found} <= {"skua", "yard", "gate"}
    assert found[0].id in {"skua", "yard"}
    assert {"skua", "yard"} <= {one.id for one in found}
    assert len(found[0].embedding) == 256
    assert found[0].meta["hopweave"]["receipts"][0]["stage"] == "pagerank"


def test_upstream_documents_are_seeds(store, file):
    retriever = PageRankRetriever(knowledge_base=file, document_store=store, seeds_from=["vector"], word_source=None)
    unnamed = "what is it?"
    assert retriever.run(query=unnamed)["documents"] == []
    found = retriever.run(query=unnamed, vector=[DOCUMENTS[0]])["documents"]
    assert [one.id for one in found][:1] == ["skua"]
    assert "yard" in {one.id for one in found}


def test_an_existing_hybrid_pipeline_gains_the_graph(store, file):
    pipeline = Pipeline()
    pipeline.add_component("embedder", StaticTextEmbedder())
    if isinstance(store, InMemoryDocumentStore):
        from haystack.components.retrievers.in_memory import InMemoryEmbeddingRetriever as EmbeddingRetriever
    else:
        from haystack_integrations.components.retrievers.qdrant import QdrantEmbeddingRetriever as EmbeddingRetriever
    pipeline.add_component("vector", EmbeddingRetriever(document_store=store, top_k=2))
    pipeline.add_component("graph", PageRankRetriever(knowledge_base=file, document_store=store, seeds_from=["vector"]))
    pipeline.add_component("fuse", ReciprocalRankJoiner(sources=["vector", "graph"]))
    pipeline.add_component("mmr", MMRRanker())
    pipeline.connect("embedder.embedding", "vector.query_embedding")
    pipeline.connect("vector.documents", "graph.vector")
    pipeline.connect("vector.documents", "fuse.vector")
    pipeline.connect("graph.documents", "fuse.graph")
    pipeline.connect("fuse", "mmr")
    asked = {"embedder": {"text": QUESTION}, "graph": {"query": QUESTION}}
    found = pipeline.run(asked)["mmr"]["documents"]
    assert {"skua", "yard"} <= {one.id for one in found}
    again = Pipeline.loads(pipeline.dumps())
    assert again.dumps() == Pipeline.loads(again.dumps()).dumps()


def test_bm25_of_another_store_feeds_the_walk(file):
    store = in_memory()
    store.write_documents(DOCUMENTS)
    pipeline = Pipeline()
    pipeline.add_component("text", InMemoryBM25Retriever(document_store=store))
    pipeline.add_component("graph", PageRankRetriever(knowledge_base=file, document_store=store, seeds_from=["text"]))
    pipeline.connect("text.documents", "graph.text")
    found = pipeline.run({"query": QUESTION})["graph"]["documents"]
    assert "yard" in {one.id for one in found}
