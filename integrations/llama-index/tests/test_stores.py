"""Nodes of the user's own stores, fetched by the call that suits."""

import asyncio
import sys
from pathlib import Path
from types import SimpleNamespace
from uuid import NAMESPACE_URL, uuid5

import pytest
from llama_index.core import StorageContext, VectorStoreIndex
from llama_index.core.data_structs import IndexDict
from llama_index.core.schema import NodeRelationship, RelatedNodeInfo, TextNode
from llama_index.core.storage.docstore import SimpleDocumentStore
from llama_index.core.vector_stores import MetadataFilters, SimpleVectorStore
from llama_index.hopweave import documents_in
from llama_index.hopweave.stores import keeper_of, nodes_in, stored_nodes
from llama_index.ingestion.hopweave import KnowledgeBaseWriter
from llama_index.retrievers.hopweave import PageRankRetriever, RecipeRetriever
from llama_index.vector_stores.qdrant import QdrantVectorStore
from qdrant_client import AsyncQdrantClient, QdrantClient

from hopweave import KnowledgeBase

BENCHMARKS = Path(__file__).parents[3] / "benchmarks"
QUESTION = "Where was the designer of MV Skua born?"
TEXTS = {
    "MV Skua": "MV Skua was designed by Ingrid Falk.",
    "Ingrid Falk": "Ingrid Falk was born in Lunn.",
    "Tide gate": "The tide gate opens at six.",
}
IDS = {title: str(uuid5(NAMESPACE_URL, title)) for title in TEXTS}
FOUND = {IDS["Ingrid Falk"], IDS["MV Skua"]}


def make_nodes():
    return [TextNode(id_=IDS[title], text=text, metadata={"title": title}) for title, text in TEXTS.items()]


@pytest.fixture
def graph_kb():
    with KnowledgeBase.open() as kb:
        KnowledgeBaseWriter(knowledge_base=kb)(make_nodes())
        yield kb


@pytest.fixture
def calls(monkeypatch):
    """Which of the calls a Qdrant store was asked by."""
    seen = []
    sync, waiting, filtering = QdrantClient.retrieve, AsyncQdrantClient.retrieve, QdrantVectorStore.aget_nodes

    def retrieve(self, *args, **kwargs):
        seen.append("retrieve")
        return sync(self, *args, **kwargs)

    async def retrieve_async(self, *args, **kwargs):
        seen.append("asynchronous retrieve")
        return await waiting(self, *args, **kwargs)

    async def aget_nodes(self, *args, **kwargs):
        seen.append("aget_nodes")
        return await filtering(self, *args, **kwargs)

    monkeypatch.setattr(QdrantClient, "retrieve", retrieve)
    monkeypatch.setattr(AsyncQdrantClient, "retrieve", retrieve_async)
    monkeypatch.setattr(QdrantVectorStore, "aget_nodes", aget_nodes)
    return seen


def walker(store, kb):
    return PageRankRetriever(documents_in(store, kb.graph), upstream={}, similarity_top_k=2, time_budget_seconds=60)


def test_a_store_with_an_asynchronous_client_alone(graph_kb, embed_model, calls):
    store = QdrantVectorStore("isles", aclient=AsyncQdrantClient(":memory:"))
    storage = StorageContext.from_defaults(vector_store=store)
    index = VectorStoreIndex([], storage_context=storage, embed_model=embed_model, use_async=True)

    async def retrieved():
        await index.ainsert_nodes(make_nodes())
        recipe = RecipeRetriever(
            documents_in(index, graph_kb.graph),
            recipe="multihop",
            retrievers={
                "text": index.as_retriever(similarity_top_k=1),
                "vector": index.as_retriever(similarity_top_k=1),
            },
        )
        return await walker(index, graph_kb).aretrieve(QUESTION), await recipe.aretrieve(QUESTION)

    walked, recipe = asyncio.run(retrieved())
    assert {node.node_id for node in walked} == FOUND
    assert IDS["Ingrid Falk"] in [node.node_id for node in recipe]
    assert set(calls) == {"asynchronous retrieve"}
    assert {node.node_id for node in walker(store, graph_kb).retrieve(QUESTION)} == FOUND


def test_a_store_with_both_clients_is_asked_by_the_one_that_suits(graph_kb, embed_model, calls, tmp_path):
    store = QdrantVectorStore("isles", client=QdrantClient(":memory:"))
    store.add([node.model_copy(update={"embedding": [1.0, 0.0]}) for node in make_nodes()])
    retriever = walker(store, graph_kb)
    found = retriever.retrieve(QUESTION)
    assert calls == ["retrieve"]
    assert asyncio.run(retriever.aretrieve(QUESTION)) == found  # it has no asynchronous client
    assert calls == ["retrieve", "aget_nodes", "retrieve"]
    assert [node.embedding for node in nodes_in(store, [IDS["MV Skua"]])] == [[1.0, 0.0]]


