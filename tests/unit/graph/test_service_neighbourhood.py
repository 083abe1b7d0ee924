"""What calls the services of an answer, and what they call."""

import json

import pytest
from pydantic import ValidationError

from hopweave import Document, Hit, KnowledgeBase, Pipeline, Recipe
from hopweave.errors import HopweaveError
from hopweave.graph.build.builders.services import ServicesBuilder
from hopweave.graph.model import Contribution, Edge
from hopweave.graph.service_neighbourhood import Neighbourhoods, ServiceNeighbourhood
from hopweave.stages.similarity.vector_finder import VectorFinder

DOCUMENTS = [
    Document("web", "The web asks the shop.", {"service": "web", "calls_out": ["shop"]}),
    Document("shop", "The shop takes orders.", {"service": "shop", "calls_out": ["till", "stock"]}),
    Document("till", "The till takes money.", {"service": "till"}),
    Document("talk", "The till and the shop were slow.", {"services": ["till", "shop"]}),
    Document("note", "Lunch is at noon."),
]
RECIPE = """
name: services
sources: {text: {kind: bm25}}
neighbourhood: {}
context: {}
"""


@pytest.fixture
def kb():
    with KnowledgeBase.open(embedder=None, builders=[ServicesBuilder()]) as kb:
        kb.add(DOCUMENTS)
        yield kb


def names(nodes):
    return [node.name for node in nodes]


def around(kb, *ids, **parameters):
    return ServiceNeighbourhood(**parameters).around([Hit(id_) for id_ in ids], kb)


def test_callers_and_callees(kb):
    found = around(kb, "shop").by_name
    assert list(found) == ["shop"]
    assert names(found["shop"].outgoing) == ["stock", "till"]
    assert names(found["shop"].incoming) == ["web"]
    assert {(edge.source, edge.target) for edge in found["shop"].edges} == {
        ("service:shop", "service:stock"),
        ("service:shop", "service:till"),
        ("service:web", "service:shop"),
    }


def test_each_service_once_that_of_the_better_hit_first(kb):
    assert list(around(kb, "till", "shop", "till", "talk", "web").by_name) == ["till", "shop", "web"]
    assert list(around(kb, "talk").by_name) == ["shop", "till"], "by name within one hit"


def test_services_are_one_anothers_neighbours_even_if_both_are_asked_about(kb):
    found = around(kb, "shop", "till").by_name
    assert names(found["shop"].outgoing) == ["stock", "till"]
    assert names(found["till"].incoming) == ["shop"]


def test_lines_are_best_last(kb):
    assert around(kb, "shop", "web").lines == ("web —calls→ shop", "shop —calls→ stock, till; ←calls— web")


def test_a_service_nobody_calls_has_no_line():
    with KnowledgeBase.open(embedder=None, builders=[ServicesBuilder()]) as kb:
        kb.add([Document("clock", "It ticks.", {"service": "clock"})])
        found = around(kb, "clock")
        assert list(found.by_name) == ["clock"]
        assert found.lines == ()


@pytest.mark.parametrize("ids", [(), ("note",), ("lost",)], ids=["no hits", "no service", "no document"])
def test_nothing_to_look_around(kb, ids):
    assert around(kb, *ids) == Neighbourhoods({})
    assert around(kb, *ids).lines == ()


def test_other_edges_and_other_kinds_of_nodes(kb):
    kb.contribute([Contribution("rota", edges=(Edge("service:web", "service:till", "replaces"),))])
    assert around(kb, "web").lines == ("web —calls→ shop",)
    assert around(kb, "web", edge_types=("calls", "replaces")).lines == ("web —calls→ shop; —replaces→ till",)
    assert around(kb, "web", node_kinds=("team",)) == Neighbourhoods({})


def test_bad_configuration_and_a_place_without_a_graph():
    with pytest.raises(ValidationError, match="node_kinds"):
        ServiceNeighbourhood(node_kinds=())
    with pytest.raises(HopweaveError, match="service_neighbourhood needs graph, which VectorFinder does not have"):
        ServiceNeighbourhood().around([], VectorFinder())


def test_a_recipe_tells_it_in_result_and_context(kb):
    pipeline = Pipeline(Recipe.from_yaml(RECIPE), kb)
    result = pipeline.run("Who takes orders?", top_k=1)
    assert result.neighbourhood.lines == ("shop —calls→ stock, till; ←calls— web",)
    assert result.context.text.startswith("Connections:\nshop —calls→ stock, till; ←calls— web\n\n[1]")
    assert pipeline.context("Who takes orders?", result.hits) == result.context
    around = json.loads(json.dumps(result.as_dict()))["neighbourhood"]["shop"]
    assert around["outgoing"] == ["stock", "till"]
    assert around["incoming"] == ["web"]
    assert ["service:web", "calls", "service:shop"] in around["edges"]


def test_a_recipe_that_does_not_ask_gets_nothing(kb):
    result = Pipeline(Recipe.from_yaml("{name: plain, sources: {text: {kind: bm25}}}"), kb).run("orders")
    assert result.neighbourhood is None
    assert result.as_dict()["neighbourhood"] is None
