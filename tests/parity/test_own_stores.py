"""Questions over stores that users run, with the graph in a file or on a server: the same ranking everywhere."""

import asyncio
import multiprocessing
import threading
from types import SimpleNamespace
from typing import Literal
from urllib.parse import urlsplit
from uuid import NAMESPACE_URL, uuid5

import numpy as np
import pytest
import yaml
from haystack import Document as HaystackDocument
from haystack import Pipeline as HaystackPipeline
from haystack.components.preprocessors import DocumentSplitter
from haystack.components.retrievers.in_memory import InMemoryEmbeddingRetriever
from haystack.document_stores.in_memory import InMemoryDocumentStore
from haystack.utils import Secret
from llama_index.core import Document as LlamaDocument
from llama_index.core import StorageContext, VectorStoreIndex
from llama_index.core.bridge.pydantic import SecretStr
from llama_index.core.ingestion import IngestionPipeline
from llama_index.core.node_parser import SentenceSplitter
from llama_index.core.schema import QueryBundle, TextNode
from llama_index.core.storage.docstore import SimpleDocumentStore
from llama_index.core.vector_stores import SimpleVectorStore
from llama_index.embeddings.hopweave import StaticEmbedding
from llama_index.hopweave import documents_in
from llama_index.ingestion.hopweave import GraphWriter
from llama_index.query_engine.hopweave import load_query_engine
from llama_index.retrievers.hopweave import PageRankRetriever, RecipeRetriever

from haystack_integrations.common.hopweave.recipe_pipeline import to_pipeline, to_yaml
from haystack_integrations.components.retrievers.hopweave import HybridGraphRetriever
from haystack_integrations.components.retrievers.hopweave import PageRankRetriever as HaystackPageRankRetriever
from haystack_integrations.components.retrievers.hopweave import RecipeRetriever as HaystackRecipeRetriever
from haystack_integrations.components.writers.hopweave import GraphWriter as HaystackGraphWriter
from hopweave import Document, GraphStore, Pipeline, Query, load_recipe
from hopweave.component import Source
from hopweave.errors import RecipeError
from hopweave.graph.external_documents import ExternalDocuments
from hopweave.hit import Hit
from hopweave.vector.embedders import StaticEmbedder

QUESTION = "Where was the founder of the yard that built MV Skua born?"
TEXTS = {
    "MV Skua": ("MV Skua is a ferry built at Sorvag Yard.", "acme"),
    "Sorvag Yard": ("Sorvag Yard was founded by Ingrid Falk.", "acme"),
    "Ingrid Falk": ("Ingrid Falk grew up in Lunn.", "acme"),
    "MV Plover": ("MV Plover is a smaller ferry.", "zeta"),
    "Tide gate": ("The tide gate opens at six.", "zeta"),
    "Lunn": ("Lunn is a town with a harbour for MV Plover.", "zeta"),
}
IDS = {title: str(uuid5(NAMESPACE_URL, title)) for title in TEXTS}  # LlamaIndex's Qdrant store takes no others
TITLES = {key: title for title, key in IDS.items()}
PASSAGES = [Document(IDS[title], text, {"title": title, "customer": who}) for title, (text, who) in TEXTS.items()]
VECTORS = dict(zip(IDS.values(), StaticEmbedder().embed([one.text for one in PASSAGES]).tolist(), strict=True))
ASKED = StaticEmbedder().embed_queries([QUESTION])[0].tolist()
TOP_K = 4  # of the store's retriever: the walk has to fetch the rest


@pytest.fixture(params=["file", "server"])
def home(request, tmp_path):
    """The path of a new graph file, or the URL of a database."""
    return str(tmp_path / "graph.db") if request.param == "file" else request.getfixturevalue("postgres_url")


class Cosine(Source):
    """Passages by cosine, as every store ranks them."""

    kind: Literal["cosine of a test"] = "cosine of a test"

    def search(self, query, knowledge, upstream=None):
        vectors = np.array(list(VECTORS.values()))
        cosines = vectors @ np.array(ASKED) / np.linalg.norm(vectors, axis=1) / np.linalg.norm(ASKED)
        best = sorted(zip(VECTORS, cosines.tolist(), strict=True), key=lambda pair: -pair[1])[:TOP_K]
        return [hit._replace(score=score) for key, score in best if (hit := knowledge.get([key]).get(key))]


