"""A knowledge base as a vector store, beside LlamaIndex's own and Qdrant."""

import asyncio

import pytest
from llama_index.core import Document, StorageContext, VectorStoreIndex
from llama_index.core.ingestion import DocstoreStrategy, IngestionPipeline
from llama_index.core.node_parser import TokenTextSplitter
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import NodeRelationship, TextNode
from llama_index.core.storage.docstore import SimpleDocumentStore
from llama_index.core.vector_stores import (
    FilterCondition,
    FilterOperator,
    MetadataFilter,
    MetadataFilters,
    SimpleVectorStore,
    VectorStoreQuery,
)
from llama_index.core.vector_stores.types import VectorStoreQueryMode
from llama_index.postprocessor.hopweave import DeferralPostprocessor, MMRPostprocessor
from llama_index.retrievers.hopweave import BM25Retriever, FusionRetriever, RecipeRetriever
from llama_index.vector_stores.hopweave import HopweaveVectorStore
from llama_index.vector_stores.qdrant import QdrantVectorStore
from qdrant_client import QdrantClient

QUESTION = "How do I restart the ferry pump after an outage?"


@pytest.fixture
def store(embed_model, nodes):
    store = HopweaveVectorStore.open(embed_model=embed_model)
    store.add([node.model_copy(update={"embedding": embed_model.get_text_embedding(node.text)}) for node in nodes])
    yield store
    store.client.close()


def indexed(store, nodes, embed_model):
    context = StorageContext.from_defaults(vector_store=store)
    return VectorStoreIndex(nodes, storage_context=context, embed_model=embed_model)


def make_store(name, embed_model):
    if name == "qdrant":
        return QdrantVectorStore("isles", client=QdrantClient(":memory:"))
    return SimpleVectorStore() if name == "simple" else HopweaveVectorStore.open(embed_model=embed_model)


@pytest.mark.parametrize("name", ["simple", "qdrant", "hopweave"])
def test_our_components_work_over_any_store(name, embed_model, kb, llm):
    ids = {f"00000000-0000-0000-0000-00000000000{place}": key for place, key in enumerate(("pump", "copy", "gate"))}
    texts = (
        "The ferry pump is restarted at panel four.",
        "The ferry pump is restarted at panel four!",
        "The tide gate.",
    )
    nodes = [TextNode(id_=key, text=text) for key, text in zip(ids, texts, strict=True)]
    index = indexed(make_store(name, embed_model), nodes, embed_model)
    retriever = index.as_retriever(similarity_top_k=3)
    for spread in (
        MMRPostprocessor(relevance_weight=0.3, vector_store=index),
        DeferralPostprocessor(vector_store=index.vector_store),
    ):
        found = spread.postprocess_nodes(retriever.retrieve(QUESTION), query_str=QUESTION)
        assert [ids[node.node_id] for node in found][1] == "gate"
        kept_by = {node.metadata["hopweave"]["receipts"][-1]["details"]["vector_from"] for node in found}
        assert kept_by <= {"knowledge", "hit"}
        engine = RetrieverQueryEngine.from_args(retriever, llm=llm, node_postprocessors=[spread])
        assert len(engine.query(QUESTION).source_nodes) == 3
    fused = FusionRetriever({"vector": retriever, "text": BM25Retriever(kb)}, weights={"vector": 3.0})
    assert fused.retrieve(QUESTION)[0].node_id in ids


def test_finds_what_simple_vector_store_finds(nodes, embed_model, index):
    ours = indexed(HopweaveVectorStore.open(embed_model=embed_model), nodes, embed_model)
    for found, stock in (
        (ours.as_retriever(similarity_top_k=6).retrieve(QUESTION), index.as_retriever(similarity_top_k=6)),
        (
            asyncio.run(ours.as_retriever(similarity_top_k=6).aretrieve(QUESTION)),
            index.as_retriever(similarity_top_k=6),
        ),
    ):
        expected = stock.retrieve(QUESTION)
        assert [node.node_id for node in found] == [node.node_id for node in expected]
        assert [node.score for node in found] == pytest.approx([node.score for node in expected], abs=1e-6)
        assert [node.node.hash for node in found] == [node.node.hash for node in expected]
        assert found[0].node.relationships == expected[0].node.relationships


