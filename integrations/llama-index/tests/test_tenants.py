"""A tenant given at construction or with the question holds in every component, whatever finds the nodes."""

import asyncio

import llama_index.postprocessor.hopweave as postprocessors
import llama_index.retrievers.hopweave as retrievers
import pytest
from llama_index.core import VectorStoreIndex
from llama_index.core.graph_stores import SimplePropertyGraphStore
from llama_index.core.graph_stores.types import EntityNode, Relation
from llama_index.core.llms import MockLLM
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import (
    MetadataMode,
    NodeRelationship,
    NodeWithScore,
    QueryBundle,
    RelatedNodeInfo,
    TextNode,
)
from llama_index.core.storage.docstore import SimpleDocumentStore
from llama_index.core.vector_stores import FilterOperator, MetadataFilter, MetadataFilters
from llama_index.core.vector_stores.types import VectorStoreQuery
from llama_index.hopweave import TenantBundle
from llama_index.ingestion.hopweave import KnowledgeBaseWriter
from llama_index.query_engine.hopweave import GateQueryEngine, RecipeQueryEngine, load_query_engine
from llama_index.response_synthesizers.hopweave import ContextBuilderSynthesizer, ExtractiveAnswerSynthesizer
from llama_index.vector_stores.hopweave import HopweaveVectorStore

from hopweave import Document, KnowledgeBase
from hopweave.component import Source, Stage, registered
from hopweave.errors import KnowledgeBaseError, OtherTenant
from hopweave.graph.build.builders.mentions import MentionsBuilder
from hopweave.graph.build.builders.metadata import MetadataBuilder
from hopweave.recipe import recipe_names
from hopweave.routing.intent import IntentClassifier

BUILDERS = (MentionsBuilder(), MetadataBuilder())
SECRET = "zanzibar"
ACME = {"customer": "acme"}
QUESTION = "How do I restart the ferry pump after an outage?"
TEXTS = {
    f"{customer}-{number}": (f"{marker} The ferry pump {number} is restarted after an outage at {place}.", customer)
    for customer, marker in (("acme", "Plain."), ("zeta", f"{SECRET.title()}."))
    for number, place in enumerate(("panel four", "the quay", "the Skua", "the gate", "the bridge", "the mast"))
}


class Stock(BaseRetriever):
    """A retriever without filters that finds everything."""

    def _retrieve(self, query_bundle):
        return scored()


def made_nodes():
    return [TextNode(id_=key, text=text, metadata={"customer": who}) for key, (text, who) in TEXTS.items()]


def scored():
    return [NodeWithScore(node=node, score=0.5 + place / 100) for place, node in enumerate(made_nodes())]


def shown(nodes):
    texts = [node.node.get_content(MetadataMode.ALL) for node in nodes]
    assert [node for node in nodes if node.metadata["customer"] != "acme"] == []
    assert SECRET not in str(texts).lower()
    return nodes


@pytest.fixture(scope="module")
def kb(tmp_path_factory):
    with KnowledgeBase.open(
        tmp_path_factory.mktemp("kb") / "kb.db", analyzers=("nlp", "code"), builders=BUILDERS
    ) as kb:
        before = dict(zip(TEXTS, list(TEXTS)[6:] + list(TEXTS)[:6], strict=True))  # edges lead to the other tenant
        kb.add(
            Document(key, text, {"customer": who, "followed_by": [before[key], f"{who}-0"]})
            for key, (text, who) in TEXTS.items()
        )
        yield kb


@pytest.fixture(scope="module")
def stock(embed_model):
    return VectorStoreIndex(made_nodes(), embed_model=embed_model)


@pytest.mark.parametrize("kind", sorted(registered(Source)))
@pytest.mark.parametrize("asked", [QueryBundle(QUESTION), TenantBundle(QUESTION, tenant=ACME)])
def test_sources(kind, asked, kb):
    tenant = None if isinstance(asked, TenantBundle) else ACME
    cls = getattr(retrievers, f"{registered(Source)[kind].__name__}Retriever")
    retriever = cls(kb, similarity_top_k=12, tenant=tenant, intent=IntentClassifier())
    found = shown(retriever.retrieve(asked))
    assert shown(asyncio.run(retriever.aretrieve(asked))) == found
    assert found or kind == "intent_edges"


@pytest.mark.parametrize("kind", sorted(registered(Stage)))
def test_stages(kind, request):
    cls = getattr(postprocessors, f"{registered(Stage)[kind].__name__}Postprocessor")
    model = {"model": request.getfixturevalue("cross_encoder")} if kind == "cross_encoder" else {}
    assert shown(cls(tenant=ACME, **model).postprocess_nodes(scored(), query_str=QUESTION))
    asked = TenantBundle(QUESTION, tenant=ACME)
    assert shown(asyncio.run(cls(**model).apostprocess_nodes(scored(), asked)))


