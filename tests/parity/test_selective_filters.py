"""A filter that few documents pass, over a graph and a store of one's own: as many hits as there are, in few walks."""

from uuid import UUID

import pytest

pytest.importorskip("haystack")
pytest.importorskip("llama_index.core")

from haystack import Document as HaystackDocument
from haystack import Pipeline as HaystackPipeline
from haystack.components.retrievers.in_memory import InMemoryEmbeddingRetriever
from haystack.document_stores.in_memory import InMemoryDocumentStore
from llama_index.core import QueryBundle, StorageContext, VectorStoreIndex
from llama_index.core.schema import TextNode
from llama_index.core.vector_stores.types import MetadataFilter, MetadataFilters
from llama_index.embeddings.hopweave import StaticEmbedding
from llama_index.hopweave import documents_in
from llama_index.retrievers.hopweave import PageRankRetriever as LlamaPageRankRetriever
from llama_index.retrievers.hopweave import RecipeRetriever as LlamaRecipeRetriever

from haystack_integrations.components.retrievers.hopweave import PageRankRetriever, RecipeRetriever
from hopweave.document import Document
from hopweave.graph.external_documents import ExternalDocuments
from hopweave.graph_store.store import GraphStore
from hopweave.hit import Hit
from hopweave.pipeline import Pipeline
from hopweave.query import Query
from hopweave.recipe import Recipe
from hopweave.search.retrieval import FilteredSearch
from hopweave.sources.pagerank import PageRank

COUNT, EVERY, TOP_K = 1_000, 100, 10
QUESTION = "What is known of the harbour of Lunn?"
KEPT = {"field": "meta.shelf", "operator": "==", "value": "rare"}
KEPT_BY_INDEX = MetadataFilters(filters=[MetadataFilter(key="shelf", value="rare")])


def passages():
    """Of which one in a hundred passes, all in one neighbourhood of the graph."""
    for number in range(COUNT):
        shelf = "rare" if number % EVERY == EVERY - 1 else "usual"
        text = f"Ship {number} lies in the harbour of Lunn beside Pier {number % 50}."
        yield Document(str(UUID(int=number)), text, {"title": f"Ship {number}", "shelf": shelf})


PASSAGES = list(passages())
RARE = {one.id for one in PASSAGES if one.metadata["shelf"] == "rare"}
VECTORS = dict(
    zip(
        [one.id for one in PASSAGES],
        StaticEmbedding().get_text_embedding_batch([one.text for one in PASSAGES]),
        strict=True,
    )
)


@pytest.fixture(params=["file", "server"])
def graph(request, tmp_path):
    where = tmp_path / "graph.db" if request.param == "file" else request.getfixturevalue("postgres_url")
    with GraphStore.open(where) as store:
        store.build(PASSAGES)
        yield store


class Counting:
    """A store of documents that counts what is fetched."""

    def __init__(self):
        self.hits = {one.id: Hit(one.id, text=one.text, metadata=one.metadata) for one in PASSAGES}
        self.asked, self.handed = 0, 0

    def fetch(self, ids):
        self.asked += 1
        found = [self.hits[key] for key in ids if key in self.hits]
        self.handed += len(found)
        return found

    def fetch_passing(self, ids, filters):
        assert filters == {"shelf": "rare"}
        return [hit for hit in self.fetch(ids) if hit.metadata["shelf"] == "rare"]


def test_all_that_pass_are_found_with_one_more_walk(graph, monkeypatch):
    walks = []
    monkeypatch.setattr(
        PageRank, "_walk", lambda self, *args, walk=PageRank._walk: walks.append(1) or walk(self, *args)
    )
    graph_source = {"kind": "pagerank", "seeds_from": [], "top_k": TOP_K}
    recipe = Recipe.model_validate({"name": "walk", "sources": {"graph": graph_source}, "top_k": TOP_K})
    for pushed in (True, False):
        walks.clear()
        store = Counting()
        place = ExternalDocuments(graph, store.fetch, fetch_passing=store.fetch_passing if pushed else None)
        hits = Pipeline(recipe, place).run(Query(QUESTION, filters={"shelf": "rare"})).hits
        assert {hit.id for hit in hits} == RARE
        assert len(walks) == 2
        assert all(
            "passing" not in hit.receipts[0].details and "missing" not in hit.receipts[0].details for hit in hits
        )
        ranks = [hit.receipts[0].details["rank"] for hit in hits]
        assert ranks == sorted(ranks)


def test_too_few_that_pass_are_said_to_be_too_few(graph):
    store = Counting()
    place = ExternalDocuments(graph, store.fetch)
    source = PageRank(seeds_from=(), top_k=TOP_K + 5)
    query = Query(QUESTION, filters={"shelf": "rare"})
    asks, hits = FilteredSearch(query, place).asks(source), None
    try:
        while True:
            asked, knowledge = next(asks) if hits is None else asks.send(hits)
            hits = asked.search(query, knowledge)
    except StopIteration as done:
        found = done.value
    assert {hit.id for hit in found} >= RARE
    assert {hit.receipts[-1].details["passing"] for hit in found} == {TOP_K}