def test_what_an_index_writes_every_recipe_finds(store):
    found = RecipeRetriever(store.client).retrieve(QUESTION)
    assert found[0].node_id in ("pump", "pump-copy")
    assert found[0].node.relationships[NodeRelationship.SOURCE].node_id.startswith("file-")
    assert "_node_content" not in found[0].metadata


@pytest.mark.parametrize(
    ("mode", "alpha"),
    [("text_search", None), ("sparse", None), ("hybrid", None), ("hybrid", 0.0), ("hybrid", 1.0), ("default", None)],
)
def test_modes(store, embed_model, mode, alpha):
    query = VectorStoreQuery(
        query_embedding=embed_model.get_query_embedding(QUESTION),
        query_str=QUESTION,
        similarity_top_k=2,
        mode=VectorStoreQueryMode(mode),
        alpha=alpha,
    )
    result = store.query(query)
    assert len(result.ids) == len(result.nodes) == len(result.similarities) == 2
    assert result.similarities == sorted(result.similarities, reverse=True)
    assert asyncio.run(store.aquery(query)).ids == result.ids


def test_filters_ids_and_parents(store, embed_model):
    def ids(**options):
        vector = embed_model.get_query_embedding(QUESTION)
        return set(store.query(VectorStoreQuery(query_embedding=vector, similarity_top_k=9, **options)).ids)

    slack = MetadataFilters(filters=[MetadataFilter(key="type", value="CONVO_SLACK")])
    assert ids(filters=slack) == {"talk", "denial"}
    assert ids(node_ids=["gate", "skua"]) == {"gate", "skua"}
    assert ids(doc_ids=["file-gate"]) == {"gate"}
    assert len(ids(node_ids=[])) == 6  # which is how LlamaIndex says any


@pytest.mark.parametrize(
    ("operator", "value", "expected"),
    [
        ("==", "x", {"a"}),
        ("!=", "x", {"b", "c"}),
        ("in", ["x", "y"], {"a", "b"}),
        ("nin", ["x", "y"], {"c"}),
        ("text_match", "x", {"a"}),
        ("text_match_insensitive", "X", {"a"}),
        ("is_empty", None, {"c"}),
    ],
)
def test_operators_on_words(operator, value, expected):
    found = _filtered({"a": {"f": "x"}, "b": {"f": "y"}, "c": {}}, "f", operator, value)
    assert found == expected


@pytest.mark.parametrize(
    ("operator", "value", "expected"),
    [
        (">", 1, {"b"}),
        (">=", 1, {"a", "b"}),
        ("<", 2, {"a"}),
        ("<=", 2, {"a", "b"}),
        ("==", 0, set()),
    ],
)
def test_operators_on_numbers(operator, value, expected):
    assert _filtered({"a": {"f": 1}, "b": {"f": 2}, "c": {"f": "word"}}, "f", operator, value) == expected


@pytest.mark.parametrize(
    ("operator", "value", "expected"),
    [("any", ["x"], {"a"}), ("all", ["x", "y"], {"a"}), ("contains", "y", {"a", "b"})],
)
def test_operators_on_lists(operator, value, expected):
    assert _filtered({"a": {"f": ["x", "y"]}, "b": {"f": ["y"]}, "c": {}}, "f", operator, value) == expected


def _filtered(metadata, key, operator, value):
    from llama_index.hopweave import to_predicate

    from hopweave import Hit

    one = MetadataFilter(key=key, value=value, operator=FilterOperator(operator))
    for condition in (FilterCondition.AND, FilterCondition.OR):
        admits = to_predicate(MetadataFilters(filters=[one], condition=condition))
        found = {name for name, data in metadata.items() if admits(Hit(name, metadata=data))}
    refuses = to_predicate(MetadataFilters(filters=[one], condition=FilterCondition.NOT))
    assert {name for name, data in metadata.items() if refuses(Hit(name, metadata=data))} == metadata.keys() - found
    return found


def test_delete_get_and_clear(store):
    store.delete("file-gate")
    assert store.get_nodes(["gate"]) == []
    store.delete_nodes(["skua", "nobody"])
    slack = MetadataFilters(filters=[MetadataFilter(key="type", value="CONVO_SLACK")])
    nodes = store.get_nodes(filters=slack)
    assert {node.node_id for node in nodes} == {"talk", "denial"}
    assert len(nodes[0].embedding) == 256
    asyncio.run(store.adelete("file-talk"))
    store.delete_nodes(filters=slack)
    assert {node.node_id for node in store.get_nodes()} == {"pump", "pump-copy"}
    store.clear()
    assert store.get_nodes() == []