@pytest.mark.parametrize("recipe", recipe_names())
@pytest.mark.parametrize("foreign", ["stock", "filterless"])
def test_recipes_with_foreign_retrievers(recipe, foreign, kb, stock, llm):
    other = stock.as_retriever(similarity_top_k=4) if foreign == "stock" else Stock()
    options = {"recipe": recipe, "retrievers": {"vector": other}, "tenant": ACME}
    retriever = retrievers.RecipeRetriever(kb, **options)
    assert shown(retriever.retrieve(QUESTION))
    assert shown(asyncio.run(retriever.aretrieve(QUESTION)))
    for model in (None, llm):
        engine = load_query_engine(recipe, kb, llm=model, retrievers={"vector": other}, tenant=ACME)
        response = engine.query(QUESTION)
        assert shown(response.source_nodes)
        assert SECRET not in f"{response} {response.metadata}".lower()


def test_a_foreign_store_is_asked_for_the_tenant_alone(stock):
    fused = retrievers.FusionRetriever({"vector": stock.as_retriever(similarity_top_k=4)}, tenant=ACME)
    assert len(shown(fused.retrieve(QUESTION))) == 4
    assert len(shown(asyncio.run(fused.aretrieve(QUESTION)))) == 4


def test_filters_are_handed_to_a_foreign_store(stock, kb):
    filters = MetadataFilters(filters=[MetadataFilter(key="customer", value="acme", operator=FilterOperator.EQ)])
    fused = retrievers.FusionRetriever({"vector": stock.as_retriever(similarity_top_k=4)}, filters=filters)
    assert len(shown(fused.retrieve(QUESTION))) == 4
    own = MetadataFilters(filters=[MetadataFilter(key="customer", value="zeta", operator=FilterOperator.NE)])
    both = retrievers.FusionRetriever({"vector": stock.as_retriever(similarity_top_k=4, filters=own)}, tenant=ACME)
    assert len(shown(both.retrieve(QUESTION))) == 4


def test_lists_in_metadata_are_found_though_the_store_compares_whole_values(embed_model):
    nodes = [TextNode(id_=name, text=QUESTION, metadata={"customer": [name, "shared"]}) for name in ("acme", "zeta")]
    index = VectorStoreIndex(nodes, embed_model=embed_model)
    found = retrievers.FusionRetriever({"vector": index.as_retriever()}, tenant=ACME).retrieve(QUESTION)
    assert [node.node_id for node in found] == ["acme"]


def test_a_question_can_only_narrow(kb, stock):
    made = [
        retrievers.BM25Retriever(kb, tenant=ACME),
        retrievers.FusionRetriever({"vector": stock.as_retriever()}, tenant=ACME),
        RecipeQueryEngine("hybrid", kb, tenant=ACME),
    ]
    for one in made:
        with pytest.raises(ValueError, match="can only be narrowed"):
            one.retrieve(TenantBundle(QUESTION, tenant={"customer": "zeta"}))
        assert one.retrieve(TenantBundle(QUESTION, tenant={"customer": "acme", "team": "none"})) == []
    inner = retrievers.BM25Retriever(kb)
    assert shown(retrievers.FusionRetriever({"text": inner}, tenant=ACME).retrieve(QUESTION))


def test_gates(kb, stock, llm):
    asked = TenantBundle(QUESTION, tenant=ACME)
    gate = retrievers.GateRetriever(Stock())
    assert shown(gate.retrieve(asked)) == shown(asyncio.run(gate.aretrieve(asked))) != []
    engine = GateQueryEngine(RetrieverQueryEngine.from_args(retrievers.BM25Retriever(kb), llm=llm))
    assert shown(engine.query(asked).source_nodes)
    with pytest.raises(ValueError, match="tenant"):
        GateQueryEngine(RetrieverQueryEngine.from_args(Stock(), llm=llm)).query(asked)


@pytest.mark.parametrize("make", [ContextBuilderSynthesizer, ExtractiveAnswerSynthesizer])
def test_synthesizers(make, llm):
    given = {"llm": llm} if make is ContextBuilderSynthesizer else {}
    for synthesizer, asked in (
        (make(**given, tenant=ACME), QUESTION),
        (make(**given), TenantBundle(QUESTION, tenant=ACME)),
    ):
        for response in (
            synthesizer.synthesize(asked, scored(), scored()),
            asyncio.run(synthesizer.asynthesize(asked, scored(), scored())),
        ):
            assert shown(response.source_nodes)
            assert SECRET not in f"{response} {response.metadata}".lower()


