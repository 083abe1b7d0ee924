"""A graph on a server, through the adapters: no password is shown, and no SQL gets in."""

import logging
import pickle
import string
import traceback
from functools import partial

import pytest
from haystack import Document as HaystackDocument
from haystack import Pipeline as HaystackPipeline
from haystack.document_stores.in_memory import InMemoryDocumentStore
from haystack.utils import Secret
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from llama_index.core.bridge.pydantic import SecretStr
from llama_index.core.schema import NodeRelationship, RelatedNodeInfo, TextNode
from llama_index.core.storage.docstore import SimpleDocumentStore
from llama_index.hopweave import TenantBundle, documents_in
from llama_index.ingestion.hopweave import GraphWriter
from llama_index.query_engine.hopweave import load_query_engine
from llama_index.retrievers.hopweave import PageRankRetriever, RecipeRetriever

from haystack_integrations.common.hopweave.recipe_pipeline import to_pipeline
from haystack_integrations.components.builders.hopweave import FlowPruningBuilder, NeighbourhoodBuilder
from haystack_integrations.components.retrievers.hopweave import HybridGraphRetriever
from haystack_integrations.components.retrievers.hopweave import PageRankRetriever as HaystackPageRankRetriever
from haystack_integrations.components.retrievers.hopweave import RecipeRetriever as HaystackRecipeRetriever
from haystack_integrations.components.routers.hopweave import PlanRouter
from haystack_integrations.components.writers.hopweave import GraphWriter as HaystackGraphWriter
from hopweave import GraphStore
from hopweave.errors import KnowledgeBaseError, SourceFailed

psycopg = pytest.importorskip("psycopg")
PASSWORD = "sesame-street"
NOWHERE = f"postgresql://anna:{PASSWORD}@127.0.0.1:1/kb?connect_timeout=2"  # no server listens there


PAIR = [HaystackDocument(id="a", score=1.0), HaystackDocument(id="b", score=0.5)]


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    """Nobody waits long for a server that is not there."""
    monkeypatch.setattr(GraphStore, "open", staticmethod(partial(GraphStore.open, connect_seconds=0.3)))


def in_haystack(graph):
    """Every component of Haystack that takes a graph."""
    place = {"graph": graph, "document_store": InMemoryDocumentStore()}
    recipe = {**place, "recipe": "multihop", "upstream": ["text", "vector"]}
    return {
        "writer": (HaystackGraphWriter(graph=graph), {"documents": [HaystackDocument(content="MV Skua.")]}),
        "walk": (HaystackPageRankRetriever(**place), {"query": "MV Skua?"}),
        "recipe": (HaystackRecipeRetriever(**recipe), {"query": "MV Skua?"}),
        "parts": (HybridGraphRetriever(**recipe), {"query": "MV Skua?"}),
        "plan": (PlanRouter(graph=graph, sources=["graph"]), {"query": "MV Skua?"}),
        "paths": (FlowPruningBuilder(graph=graph, min_hits=2, found_by=None), {"documents": PAIR}),
        "around": (NeighbourhoodBuilder(graph=graph), {"documents": [HaystackDocument(id="a")]}),
    }


@pytest.mark.parametrize("name", in_haystack("graph.db"))
def test_haystack_never_shows_the_password(name, monkeypatch, caplog):
    monkeypatch.setenv("GRAPH_URL", NOWHERE)
    part, inputs = in_haystack(Secret.from_env_var("GRAPH_URL"))[name]
    pipeline = HaystackPipeline()
    pipeline.add_component(name, part)
    with caplog.at_level(logging.DEBUG), pytest.raises(Exception, match=r"anna:\*\*\*@127.0.0.1") as caught:
        part.run(**inputs)
    written = pipeline.dumps()
    again = HaystackPipeline.loads(written)
    assert again.get_component(name).graph == Secret.from_env_var("GRAPH_URL")
    trace = "".join(traceback.format_exception(caught.value))
    for shown in (written, repr(part), repr(pipeline), str(vars(part)), caplog.text, trace, again.dumps()):
        assert PASSWORD not in shown
    token, _ = in_haystack(Secret.from_token(NOWHERE))[name]
    pipeline = HaystackPipeline()
    pipeline.add_component(name, token)
    with pytest.raises(Exception, match="Cannot serialize token") as caught:
        pipeline.dumps()
    assert PASSWORD not in "".join(traceback.format_exception(caught.value)) + repr(token) + str(vars(token))


def test_llama_index_never_shows_the_password(caplog):
    graph = SecretStr(NOWHERE)
    there = documents_in(SimpleDocumentStore(), graph)
    writer = GraphWriter(graph=graph)
    left_out = {"text": None, "vector": None}
    parts = {
        "writer": (writer, lambda: writer([TextNode(text="MV Skua.")])),
        "cache": (writer, writer.to_dict),
        "walk": (walk := PageRankRetriever(there, upstream={}), lambda: walk.retrieve("MV Skua?")),
        "recipe": (
            recipe := RecipeRetriever(there, recipe="multihop", retrievers=left_out),
            lambda: recipe.retrieve("MV Skua?"),
        ),
        "engine": (
            engine := load_query_engine("multihop", there, retrievers=left_out),
            lambda: engine.query("MV Skua?"),
        ),
    }
    for part, work in parts.values():
        with caplog.at_level(logging.DEBUG), pytest.raises(Exception, match=r"anna:\*\*\*@127.0.0.1") as caught:
            work()
        trace = "".join(traceback.format_exception(caught.value))
        assert PASSWORD not in trace + repr(part) + str(vars(part)) + caplog.text
    assert PASSWORD not in repr(there) + str(vars(there)) + writer.model_dump_json()
    assert pickle.loads(pickle.dumps(writer)).graph == graph