def in_core(tmp_path, **question):
    """What the core finds in a graph of its own, for a recipe without a source for words."""
    shelf = {one.id: Hit(one.id, text=one.text, metadata=one.metadata) for one in PASSAGES}
    recipe = load_recipe("multihop")
    graph = recipe.sources["graph"]
    recipe = recipe.model_copy(update={"sources": {"vector": Cosine(), "graph": graph}})
    with GraphStore.open(tmp_path / "graph of the core.db") as store:
        store.add(PASSAGES)
        there = ExternalDocuments(store, lambda ids: [shelf[key] for key in ids if key in shelf])
        return Pipeline(recipe, there).run(Query(QUESTION, **question)).hits


def described(hits):
    # the two homes of a graph stop a walk at slightly different places
    return [(TITLES[hit.id], pytest.approx(hit.score, rel=5e-3)) for hit in hits]


def haystack_documents(passages=PASSAGES):
    return [
        HaystackDocument(id=one.id, content=one.text, meta=dict(one.metadata), embedding=VECTORS.get(one.id, ASKED))
        for one in passages
    ]


def haystack_store(kind, request):
    """A document store with the passages, and its retriever."""
    if kind == "memory":
        store = InMemoryDocumentStore(embedding_similarity_function="cosine")
        retriever = InMemoryEmbeddingRetriever(document_store=store, top_k=TOP_K)
    elif kind == "qdrant":
        qdrant = pytest.importorskip("haystack_integrations.document_stores.qdrant")
        from haystack_integrations.components.retrievers.qdrant import QdrantEmbeddingRetriever

        store = qdrant.QdrantDocumentStore(location=":memory:", embedding_dim=len(ASKED), progress_bar=False)
        retriever = QdrantEmbeddingRetriever(document_store=store, top_k=TOP_K)
    else:
        pgvector = pytest.importorskip("haystack_integrations.document_stores.pgvector")
        from haystack_integrations.components.retrievers.pgvector import PgvectorEmbeddingRetriever

        connection = Secret.from_token(request.getfixturevalue("pgvector_url"))
        store = pgvector.PgvectorDocumentStore(connection_string=connection, embedding_dimension=len(ASKED))
        request.addfinalizer(store.close)
        retriever = PgvectorEmbeddingRetriever(document_store=store, top_k=TOP_K)
    store.write_documents(haystack_documents())
    return SimpleNamespace(store=store, retriever=retriever)


@pytest.fixture(params=["memory", "qdrant", "pgvector"])
def haystack(request):
    return haystack_store(request.param, request)


def llama_index_index(kind, request):
    """An index over a vector store with the passages."""
    if kind == "memory":
        store = SimpleVectorStore()
    elif kind == "qdrant":
        qdrant = pytest.importorskip("llama_index.vector_stores.qdrant")
        from qdrant_client import QdrantClient

        store = qdrant.QdrantVectorStore("passages", client=QdrantClient(":memory:"))
    else:
        postgres = pytest.importorskip("llama_index.vector_stores.postgres")
        place = urlsplit(request.getfixturevalue("pgvector_url"))
        login = {"user": place.username, "password": place.password, "database": place.path.strip("/")}
        where = {"host": place.hostname, "port": str(place.port), "table_name": "nodes", "embed_dim": len(ASKED)}
        store = postgres.PGVectorStore.from_params(**where, **login)
        request.addfinalizer(lambda: asyncio.run(store.close()))
    nodes = [
        TextNode(id_=one.id, text=one.text, metadata=dict(one.metadata), embedding=VECTORS[one.id]) for one in PASSAGES
    ]
    storage = StorageContext.from_defaults(vector_store=store)
    return VectorStoreIndex(nodes, storage_context=storage, embed_model=StaticEmbedding())


@pytest.fixture(params=["memory", "qdrant", "pgvector"])
def index(request):
    return llama_index_index(request.param, request)


@pytest.fixture(params=["memory", "qdrant", "pgvector"])
def both(request):
    return haystack_store(request.param, request), llama_index_index(request.param, request)


def asked():
    return QueryBundle(QUESTION, embedding=ASKED)


