"""The graph over documents that live in stores which are not ours."""

import sys
from pathlib import Path

import pytest
from haystack import Document, Pipeline
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from haystack.document_stores.in_memory import InMemoryDocumentStore
from haystack.utils import Secret

from haystack_integrations.components.embedders.hopweave import StaticDocumentEmbedder, StaticTextEmbedder
from haystack_integrations.components.joiners.hopweave import ReciprocalRankJoiner
from haystack_integrations.components.rankers.hopweave import MMRRanker
from haystack_integrations.components.retrievers.hopweave import BM25Retriever, PageRankRetriever, RecipeRetriever
from haystack_integrations.components.writers.hopweave import KnowledgeBaseWriter

BENCHMARKS = Path(__file__).parents[3] / "benchmarks"
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


@pytest.fixture(scope="module")
def postgres():
    """The URL of a PostgreSQL server with pgvector that was started for these tests."""
    pytest.importorskip("pgserver")
    pytest.importorskip("haystack_integrations.document_stores.pgvector")
    if not (BENCHMARKS / "postgres_server.py").exists():
        pytest.skip("needs the repository")
    sys.path.append(str(BENCHMARKS))
    from postgres_server import postgres_server

    with postgres_server() as url:
        yield url


def pgvector(url):
    from haystack_integrations.document_stores.pgvector import PgvectorDocumentStore

    connection = Secret.from_token(url)
    return PgvectorDocumentStore(connection_string=connection, embedding_dimension=256, recreate_table=True)


@pytest.fixture(params=["in_memory", "qdrant", "pgvector"])
def store(request):
    if request.param == "pgvector":
        made = pgvector(request.getfixturevalue("postgres"))
    else:
        made = {"in_memory": in_memory, "qdrant": qdrant}[request.param]()
    made.write_documents(StaticDocumentEmbedder().run(documents=DOCUMENTS)["documents"])
    yield made
    if request.param == "pgvector":
        made.close()


def embedding_retriever(store):
    """The retriever that comes with a store."""
    if isinstance(store, InMemoryDocumentStore):
        from haystack.components.retrievers.in_memory import InMemoryEmbeddingRetriever as EmbeddingRetriever
    elif "qdrant" in type(store).__module__:
        from haystack_integrations.components.retrievers.qdrant import QdrantEmbeddingRetriever as EmbeddingRetriever
    else:
        from haystack_integrations.components.retrievers.pgvector import (
            PgvectorEmbeddingRetriever as EmbeddingRetriever,
        )
    return EmbeddingRetriever(document_store=store, top_k=2)


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
    pipeline.add_component("vector", embedding_retriever(store))
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
    if "pgvector" not in type(store).__module__:  # whose connection string was given as a token
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


# a whole recipe over a store


@pytest.fixture
def with_recipe(store, tmp_path):
    """The pipeline of the guide: a store's retriever, and a recipe over the same documents behind it."""
    KnowledgeBaseWriter(knowledge_base=tmp_path / "graph.db").run(documents=store.filter_documents())
    pipeline = Pipeline()
    pipeline.add_component("embedder", StaticTextEmbedder())
    pipeline.add_component("retriever", embedding_retriever(store))
    recipe = RecipeRetriever(
        knowledge_base=tmp_path / "graph.db", document_store=store, recipe="multihop", upstream=["vector"]
    )
    pipeline.add_component("graph", recipe)
    pipeline.connect("embedder.embedding", "retriever.query_embedding")
    pipeline.connect("retriever.documents", "graph.vector")
    return pipeline


def found_by(pipeline, **more):
    return pipeline.run({"embedder": {"text": QUESTION}, "graph": {"query": QUESTION, **more}})["graph"]["documents"]


def test_a_recipe_ranks_with_the_retriever_of_a_store_and_hands_out_its_documents(with_recipe, store):
    found = found_by(with_recipe)
    assert {"skua", "yard"} <= {one.id for one in found}
    details = found[0].meta["hopweave"]["receipts"][-1]["details"]
    assert {"text", "vector", "graph", "evidence"} == set(details["signals"])
    store.delete_documents(["yard"])  # the file still has it
    assert "yard" not in {one.id for one in found_by(with_recipe)}
    assert found_by(with_recipe)


def test_documents_by_words_come_from_the_store_too(store, tmp_path):
    KnowledgeBaseWriter(knowledge_base=tmp_path / "graph.db").run(documents=store.filter_documents())
    retriever = BM25Retriever(knowledge_base=tmp_path / "graph.db", document_store=store)
    store.delete_documents(["gate"])
    assert retriever.run(query="When does the tide gate open?")["documents"] == []
    assert [one.id for one in retriever.run(query="founded by")["documents"]] == ["yard"]


def test_a_tenant_sees_only_its_own_of_what_other_retrievers_found(file):
    own = Document(id="mine", content="MV Skua.", meta={"owner": "a"}, score=0.5)
    foreign = Document(id="secret", content="MV Skua.", meta={"owner": "b"}, score=0.9)
    retriever = RecipeRetriever(knowledge_base=file, recipe="hybrid", upstream=["vector"], tenant={"owner": "a"})
    assert [one.id for one in retriever.run(query="MV Skua", vector=[foreign, own])["documents"]] == ["mine"]


def test_a_branch_that_did_not_run_is_absent_from_the_recipe(file):
    retriever = RecipeRetriever(knowledge_base=file, recipe="multihop", upstream=["vector"])
    found = retriever.run(query=QUESTION)["documents"]
    assert set(found[0].meta["hopweave"]["receipts"][-1]["details"]["signals"]) <= {"text", "graph", "evidence"}


def test_names_that_a_recipe_does_not_have_are_refused(file):
    with pytest.raises(
        ValueError, match="upstream: 'vectors' is no source of recipe 'multihop'; its sources are text, vector, graph"
    ):
        RecipeRetriever(knowledge_base=file, recipe="multihop", upstream=["vectors"])
    with pytest.raises(ValueError, match="upstream: must be a list of names, but got 'vector'"):
        RecipeRetriever(knowledge_base=file, recipe="multihop", upstream="vector")
    with pytest.raises(ValueError, match="text: no such input; upstream has vector"):
        RecipeRetriever(knowledge_base=file, recipe="multihop", upstream=["vector"]).run(query="x", text=[])


def test_documents_are_fetched_by_id_where_a_store_can(file, monkeypatch):
    for store in (in_memory(), qdrant()):
        store.write_documents(StaticDocumentEmbedder().run(documents=DOCUMENTS)["documents"])
        monkeypatch.setattr(type(store), "filter_documents", lambda *_, **__: pytest.fail("all documents were read"))
        retriever = PageRankRetriever(knowledge_base=file, document_store=store, seeds_from=[], word_source=None)
        assert {"skua", "yard"} <= {one.id for one in retriever.run(query=QUESTION)["documents"]}
