"""Paths, calls and plans: as text for a language model, and as data."""

import asyncio

import pytest
from llama_index.core.llms import MockLLM
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.retrievers import RouterRetriever
from llama_index.core.schema import MetadataMode, NodeWithScore, QueryBundle, TextNode
from llama_index.core.tools import RetrieverTool, ToolMetadata
from llama_index.hopweave import TenantBundle
from llama_index.postprocessor.hopweave import FlowPruningPostprocessor, ServiceNeighbourhoodPostprocessor
from llama_index.response_synthesizers.hopweave import ContextBuilderSynthesizer
from llama_index.retrievers.hopweave import BM25Retriever, FusionRetriever, PageRankRetriever, RecipeRetriever
from llama_index.selectors.hopweave import PlanSelector

from hopweave import Document, KnowledgeBase
from hopweave.graph.build.builders.services import ServicesBuilder
from hopweave.graph.flow_pruning import FlowPruning
from hopweave.graph.service_neighbourhood import ServiceNeighbourhood
from hopweave.hit import Hit
from hopweave.routing.plan import Planner

QUESTION = "Where was the designer of MV Skua born?"
PASSAGES = {
    "skua": ("MV Skua", "MV Skua was designed by Ingrid Falk."),
    "falk": ("Ingrid Falk", "Ingrid Falk was born in Lunn."),
    "lunn": ("Lunn", "Lunn is a fishing village. Ingrid Falk left it."),
}


@pytest.fixture(scope="module")
def ships(tmp_path_factory):
    with KnowledgeBase.open(tmp_path_factory.mktemp("ships") / "kb.db") as kb:
        kb.add(Document(key, text, {"title": title, "owner": "port"}) for key, (title, text) in PASSAGES.items())
        yield kb


@pytest.fixture(scope="module")
def services(tmp_path_factory):
    with KnowledgeBase.open(tmp_path_factory.mktemp("shop") / "kb.db", builders=[ServicesBuilder()]) as kb:
        kb.add([Document("orders", "POST /orders", {"service": "shop", "calls_out": ["till", "stock"]})])
        kb.add([Document("page", "GET /", {"service": "web", "calls_out": ["shop"]})])
        yield kb


def scored(*ids):
    return [
        NodeWithScore(node=TextNode(id_=key, text=PASSAGES[key][1]), score=1 / rank) for rank, key in enumerate(ids, 1)
    ]


def test_paths_are_those_of_the_core_as_text_and_as_data(ships):
    nodes = scored("skua", "falk", "lunn")
    pruner = FlowPruningPostprocessor(knowledge_base=ships, min_hits=2, top_k=3)
    core = FlowPruning(min_hits=2, top_k=3).paths([Hit(one.node_id, one.score) for one in nodes], ships)
    assert core.paths
    for found in (pruner.postprocess_nodes(nodes), asyncio.run(pruner.apostprocess_nodes(nodes))):
        first, *others = found
        assert others == nodes
        assert first.text == "\n".join(["Connections:", *core.lines])
        data = first.metadata["hopweave_connections"]
        assert data["kind"] == "flow_pruning"
        assert data["data"] == {
            "paths": core.as_list(),
            "document_ids": list(core.document_ids),
            "finished": True,
        }
        assert data["data"]["paths"][0].keys() == {"nodes", "edge_types", "flow", "reliability"}
        for mode in (MetadataMode.LLM, MetadataMode.EMBED):
            assert first.node.get_content(metadata_mode=mode) == first.text
    assert FlowPruningPostprocessor(knowledge_base=str(ships.path), min_hits=2).postprocess_nodes(nodes)[1:] == nodes
    assert FlowPruningPostprocessor(knowledge_base=ships).postprocess_nodes(nodes) == nodes  # fewer than five
    assert pruner.to_dict()["top_k"] == 3


@pytest.mark.parametrize("kind", [FlowPruningPostprocessor, ServiceNeighbourhoodPostprocessor])
def test_written_with_its_path_or_given_an_open_knowledge_base_again(kind, ships):
    for place in (ships.path, str(ships.path)):
        again = kind.from_json(kind(knowledge_base=place, header="Paths:").to_json())
        assert (again.knowledge_base, again.header) == (str(ships.path), "Paths:")
        assert again.postprocess_nodes(scored("skua"))[-1].node_id == "skua"
    data = kind(knowledge_base=ships, header="Paths:").to_dict()
    assert "knowledge_base" not in data
    with pytest.raises(ValueError, match=r"knowledge_base: is not in the data, .* give one to from_dict\(data, knowl"):
        kind.from_dict(data)
    assert kind.from_dict(data, knowledge_base=ships).header == "Paths:"