async def asked_asynchronously(retriever, engine):
    return await retriever.aretrieve(asked()), (await engine.aquery(asked())).source_nodes


def engine_over(index, graph, **options):
    retrievers = {"vector": index.as_retriever(similarity_top_k=TOP_K), "text": None}
    return load_query_engine("multihop", documents_in(index, graph), retrievers=retrievers, **options)


# the same ranking


def test_haystack_ranks_as_the_core_does(home, haystack, tmp_path):
    graph = Secret.from_token(home)
    writer = HaystackGraphWriter(graph=graph)
    writer.run(documents=haystack_documents())
    expected = described(in_core(tmp_path))
    assert {title for title, _ in expected[:3]} == {"Ingrid Falk", "Sorvag Yard", "MV Skua"}
    found = haystack.retriever.run(query_embedding=ASKED)["documents"]
    place = {"graph": graph, "document_store": haystack.store, "recipe": "multihop", "upstream": ["text", "vector"]}
    retrievers = HaystackRecipeRetriever(**place), HybridGraphRetriever(**place)
    for retriever in retrievers:
        for result in (
            retriever.run(query=QUESTION, vector=found),
            asyncio.run(retriever.run_async(query=QUESTION, vector=found)),
        ):
            assert described(result["documents"]) == expected
    alone = HaystackPageRankRetriever(graph=graph, document_store=haystack.store, seeds_from=["vector"])
    walked = alone.run(query=QUESTION, vector=found)["documents"]
    assert {TITLES[one.id] for one in walked} >= {"Ingrid Falk", "Sorvag Yard", "MV Skua"}
    assert all(one.content == TEXTS[TITLES[one.id]][0] for one in walked)
    for one in (writer, retrievers[0], alone):
        one.close()


def test_llama_index_ranks_as_the_core_does(home, index, tmp_path):
    graph = SecretStr(home)
    writer = GraphWriter(graph=graph)
    assert writer.mirror(index) == 0
    expected = described(in_core(tmp_path))
    retriever = RecipeRetriever(
        documents_in(index, graph),
        recipe="multihop",
        retrievers={"vector": index.as_retriever(similarity_top_k=TOP_K), "text": None},
    )
    engine = engine_over(index, graph)
    found = [retriever.retrieve(asked()), engine.query(asked()).source_nodes]
    if "qdrant" not in type(index.vector_store).__module__:  # which has no asynchronous client here
        found += asyncio.run(asked_asynchronously(retriever, engine))
    for nodes in found:
        assert [(TITLES[one.node_id], one.score) for one in nodes] == expected
    alone = PageRankRetriever(documents_in(index, graph), upstream={"vector": index.as_retriever()})
    assert {TITLES[one.node_id] for one in alone.retrieve(asked())} >= {"Ingrid Falk", "Sorvag Yard", "MV Skua"}
    writer.close()


# tenants


def test_tenants_are_kept_apart_in_graph_and_store(home, both):
    haystack, index = both
    tenant = {"customer": "acme"}
    graph = Secret.from_token(home)
    HaystackGraphWriter(graph=graph).run(documents=haystack_documents())
    found = haystack.retriever.run(query_embedding=ASKED)["documents"]
    assert {one.meta["customer"] for one in found} == {"acme", "zeta"}
    place = {"graph": graph, "document_store": haystack.store, "recipe": "multihop", "upstream": ["text", "vector"]}
    rankings = []
    for kind in (HaystackRecipeRetriever, HybridGraphRetriever):
        for retriever, asks in ((kind(**place), {"tenant": tenant}), (kind(**place, tenant=tenant), {})):
            documents = retriever.run(query=QUESTION, vector=found, **asks)["documents"]
            rankings.append([TITLES[one.id] for one in documents])
    nodes = engine_over(index, SecretStr(home), tenant=tenant).query(asked()).source_nodes
    for titles in (*rankings, [TITLES[one.node_id] for one in nodes]):
        assert set(titles) == {"Ingrid Falk", "Sorvag Yard", "MV Skua"}
    assert all(titles == rankings[0] for titles in rankings)


# a graph that others write to


def add_elsewhere(home, passage):
    document = HaystackDocument(id=passage.id, content=passage.text, meta=dict(passage.metadata))
    HaystackGraphWriter(graph=Secret.from_token(home)).run(documents=[document])