class Waiting:
    """A document store that is asked one node at a time and counts how many questions are open at once."""

    def __init__(self, nodes):
        self.nodes = {node.node_id: node for node in nodes}
        self.open, self.most = 0, 0

    def get_document(self, key, raise_error=True):
        raise NotImplementedError("asynchronous alone")

    async def aget_document(self, key, raise_error=True):
        self.open += 1
        self.most = max(self.most, self.open)
        await asyncio.sleep(0.01)
        self.open -= 1
        return self.nodes.get(key)


def test_document_stores_are_asked_side_by_side(graph_kb):
    store = Waiting(make_nodes())
    found = asyncio.run(walker(store, graph_kb).aretrieve(QUESTION))
    assert {node.node_id for node in found} == FOUND
    assert store.most == 2
    assert [node.node_id for node in walker(store, graph_kb).retrieve(QUESTION)] == [node.node_id for node in found]


def test_a_store_that_gives_no_nodes_is_named():
    with pytest.raises(
        ValueError, match=r"SimpleVectorStore gives no nodes by id: .*; hand over a docstore that holds them"
    ):
        nodes_in(SimpleVectorStore(), ["a"])
    assert nodes_in(SimpleVectorStore(), []) == []


def test_embed_model_is_that_of_the_vectors_or_refused(graph_kb, embed_model):
    from llama_index.core import MockEmbedding

    assert RecipeRetriever(graph_kb, embed_model=embed_model).retrieve(QUESTION)
    with pytest.raises(
        ValueError, match=r"embed_model: '.*MockEmbedding' is not allowed; .* holds vectors of 'wordllama"
    ):
        RecipeRetriever(graph_kb, embed_model=MockEmbedding(4))
    with pytest.raises(ValueError, match="embed_model: is not allowed with ExternalDocuments"):
        PageRankRetriever(documents_in(SimpleDocumentStore(), graph_kb.graph), upstream={}, embed_model=embed_model)


def test_an_index_beside_the_store_is_searched_and_followed(graph_kb, embed_model):
    index = VectorStoreIndex(make_nodes(), embed_model=embed_model)
    retriever = RecipeRetriever(
        documents_in(index, graph_kb), recipe="multihop", retrievers={"vector": index.as_retriever(similarity_top_k=1)}
    )
    found = retriever.retrieve(QUESTION)
    assert {node.node_id for node in found} >= FOUND
    stages = {receipt["stage"] for node in found for receipt in node.metadata["hopweave"]["receipts"]}
    assert {"bm25", "pagerank"} <= stages
    more = TextNode(
        id_=str(uuid5(NAMESPACE_URL, "Lunn")), text="Lunn is a fishing village.", metadata={"title": "Lunn"}
    )
    index.insert_nodes([more])
    KnowledgeBaseWriter(knowledge_base=graph_kb)([more])
    assert more.node_id in [
        node.node_id for node in retriever.retrieve("Where is the village where Ingrid Falk was born?")
    ]
    by_path = RecipeRetriever(
        documents_in(index, graph_kb.path), recipe="multihop", retrievers={"vector": index.as_retriever()}
    )
    assert more.node_id in [node.node_id for node in by_path.retrieve("What is Lunn?")]


@pytest.mark.parametrize("kind", ["docstore", "qdrant"])
def test_a_store_that_is_there_is_mirrored(kind, embed_model, tmp_path):
    storage = StorageContext.from_defaults(
        vector_store=SimpleVectorStore()
        if kind == "docstore"
        else QdrantVectorStore("isles", client=QdrantClient(":memory:"))
    )
    index = VectorStoreIndex(make_nodes(), storage_context=storage, embed_model=embed_model)
    with KnowledgeBase.open(tmp_path / "graph.db", embedder=None) as kb:
        writer = KnowledgeBaseWriter(knowledge_base=kb)
        assert writer.mirror(index) == 0
        assert set(kb.ids()) == set(IDS.values())
        assert len(kb.vectors(kb.ids())) == (0 if kind == "docstore" else 3)
        version = kb.version
        assert writer.mirror(index) == 0
        assert kb.version == version
        index.delete_nodes([IDS["Tide gate"]], delete_from_docstore=True)
        assert writer.mirror(index) == 1
        assert set(kb.ids()) == set(IDS.values()) - {IDS["Tide gate"]}


def gone_by_document(index):
    index.delete_ref_doc("gate-file")


def gone_by_id(index):
    index.delete_nodes([IDS["Tide gate"]])


