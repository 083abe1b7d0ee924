import pytest
from pydantic import ValidationError

from hopweave.query import Plan, Query
from hopweave.routing.plan import Planner

SOURCES = ("text", "vector", "graph")


@pytest.mark.parametrize(
    ("length", "entities", "complexity"),
    [
        (0, 0, "simple"),
        (299, 2, "simple"),  # under 300 characters and at most 2 entities
        (300, 2, "moderate"),
        (299, 3, "moderate"),
        (300, 0, "moderate"),
        (999, 5, "moderate"),
        (1000, 0, "complex"),
        (10, 6, "complex"),
    ],
)
def test_complexity(length, entities, complexity):
    plan = Planner().plan(Query("x" * length), entities, SOURCES)
    assert plan.complexity == complexity
    assert plan.reason.startswith(f"{complexity}: {length} characters, {entities} entit")


def test_by_default_even_a_simple_question_walks_the_graph():
    # section 1.2: a two-entity question is often multi-hop, so the policy of the seed has to be asked for
    plan = Planner().plan(Query("Skua and Tern"), 2, SOURCES)
    assert plan == Plan(SOURCES, "simple", None, None, False, "simple: 13 characters, 2 entities")


def test_the_policy_of_the_seed():
    planner = Planner(skip_graph_when_simple=True)
    simple = planner.plan("Skua", 1, SOURCES)
    assert simple.sources == ("text", "vector")
    assert simple.reason == "simple: 4 characters, 1 entity; without the graph"
    assert planner.plan("Skua", 3, SOURCES).sources == SOURCES
    assert planner.plan("Skua", 1, ("text",)).reason == "simple: 4 characters, 1 entity"


def test_the_policy_can_be_moved():
    planner = Planner(skip_graph_when_simple=True, simple_entities=1, simple_characters=20)
    assert planner.plan("short", 1, SOURCES).sources == ("text", "vector")
    assert planner.plan("short", 2, SOURCES).sources == SOURCES
    assert planner.plan("x" * 20, 0, SOURCES).sources == SOURCES


def test_graph_sources_by_name():
    planner = Planner(skip_graph_when_simple=True, graph_sources=("pagerank", "boost"))
    assert planner.plan("Skua", 1, ["boost", "text", "pagerank", "graph"]).sources == ("text", "graph")


def test_never_without_a_source():
    plan = Planner(skip_graph_when_simple=True).plan("Skua", 1, ["graph"])
    assert plan.sources == ("graph",)
    assert "no other source" in plan.reason


def test_pruning_only_for_complex_questions_with_a_graph():
    assert Planner().plan("x", 6, SOURCES).prune_paths
    assert not Planner().plan("x", 5, SOURCES).prune_paths
    assert not Planner().plan("x", 6, ("text",)).prune_paths
    assert not Planner(prune_when_complex=False).plan("x", 6, SOURCES).prune_paths


def test_restart_and_top_k_are_carried():
    plan = Planner(restart=0.5, top_k=7).plan("x", 0, SOURCES)
    assert (plan.restart, plan.top_k) == (0.5, 7)


def test_no_sources():
    assert Planner().plan("x", 0, ()).sources == ()


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"simple_characters": -1}, "simple_characters"),
        ({"restart": 0}, "restart"),
        ({"restart": 1.5}, "restart"),
        ({"top_k": 0}, "top_k"),
        ({"complex_characters": 100}, "complex_characters: 100 must be at least simple_characters"),
        ({"complex_entities": 1}, "complex_entities: 1 must be at least simple_entities"),
        ({"budget": 1}, "budget"),
    ],
)
def test_bad_configuration_names_the_parameter(fields, message):
    with pytest.raises(ValidationError, match=message):
        Planner(**fields)