def test_what_another_process_writes_is_found_by_the_next_question(home, request):
    haystack, index = haystack_store("memory", request), llama_index_index("memory", request)
    GraphWriter(graph=SecretStr(home)).mirror(index)
    question = "Who is the captain of MV Skua?"
    new = Document(str(uuid5(NAMESPACE_URL, "new")), "Tor Hansen steers MV Skua.", {"title": "Tor Hansen"})
    haystack.store.write_documents(haystack_documents([new]))
    index.insert_nodes([TextNode(id_=new.id, text=new.text, metadata=dict(new.metadata), embedding=ASKED)])
    place = {"graph": Secret.from_token(home), "document_store": haystack.store}
    walk = HaystackPageRankRetriever(**place, seeds_from=[], word_source=None)
    recipe = HaystackRecipeRetriever(**place, recipe="multihop", upstream=["text", "vector"])
    nodes = PageRankRetriever(documents_in(index, SecretStr(home)), upstream={})

    def found():
        documents = [retriever.run(query=question)["documents"] for retriever in (walk, recipe)]
        return [[one.id for one in ranking] for ranking in documents] + [
            [one.node_id for one in nodes.retrieve(question)]
        ]

    assert all(IDS["MV Skua"] in ids and new.id not in ids for ids in found())
    process = multiprocessing.get_context("spawn").Process(target=add_elsewhere, args=(home, new))
    process.start()
    process.join()
    assert process.exitcode == 0
    assert all(new.id in ids for ids in found())


# documents that the store does not have


def test_missing_documents_are_refilled_and_counted(home, both):
    haystack, index = both
    GraphWriter(graph=SecretStr(home)).mirror(index)
    place = {"graph": Secret.from_token(home), "document_store": haystack.store}
    walk = HaystackPageRankRetriever(**place, seeds_from=[], word_source=None, top_k=3)
    nodes = PageRankRetriever(documents_in(index, SecretStr(home)), upstream={}, similarity_top_k=3)
    ranked = [one.id for one in walk.run(query="MV Skua", top_k=9)["documents"]]
    assert len(ranked) >= 5
    haystack.store.delete_documents(ranked[:2])
    index.delete_nodes(ranked[:2], delete_from_docstore=True)
    documents, found = walk.run(query="MV Skua")["documents"], nodes.retrieve("MV Skua")
    assert [one.id for one in documents] == [one.node_id for one in found] == ranked[2:5]
    receipts = [one.meta["hopweave"]["receipts"][0]["details"] for one in documents]
    receipts += [one.metadata["hopweave"]["receipts"][0]["details"] for one in found]
    assert {details["missing"] for details in receipts} == {2}


# YAML


def test_a_pipeline_of_parts_ranks_and_round_trips(home, monkeypatch, tmp_path):
    monkeypatch.setenv("GRAPH_URL", home)
    graph = Secret.from_env_var("GRAPH_URL")
    writer = HaystackGraphWriter(graph=graph)
    writer.run(documents=haystack_documents())
    store = InMemoryDocumentStore(embedding_similarity_function="cosine", index=str(tmp_path))
    store.write_documents(haystack_documents())
    place = {"graph": graph, "document_store": store, "upstream": ["text", "vector"]}
    pipeline = to_pipeline("multihop", **place)
    pipeline.add_component("nearest", InMemoryEmbeddingRetriever(document_store=store, top_k=TOP_K))
    pipeline.connect("nearest.documents", "vector.documents")
    whole = HaystackPipeline()
    whole.add_component("nearest", InMemoryEmbeddingRetriever(document_store=store, top_k=TOP_K))
    whole.add_component("fuse", HybridGraphRetriever(**place, recipe="multihop"))
    whole.connect("nearest.documents", "fuse.vector")
    declared = yaml.safe_load(to_yaml("multihop", **place))["inputs"]
    assert (declared["text"], declared["vector"]) == (["text.documents"], ["vector.documents"])
    password = home.split(":")[2].split("@")[0] if "://" in home else home
    for made in (pipeline, whole):
        written = made.dumps()
        assert password not in written
        assert "GRAPH_URL" in written
        again = HaystackPipeline.loads(written)
        assert HaystackPipeline.loads(again.dumps()).dumps() == again.dumps()
        for one in (made, again):
            result = one.run({"query": QUESTION, "query_embedding": ASKED})
            assert described(result["fuse"]["documents"]) == described(in_core(tmp_path))
    writer.close()