@pytest.mark.parametrize("deleted", [gone_by_document, gone_by_id])
def test_what_was_deleted_from_an_index_alone_is_gone(deleted, embed_model):
    nodes = make_nodes()
    nodes[2].relationships[NodeRelationship.SOURCE] = RelatedNodeInfo(node_id="gate-file")
    index = VectorStoreIndex(nodes, embed_model=embed_model)
    with KnowledgeBase.open(embedder=None) as kb:
        writer = KnowledgeBaseWriter(knowledge_base=kb)
        writer.mirror(index)
        retriever = RecipeRetriever(documents_in(index, kb), retrievers={"vector": None})
        question = "When does the tide gate open?"
        assert retriever.retrieve(question)[0].node_id == IDS["Tide gate"]
        deleted(index)
        assert index.docstore.document_exists(IDS["Tide gate"])
        assert IDS["Tide gate"] not in [node.node_id for node in retriever.retrieve(question)]
        assert writer.mirror(index) == 1
        assert set(kb.ids()) == FOUND
        assert writer.mirror(index) == 0


def test_of_a_shared_docstore_each_index_has_its_own_nodes(embed_model):
    docstore = SimpleDocumentStore()

    def index_of(*nodes):
        storage = StorageContext.from_defaults(docstore=docstore, vector_store=SimpleVectorStore())
        return VectorStoreIndex(list(nodes), storage_context=storage, embed_model=embed_model)

    skua, falk, gate = make_nodes()
    acme, zeta = index_of(skua, falk), index_of(gate)
    docstore.add_documents([TextNode(id_="parent", text="Skua, Falk and the gate.")])
    assert {node.node_id for node in stored_nodes(acme)} == FOUND
    assert [node.node_id for node in stored_nodes(zeta)] == [IDS["Tide gate"]]
    everything = [*IDS.values(), "parent"]
    assert [node.node_id for node in nodes_in(keeper_of(acme), everything)] == [skua.node_id, falk.node_id]
    assert [node.node_id for node in nodes_in(keeper_of(zeta), everything)] == [gate.node_id]
    assert nodes_in(keeper_of(zeta), [skua.node_id]) == []


def test_a_vector_store_may_have_ids_of_its_own():
    class Counting(SimpleNamespace):
        stores_text = False

    docstore = SimpleDocumentStore()
    docstore.add_documents(make_nodes())
    struct = IndexDict(nodes_dict={"0": IDS["MV Skua"], "1": IDS["Ingrid Falk"]})
    index = SimpleNamespace(docstore=docstore, index_struct=struct, vector_store=Counting())
    assert {node.node_id for node in nodes_in(keeper_of(index), list(IDS.values()))} == FOUND
    assert {node.node_id for node in stored_nodes(index)} == FOUND


def test_stores_that_list_no_nodes_are_named(graph_kb):
    with pytest.raises(ValueError, match="SimpleVectorStore does not list its nodes"):
        KnowledgeBaseWriter(knowledge_base=graph_kb).mirror(SimpleVectorStore())


@pytest.fixture(scope="module")
def postgres():
    """The URL of a PostgreSQL server with pgvector that was started for these tests."""
    pytest.importorskip("pgserver")
    pytest.importorskip("llama_index.vector_stores.postgres")
    if not (BENCHMARKS / "postgres_server.py").exists():
        pytest.skip("needs the repository")
    sys.path.append(str(BENCHMARKS))
    from postgres_server import postgres_server

    with postgres_server() as url:
        yield url.removeprefix("postgresql")


def test_an_index_over_postgresql(postgres, embed_model, tmp_path):
    from llama_index.vector_stores.postgres import PGVectorStore

    store = PGVectorStore.from_params(
        connection_string=f"postgresql+psycopg2{postgres}",
        async_connection_string=f"postgresql+asyncpg{postgres}",
        embed_dim=256,
    )
    index = VectorStoreIndex(
        make_nodes(), storage_context=StorageContext.from_defaults(vector_store=store), embed_model=embed_model
    )
    with KnowledgeBase.open(tmp_path / "graph.db", embedder=None) as kb:
        KnowledgeBaseWriter(knowledge_base=kb).mirror(index)
        there, vector = documents_in(index, kb), index.as_retriever(similarity_top_k=1)

        def found(**options):
            retriever = RecipeRetriever(there, recipe="multihop", retrievers={"vector": vector}, **options)
            asynchronous = asyncio.run(asked(retriever))
            nodes = retriever.retrieve(QUESTION)
            assert asynchronous == [node.node_id for node in nodes]
            return asynchronous

        async def asked(retriever):
            nodes = await retriever.aretrieve(QUESTION)
            await store._async_engine.dispose()  # whose connections belong to this event loop
            return [node.node_id for node in nodes]

        assert set(found()) >= FOUND
        filters = MetadataFilters.from_dicts([{"key": "title", "value": "Ingrid Falk"}])
        assert found(filters=filters) == found(tenant={"title": "Ingrid Falk"}) == [IDS["Ingrid Falk"]]
    asyncio.run(store.close())