def haystack_store(kind, request):
    documents = [
        HaystackDocument(id=one.id, content=one.text, meta=dict(one.metadata), embedding=VECTORS[one.id])
        for one in PASSAGES
    ]
    if kind == "memory":
        store = InMemoryDocumentStore(embedding_similarity_function="cosine")
    elif kind == "qdrant":
        qdrant = pytest.importorskip("haystack_integrations.document_stores.qdrant")
        store = qdrant.QdrantDocumentStore(location=":memory:", embedding_dim=256, progress_bar=False)
    else:
        pgvector = pytest.importorskip("haystack_integrations.document_stores.pgvector")
        from haystack.utils import Secret

        connection = Secret.from_token(request.getfixturevalue("pgvector_url"))
        store = pgvector.PgvectorDocumentStore(connection_string=connection, embedding_dimension=256)
        request.addfinalizer(store.close)
    store.write_documents(documents)
    return store


@pytest.mark.parametrize("kind", ["memory", "qdrant", "pgvector"])
def test_haystack_fills_up_from_the_store(kind, request, tmp_path):
    store = haystack_store(kind, request)
    with GraphStore.open(tmp_path / "graph.db") as graph:
        graph.build(PASSAGES)
    retriever = PageRankRetriever(graph=str(tmp_path / "graph.db"), document_store=store, top_k=TOP_K)
    found = retriever.run(query=QUESTION, filters=KEPT)["documents"]
    assert {one.id for one in found} == RARE
    assert all(one.content and one.meta["shelf"] == "rare" for one in found)


def test_haystack_recipe_fills_up(tmp_path):
    store = haystack_store("memory", None)
    with GraphStore.open(tmp_path / "graph.db") as graph:
        graph.build(PASSAGES)
    pipeline = HaystackPipeline()
    pipeline.add_component("vectors", InMemoryEmbeddingRetriever(store, top_k=30))
    options = {"recipe": "multihop", "upstream": ["text", "vector"], "top_k": TOP_K}
    recipe = RecipeRetriever(graph=str(tmp_path / "graph.db"), document_store=store, **options)
    pipeline.add_component("recipe", recipe)
    pipeline.connect("vectors.documents", "recipe.vector")
    asked = {"vectors": {"query_embedding": StaticEmbedding().get_query_embedding(QUESTION)}}
    found = pipeline.run({**asked, "recipe": {"query": QUESTION, "filters": KEPT}})["recipe"]["documents"]
    assert {one.id for one in found} == RARE


def llama_index_store(kind, request):
    nodes = [
        TextNode(id_=one.id, text=one.text, metadata=dict(one.metadata), embedding=VECTORS[one.id]) for one in PASSAGES
    ]
    storage = None
    if kind == "qdrant":
        qdrant = pytest.importorskip("llama_index.vector_stores.qdrant")
        from qdrant_client import QdrantClient

        storage = StorageContext.from_defaults(
            vector_store=qdrant.QdrantVectorStore("passages", client=QdrantClient(":memory:"))
        )
    elif kind == "pgvector":
        import asyncio
        from urllib.parse import urlsplit

        postgres = pytest.importorskip("llama_index.vector_stores.postgres")
        place = urlsplit(request.getfixturevalue("pgvector_url"))
        login = {"user": place.username, "password": place.password, "database": place.path.strip("/")}
        where = {"host": place.hostname, "port": str(place.port), "table_name": "nodes", "embed_dim": 256}
        store = postgres.PGVectorStore.from_params(**where, **login)
        request.addfinalizer(lambda: asyncio.run(store.close()))
        storage = StorageContext.from_defaults(vector_store=store)
    return VectorStoreIndex(nodes, storage_context=storage, embed_model=StaticEmbedding())


@pytest.mark.parametrize("kind", ["memory", "qdrant", "pgvector"])
def test_llama_index_fills_up_from_the_store(kind, request, tmp_path):
    index = llama_index_store(kind, request)
    with GraphStore.open(tmp_path / "graph.db") as graph:
        graph.build(PASSAGES)
        place = documents_in(index, graph)
        retriever = LlamaPageRankRetriever(place, upstream={}, similarity_top_k=TOP_K, filters=KEPT_BY_INDEX)
        assert {one.node.node_id for one in retriever.retrieve(QueryBundle(QUESTION))} == RARE
        retrievers = {"vector": index.as_retriever(similarity_top_k=5), "text": None}
        recipe = LlamaRecipeRetriever(
            place, recipe="multihop", retrievers=retrievers, similarity_top_k=TOP_K, filters=KEPT_BY_INDEX
        )
        assert {one.node.node_id for one in recipe.retrieve(QueryBundle(QUESTION))} == RARE
        elsewhere = "Who founded the yard of Havn?"  # which no name of the graph is in: the vectors alone answer
        found = recipe.retrieve(QueryBundle(elsewhere))
        assert len(found) >= 5
        assert {one.node.node_id for one in found} <= RARE