def test_a_recipe_that_searches_words_is_refused_over_a_graph_alone(tmp_path):
    home, store = str(tmp_path / "graph.db"), InMemoryDocumentStore()
    GraphStore.open(home).close()
    needed = "source 'text' needs words, but there is only graph, tenants: "
    for make in (HaystackRecipeRetriever, HybridGraphRetriever):
        with pytest.raises(RecipeError, match=f"{needed}name it in upstream and connect a retriever"):
            make(graph=home, document_store=store, recipe="multihop", upstream=["vector"])
    index = VectorStoreIndex([], embed_model=StaticEmbedding())
    for make in (RecipeRetriever, lambda place, **more: load_query_engine("multihop", place)):
        with pytest.raises(RecipeError, match=f"{needed}give a retriever of your store in retrievers, or None"):
            make(documents_in(index, home), recipe="multihop")
    with pytest.raises(RecipeError, match=f"{needed}give retrievers of your store in upstream"):
        PageRankRetriever(documents_in(index, home))
    with pytest.raises(ValueError, match=r"retrievers: 'words' is no source of .*; its sources are text, vector"):
        RecipeRetriever(documents_in(index, home), recipe="multihop", retrievers={"words": None})


# asynchronous runs


class Waiting(InMemoryDocumentStore):
    """A store without asynchronous calls, which answers only once the event loop has had its turn."""

    filter_documents_async = None
    freed = None

    def filter_documents(self, filters=None):
        assert self.freed.wait(20), "the event loop was blocked"
        return super().filter_documents(filters)


def test_a_store_without_asynchronous_calls_does_not_block_the_event_loop(home):
    graph = Secret.from_token(home)
    HaystackGraphWriter(graph=graph).run(documents=haystack_documents())
    store = Waiting(return_embedding=False)
    store.write_documents(haystack_documents())
    place = {"graph": graph, "document_store": store}
    recipe = {"recipe": "multihop", "upstream": ["text", "vector"]}
    for retriever in (HaystackPageRankRetriever(**place), HaystackRecipeRetriever(**place, **recipe)):
        store.freed = threading.Event()

        async def documents_of(retriever=retriever):
            run = asyncio.ensure_future(retriever.run_async(query=QUESTION))
            await asyncio.sleep(0)
            asyncio.get_running_loop().call_later(0.05, store.freed.set)
            return (await run)["documents"]

        assert IDS["MV Skua"] in {one.id for one in asyncio.run(documents_of())}


def test_asynchronous_runs_use_the_asynchronous_calls_of_stores(home, request, monkeypatch):
    haystack, index = haystack_store("pgvector", request), llama_index_index("pgvector", request)
    GraphWriter(graph=SecretStr(home)).mirror(index)
    for store, name in ((haystack.store, "filter_documents"), (index.vector_store, "get_nodes")):
        monkeypatch.setattr(type(store), name, lambda *_, name=name, **__: pytest.fail(f"{name} was called"))
    place = {"graph": Secret.from_token(home), "document_store": haystack.store}
    documents = asyncio.run(HaystackPageRankRetriever(**place).run_async(query=QUESTION))["documents"]
    nodes = asyncio.run(PageRankRetriever(documents_in(index, SecretStr(home)), upstream={}).aretrieve(asked()))
    assert [one.id for one in documents] == [one.node_id for one in nodes]
    assert documents


# parts and deletion


def ids_in(home):
    with GraphStore.open(home) as store:
        return set(store.ids())