@pytest.mark.parametrize(
    "make",
    [
        lambda url: HaystackGraphWriter(graph=url),
        lambda url: HaystackPageRankRetriever(graph=url, document_store=InMemoryDocumentStore()),
        lambda url: HaystackRecipeRetriever(graph=url, document_store=InMemoryDocumentStore()),
        lambda url: HybridGraphRetriever(graph=url, document_store=InMemoryDocumentStore()),
        lambda url: to_pipeline("multihop", graph=url, document_store=InMemoryDocumentStore()),
        lambda url: PlanRouter(graph=url, sources=["graph"]),
        lambda url: HaystackRecipeRetriever(knowledge_base=url),
        lambda url: GraphWriter(graph=url),
        lambda url: documents_in(SimpleDocumentStore(), url),
        RecipeRetriever,
        lambda url: load_query_engine("multihop", url),
    ],
)
@pytest.mark.parametrize("scheme", ["postgresql", "postgresql+psycopg2"])
def test_a_url_with_a_password_in_plain_text_is_refused_and_not_shown(make, scheme):
    url = NOWHERE.replace("postgresql", scheme)
    with pytest.raises((ValueError, KnowledgeBaseError)) as caught:
        make(url)
    assert PASSWORD not in "".join(traceback.format_exception(caught.value))


ATTACKS = ["'; DROP TABLE hopweave.canary; --", "a' OR '1'='1", "\\N", "%s", "$1", '"; DELETE FROM documents; --', "{}"]
hostile = st.one_of(
    st.sampled_from(ATTACKS),
    st.text(alphabet="'\"\\;-%$(){}[]/*,:\n\t ab" + string.digits, min_size=1, max_size=30).filter(str.strip),
)


def test_no_sql_gets_in_through_metadata_tenants_and_sources(postgres_url):
    store, docstore = InMemoryDocumentStore(), SimpleDocumentStore()
    kept = HaystackDocument(id="kept", content="MV Skua sails to Harris.", meta={"title": "MV Skua", "owner": "acme"})
    writer = HaystackGraphWriter(graph=Secret.from_token(postgres_url), source_field="file")
    writer.run(documents=[kept])
    store.write_documents([kept])
    transformation = GraphWriter(graph=SecretStr(postgres_url))
    place = {"graph": Secret.from_token(postgres_url), "document_store": store}
    walk = HaystackPageRankRetriever(**place, seeds_from=[], word_source=None)
    nodes = PageRankRetriever(documents_in(docstore, SecretStr(postgres_url)), upstream={})

    @settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @example("'; DROP TABLE hopweave.canary; --", "a' OR '1'='1", "owner", "%s")
    @given(hostile, hostile, hostile, hostile)
    def attack(id_, title, field, value):
        document = HaystackDocument(
            id=f"h {id_}", content=f"{title} sails with MV Skua.", meta={"title": title, field: value, "file": value}
        )
        source = {NodeRelationship.SOURCE: RelatedNodeInfo(node_id=value)}
        node = TextNode(id_=f"l {id_}", text=f"{title}, MV Skua", metadata={field: value}, relationships=source)
        writer.run(documents=[document])
        transformation([node])
        store.write_documents([document])
        docstore.add_documents([node])
        tenant = {field: value}
        seen = {one.id for one in walk.run(query=f"{title} MV Skua", tenant=tenant)["documents"]}
        seen |= {one.node_id for one in nodes.retrieve(TenantBundle(f"{title} MV Skua", tenant=tenant))}
        assert seen <= {document.id, node.node_id}
        assert walk.run(query="MV Skua", tenant={"owner": "acme' OR '1'='1"})["documents"] == []
        writer.delete_documents(where={field: value})
        writer.delete_documents([document.id, node.node_id])
        writer.delete_documents(source=value)
        assert transformation.delete(value) == 0
        store.delete_documents([document.id])
        docstore.delete_document(node.node_id)

    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("CREATE TABLE hopweave.canary AS SELECT 1 AS alive")
        attack()
        assert connection.execute("SELECT alive FROM hopweave.canary").fetchall() == [(1,)]
        assert connection.execute("SELECT id FROM hopweave.documents").fetchall() == [("kept",)]
    for one in (writer, transformation, walk):
        one.close()


def test_a_server_that_is_gone_is_an_error_and_no_empty_answer():
    place = {"graph": Secret.from_token(NOWHERE), "document_store": InMemoryDocumentStore()}
    with pytest.raises(SourceFailed, match="no connection to the graph"):
        HaystackPageRankRetriever(**place).run(query="MV Skua?")
    with pytest.raises(SourceFailed, match="no connection to the graph"):
        PageRankRetriever(documents_in(SimpleDocumentStore(), SecretStr(NOWHERE)), upstream={}).retrieve("MV Skua?")