def test_paths_keep_to_a_tenant(ships):
    pruner = FlowPruningPostprocessor(knowledge_base=ships, min_hits=2, tenant={"owner": "port"})
    nodes = RecipeRetriever(ships, recipe="multihop").retrieve(QUESTION)
    first = pruner.postprocess_nodes(nodes)[0]
    assert first.metadata["owner"] == "port"
    synthesizer = ContextBuilderSynthesizer(MockLLM(), tenant={"owner": "port"})
    assert "Connections:" in str(synthesizer.synthesize(QUESTION, pruner.postprocess_nodes(nodes)))
    open_to_all = FlowPruningPostprocessor(knowledge_base=ships, min_hits=2)
    assert open_to_all.postprocess_nodes(nodes, query_bundle=TenantBundle(QUESTION, tenant={"owner": "museum"})) == []


def test_connections_come_before_the_passages_and_have_no_number(ships):
    pruner = FlowPruningPostprocessor(knowledge_base=ships, min_hits=2)
    engine = RetrieverQueryEngine(
        RecipeRetriever(ships, recipe="multihop"), ContextBuilderSynthesizer(MockLLM()), [pruner]
    )
    response = engine.query(QUESTION)
    text = str(response)
    assert text.index("Connections:") < text.index("\n[1] ")
    assert text.count("Connections:") == 1
    assert {one["id"] for one in response.metadata["hopweave"]["citations"]} == set(PASSAGES)
    assert response.source_nodes[0].node_id == "hopweave-flow_pruning"
    stock = RetrieverQueryEngine.from_args(
        RecipeRetriever(ships, recipe="multihop"), llm=MockLLM(), node_postprocessors=[pruner]
    )
    assert "Connections:" in str(stock.query(QUESTION))


def test_calls_of_services_are_those_of_the_core(services):
    around = ServiceNeighbourhoodPostprocessor(knowledge_base=services)
    nodes = [NodeWithScore(node=TextNode(id_="orders", text="POST /orders"), score=1.0)]
    core = ServiceNeighbourhood().around([Hit("orders")], services)
    first, *others = around.postprocess_nodes(nodes)
    assert others == nodes
    assert first.text == "Connections:\nshop —calls→ stock, till; ←calls— web"
    assert first.metadata["hopweave_connections"]["data"] == core.as_dict()
    unknown = [NodeWithScore(node=TextNode(id_="lost", text="?"))]
    assert around.postprocess_nodes(unknown) == unknown


def test_bad_parameters_are_refused(ships):
    with pytest.raises(ValueError, match="decay"):
        FlowPruningPostprocessor(knowledge_base=ships, decay=2)
    with pytest.raises(ValueError, match="knowledge_base"):
        FlowPruningPostprocessor()


CHOICES = [ToolMetadata(name=name, description=name) for name in ("text", "graph")]


def test_a_plan_selects_tools(ships):
    planner = Planner(skip_graph_when_simple=True, simple_entities=1)
    selector = PlanSelector(planner, knowledge_base=ships)
    simple = selector.select(CHOICES, "When does it open?")
    assert simple.inds == [0]
    assert simple.plan["complexity"] == "simple"
    assert simple.plan["sources"] == ["text"]
    both = asyncio.run(selector.aselect(CHOICES, "Did Ingrid Falk leave Lunn on MV Skua?"))
    assert both.inds == [0, 1]
    assert both.reasons[0].startswith("moderate: 38 characters, 3 entities")
    blind = PlanSelector(planner).select(CHOICES, "Did Ingrid Falk leave Lunn on MV Skua?")
    assert blind.inds == [0]
    stranger = TenantBundle("Did Ingrid Falk leave Lunn on MV Skua?", tenant={"owner": "museum"})
    assert selector.select(CHOICES, stranger).inds == [0]


def test_a_plan_in_a_router_and_in_a_fusion(ships):
    retrievers = {"text": BM25Retriever(ships), "graph": PageRankRetriever(ships)}
    planner = Planner(skip_graph_when_simple=True, simple_entities=1)
    tools = [RetrieverTool.from_defaults(one, name=name, description=name) for name, one in retrievers.items()]
    router = RouterRetriever(PlanSelector(planner, knowledge_base=ships), tools, llm=MockLLM())
    fusion = FusionRetriever(retrievers, plan=planner, knowledge_base=ships)
    complex_question, simple_question = "Did Ingrid Falk leave Lunn on MV Skua?", "fishing village"
    for retriever in (router, fusion):
        assert len(retriever.retrieve(complex_question)) == 3
        assert [node.node_id for node in retriever.retrieve(simple_question)] == ["lunn"]
    blind = FusionRetriever(retrievers, plan=planner).retrieve(complex_question)
    stages = {receipt["stage"] for node in blind for receipt in node.metadata["hopweave"]["receipts"]}
    assert "pagerank" not in stages


def test_a_query_bundle_is_enough(ships):
    found = PageRankRetriever(ships).retrieve(QueryBundle(QUESTION))
    assert "falk" in [node.node_id for node in found]