def test_parts_are_known_and_deleted_by_their_document(home):
    whole = HaystackDocument(content="MV Skua sails. Ingrid Falk steers. Lunn waits.", meta={"file": "ships.md"})
    parts = DocumentSplitter(split_by="word", split_length=3, split_overlap=0).run(documents=[whole])["documents"]
    assert len(parts) > 1
    alone = HaystackDocument(id="alone", content="The tide gate opens at six.", meta={"file": "gates.md"})
    writer = HaystackGraphWriter(graph=Secret.from_token(home))
    first = writer.run(documents=[*parts, alone])
    assert first == {"documents_written": len(parts) + 1, "unchanged": 0, "deleted": 0}
    assert writer.run(documents=[*parts, alone])["unchanged"] == len(parts) + 1
    assert writer.run(documents=parts[:1]) == {"documents_written": 0, "unchanged": 1, "deleted": 0}
    with GraphStore.open(home) as store:
        assert "part_of" in store.graph.edge_types
    assert writer.delete_documents(source=whole.id) == len(parts)
    assert writer.delete_documents(where={"file": "gates.md"}) == 1
    assert ids_in(home) == set()
    with pytest.raises(ValueError, match="delete needs one of ids, source and where"):
        writer.delete_documents(["a"], source="b")
    writer.close()


def test_nodes_are_parts_of_their_document_and_go_with_it(home):
    documents = [LlamaDocument(id_=name, text=f"{name} sails to Harris. " * 40) for name in ("skua", "plover")]
    writer = GraphWriter(graph=SecretStr(home))
    pipeline = IngestionPipeline(transformations=[SentenceSplitter(chunk_size=64, chunk_overlap=0), writer])
    nodes = pipeline.run(documents=documents)
    assert len(nodes) > 4
    assert ids_in(home) == {node.node_id for node in nodes}
    with GraphStore.open(home) as store:
        version = store.version
        writer(nodes)
        assert store.version == version  # nothing was written
        assert "part_of" in store.graph.edge_types
        for document in store.visible({"ref_doc_id": "skua"}):
            assert document in {node.node_id for node in nodes}
    of_skua = {node.node_id for node in nodes if node.ref_doc_id == "skua"}
    assert writer.delete("skua") == len(of_skua)
    assert writer.delete_nodes([*of_skua, "never there"]) == 0
    docstore = SimpleDocumentStore()
    docstore.add_documents([node for node in nodes if node.ref_doc_id == "plover"][:1])
    assert writer.mirror(docstore) == 0  # the other parts of the document were replaced
    assert len(ids_in(home)) == 1
    writer.close()


def test_both_writers_follow_what_a_store_has(home):
    store = InMemoryDocumentStore()
    documents = haystack_documents()[:4]
    store.write_documents(documents)
    writer = HaystackGraphWriter(graph=Secret.from_token(home))
    writer.run(documents=[*documents[:2], HaystackDocument(id="gone", content="MV Skua sank.")])
    assert writer.mirror(store) == {"documents_written": 2, "unchanged": 2, "deleted": 1}
    store.delete_documents([documents[0].id])
    assert writer.mirror(store) == {"documents_written": 0, "unchanged": 3, "deleted": 1}
    assert ids_in(home) == {one.id for one in documents[1:]}
    writer.delete_documents([one.id for one in documents])
    writer.close()


def test_a_graph_follows_the_docstore_of_a_pipeline(home):
    same = {"text": "MV Skua sails to Harris.", "metadata": {"file": "ships.md"}}
    pages = [LlamaDocument(id_=name, **same) for name in ("one", "two")]  # alike, and two documents all the same
    pages += [
        LlamaDocument(id_=name, text=f"{name} is an island.", metadata={"file": name}) for name in ("Lunn", "Havn")
    ]
    writer, docstore = GraphWriter(graph=SecretStr(home)), SimpleDocumentStore()
    pipeline = IngestionPipeline(transformations=[SentenceSplitter(), writer], docstore=docstore)
    nodes = [*pipeline.run(documents=[pages[0], *pages[2:]])]
    nodes += writer(SentenceSplitter()([pages[1]]))  # which the pipeline would take for a duplicate
    docstore.add_documents([pages[1]])
    docstore.set_document_hash("two", pages[1].hash)
    with GraphStore.open(home) as store:
        assert store.sources() == ["Havn", "Lunn", "one", "two"]
    assert writer.sync(docstore) == 0
    docstore.delete_document("Lunn")
    assert writer.sync(docstore) == 1
    assert ids_in(home) == {node.node_id for node in nodes if node.ref_doc_id != "Lunn"}
    assert writer.delete_nodes(where={"file": "ships.md"}) == 2
    with pytest.raises(ValueError, match="delete needs one of ids, source and where"):
        writer.delete_nodes()
    assert writer.delete("Havn") == 1
    assert ids_in(home) == set()
    writer.close()