def test_vector_store(kb, embed_model):
    store = HopweaveVectorStore(knowledge_base=kb, tenant=ACME)
    vector = embed_model.get_query_embedding(QUESTION)
    for mode in ("default", "text_search", "hybrid"):
        query = VectorStoreQuery(query_embedding=vector, query_str=QUESTION, mode=mode, similarity_top_k=12)
        for found in (store.query(query), asyncio.run(store.aquery(query))):
            assert {key.split("-")[0] for key in found.ids} == {"acme"}
    assert {node.metadata["customer"] for node in store.get_nodes()} == {"acme"}
    assert store.get_nodes(node_ids=["zeta-1"]) == []
    count = kb.count()
    store.delete_nodes(["zeta-1"])
    assert kb.count() == count
    for foreign in (
        TextNode(id_="new", text="x", metadata={"customer": "zeta"}),
        TextNode(id_="zeta-1", text="x", metadata=ACME),
    ):
        with pytest.raises(OtherTenant, match="its metadata must say that it is the tenant's, and no other tenant's"):
            store.add([foreign])
    assert kb.count() == count


def test_the_writer_replaces_documents_of_its_tenant_only(embed_model):
    def handbook(customer, *numbers):
        source = {NodeRelationship.SOURCE: RelatedNodeInfo(node_id="handbook")}
        metadata = {"customer": customer}
        return [
            TextNode(id_=f"{customer}-{n}", text=f"Page {n}.", metadata=metadata, relationships=source) for n in numbers
        ]

    with KnowledgeBase.open() as shared:
        acme, zeta = (
            KnowledgeBaseWriter(knowledge_base=shared, tenant={"customer": customer}) for customer in ("acme", "zeta")
        )
        zeta(handbook("zeta", 1, 2))
        acme(handbook("acme", 1, 2))
        acme(handbook("acme", 1))
        assert sorted(shared.ids()) == ["acme-1", "zeta-1", "zeta-2"]
        assert acme.mirror(VectorStoreIndex(handbook("acme", 3), embed_model=embed_model)) == 0
        assert sorted(shared.ids()) == ["acme-3", "zeta-1", "zeta-2"]
        for foreign in (handbook("zeta", 3), [TextNode(id_="zeta-1", text="x", metadata=ACME)]):
            with pytest.raises(OtherTenant, match="cannot be written for this tenant"):
                acme(foreign)
        with pytest.raises(KnowledgeBaseError, match="sync: would delete 1 of the 1 sources of nodes"):
            acme.sync(SimpleDocumentStore())
        acme.max_deleted_share = 1.0
        assert acme.sync(SimpleDocumentStore()) == 1
        assert sorted(shared.ids()) == ["zeta-1", "zeta-2"]
        assert acme.delete("handbook") == 0
        assert zeta.delete("handbook") == 2


def test_a_writer_that_skips_noise_leaves_other_tenants_alone():
    with KnowledgeBase.open() as shared:
        shared.add([Document("talk", "The ferry pump.", {"customer": "zeta"})])
        acme = KnowledgeBaseWriter(knowledge_base=shared, tenant=ACME, skip_noise=True)
        acme([TextNode(id_="talk", text="Hello!", metadata=ACME)])
        assert list(acme.skipped) == ["talk"]
        assert shared.ids() == ["talk"]


def test_property_graph():
    graph = SimplePropertyGraphStore()
    graph.upsert_llama_nodes(made_nodes())
    graph.upsert_nodes([EntityNode(name="ferry pump"), EntityNode(name="outage")])
    for key in TEXTS:
        for name in ("ferry pump", "outage"):
            graph.upsert_relations([Relation(label="MENTIONS", source_id=key, target_id=name)])
    retriever = retrievers.PageRankPGRetriever(graph, similarity_top_k=12, tenant=ACME)
    assert shown(retriever.retrieve(QUESTION))
    assert shown(retrievers.PageRankPGRetriever(graph).retrieve(TenantBundle(QUESTION, tenant=ACME)))


@pytest.mark.parametrize("tenant", [{}, {"customer": None}, {"customer": {"ne": "acme"}}], ids=repr)
def test_what_can_be_no_tenant_is_refused_when_it_is_given(kb, tenant):
    for make in (
        lambda: retrievers.BM25Retriever(kb, tenant=tenant),
        lambda: retrievers.RecipeRetriever(kb, tenant=tenant),
        lambda: retrievers.FusionRetriever({"stock": Stock()}, tenant=tenant),
        lambda: load_query_engine("hybrid", kb, tenant=tenant),
        lambda: postprocessors.MMRPostprocessor(tenant=tenant),
        lambda: postprocessors.FlowPruningPostprocessor(knowledge_base=kb, tenant=tenant),
        lambda: ContextBuilderSynthesizer(llm=MockLLM(), tenant=tenant),
        lambda: HopweaveVectorStore(knowledge_base=kb, tenant=tenant),
    ):
        with pytest.raises(ValueError, match=r"tenant: must name at least one|tenant field 'customer' must be"):
            make()