def test_an_ingestion_pipeline_writes_and_takes_back(embed_model):
    store = HopweaveVectorStore.open(embed_model=embed_model)
    pipeline = IngestionPipeline(
        transformations=[TokenTextSplitter(chunk_size=40, chunk_overlap=0), embed_model],
        vector_store=store,
        docstore=SimpleDocumentStore(),
        docstore_strategy=DocstoreStrategy.UPSERTS,
    )
    documents = [Document(id_=key, text=f"{key} sails at noon. " * 12) for key in ("Skua", "Plover")]
    pipeline.run(documents=documents)
    first = store.client.count()
    assert first > 2
    pipeline.run(documents=documents)
    assert store.client.count() == first
    asyncio.run(pipeline.arun(documents=[Document(id_="Skua", text="The Skua rests.")]))
    texts = [node.text for node in store.get_nodes()]
    assert [text for text in texts if "Skua" in text] == ["The Skua rests."]


def test_vectors_of_another_model_are_refused(tmp_path, embed_model):
    from llama_index.core import MockEmbedding

    from hopweave.errors import KnowledgeBaseError

    HopweaveVectorStore.open(tmp_path / "kb.db", embed_model=embed_model).client.close()
    with pytest.raises(KnowledgeBaseError, match="holds vectors of 'wordllama"):
        HopweaveVectorStore.open(tmp_path / "kb.db", embed_model=MockEmbedding(8))


def test_is_written_without_its_contents(store):
    assert store.to_dict() == {
        "stores_text": True,
        "is_embedding_query": True,
        "flat_metadata": False,
        "tenant": None,
        "class_name": "HopweaveVectorStore",
    }


def test_is_written_with_the_path_that_it_was_opened_by(store, embed_model, tmp_path):
    made = HopweaveVectorStore.open(tmp_path / "kb.db", embed_model=embed_model, tenant={"customer": "acme"})
    embedding = embed_model.get_text_embedding("The gate.")
    made.add([TextNode(id_="a", text="The gate.", metadata={"customer": "acme"}, embedding=embedding)])
    again = HopweaveVectorStore.from_json(made.to_json())
    assert again.tenant == {"customer": "acme"}
    assert [node.node_id for node in again.get_nodes()] == ["a"]
    assert again.to_dict() == made.to_dict()
    with pytest.raises(ValueError, match="knowledge_base: is not in the data, as it was given open"):
        HopweaveVectorStore.from_dict(store.to_dict())
    assert HopweaveVectorStore.from_dict(store.to_dict(), knowledge_base=store.client).client is store.client


def test_modes_work_or_are_refused(embed_model):
    store = HopweaveVectorStore.open(embed_model=embed_model)
    texts = {"a": "The tide gate opens at six.", "b": "The tide gate opens at six!", "c": "The ferry sails at nine."}
    store.add(
        [TextNode(id_=key, text=text, embedding=embed_model.get_text_embedding(text)) for key, text in texts.items()]
    )
    asked = "When does the tide gate open?"
    vector = embed_model.get_query_embedding(asked)

    def found(mode, beside=(), **options):
        query = VectorStoreQuery(query_embedding=vector, query_str=asked, similarity_top_k=2, mode=mode, **options)
        ids = store.query(query, **dict(beside)).ids
        assert asyncio.run(store.aquery(query, **dict(beside))).ids == ids
        return ids

    assert set(found("default")) == {"a", "b"}
    assert "c" in found("mmr", mmr_threshold=0.2)
    assert set(found("mmr", mmr_threshold=1.0)) == {"a", "b"}
    assert "c" in found("mmr", beside={"mmr_threshold": 0.2})  # what as_retriever(vector_store_kwargs=...) does
    assert found("semantic_hybrid") == found("hybrid")
    assert len(found("hybrid", hybrid_top_k=1)) == 1
    assert len(found("hybrid", hybrid_top_k=3)) == 3
    assert len(found("sparse", sparse_top_k=1)) == 1
    with pytest.raises(ValueError, match="mmr_prefetch_factor: is not allowed; the store takes mmr_threshold"):
        found("mmr", beside={"mmr_prefetch_factor": 4})
    with pytest.raises(ValueError, match=r"mode: .*svm.* is not allowed; it must be one of default, mmr, text_search"):
        found("svm")
