"""What a tenant may see of a graph follows from the documents it may see."""

import numpy as np
import pytest

from hopweave.graph.build.resolve import resolve
from hopweave.graph.link.linker import Linker
from hopweave.graph.model import IMPORTED, Contribution, Edge, Mention, Node
from hopweave.graph.paths.neighbourhood import neighbourhood
from hopweave.graph.tenant_view import TenantView
from hopweave.graph.walk.personalised_pagerank import personalised_pagerank
from hopweave.testing.graphs import graph_from_edges

SKUA, FALK = "entity:skua", "entity:falk"


def contribution(document, *, edges=(), mentions=(), names=(), addresses=()):
    nodes = (Node.passage(document), *(Node.entity(name) for name in names))
    return Contribution(document, nodes, tuple(edges), tuple(Mention(name) for name in mentions), "", tuple(addresses))


def view_of(*contributions, visible=("mine",)):
    asked = []

    def shown(ids):
        asked.append(sorted(ids))
        return set(visible).intersection(ids)

    graph = resolve(contributions).graph()
    return TenantView(graph, shown), graph, asked


def seen(view, graph):
    """The ids of all that is visible, and the edges."""
    every = np.flatnonzero(view.shown(np.arange(graph.size)))
    around = neighbourhood(view, every.tolist())
    return sorted(node.id for node in view.nodes(every)), [
        (edge.source, edge.type, edge.target) for edge in around.edges
    ]


def test_a_mention_belongs_to_its_passage():
    view, graph, _ = view_of(contribution("mine", mentions=["Skua"]), contribution("theirs", mentions=["Skua", "Falk"]))
    assert seen(view, graph) == ([SKUA, "passage:mine"], [("passage:mine", "mentions", SKUA)])
    assert view.lookup(["skua", "falk"]).keys() == {"skua"}
    assert view.find([SKUA, FALK, "passage:theirs"]).keys() == {SKUA}


def test_an_edge_between_entities_is_visible_if_one_of_its_contributors_is():
    both = ["Skua", "Falk"]
    mine, theirs = Edge(SKUA, FALK, "knows"), Edge(FALK, SKUA, "hides")
    view, graph, _ = view_of(
        contribution("mine", edges=[mine], names=both), contribution("theirs", edges=[mine, theirs], names=both)
    )
    assert seen(view, graph)[1] == [(SKUA, "knows", FALK)]
    for direction in ("out", "in", "both"):
        codes = view.neighbours(np.arange(graph.size), direction).types
        assert {view.edge_types[code] for code in codes} == {"knows"}
    nothing, graph, _ = view_of(contribution("mine"), contribution("theirs", edges=[mine], names=both))
    assert seen(nothing, graph) == (["passage:mine"], [])


def test_an_edge_of_ones_own_passage_that_somebody_else_states_is_hidden():
    edges = [Edge("passage:mine", SKUA, "claims"), Edge("passage:mine", "passage:too", "claims")]
    view, graph, _ = view_of(
        contribution("mine"),
        contribution("too"),
        contribution("theirs", edges=edges, names=["Skua"]),
        visible=("mine", "too"),
    )
    assert seen(view, graph) == (["passage:mine", "passage:too"], [])


def test_a_node_that_a_visible_document_declares_is_visible():
    view, graph, _ = view_of(contribution("mine", names=["Skua"]), contribution("theirs", names=["Falk"]))
    assert seen(view, graph)[0] == [SKUA, "passage:mine"]


@pytest.mark.parametrize("visible", [("mine",), ("mine", "theirs")])
def test_an_address_is_visible_to_those_who_refer_to_it_or_are_there(visible):
    link = [Edge(f"passage:{name}", "address:page", "links_to") for name in ("mine", "theirs", "third")]
    view, graph, _ = view_of(
        contribution("mine", edges=link[:1]),
        contribution("theirs", edges=link[1:2]),
        contribution("third", edges=link[2:]),
        visible=visible,
    )
    nodes, edges = seen(view, graph)
    assert nodes == ["address:page", *(f"passage:{name}" for name in visible)]
    assert edges == [(f"passage:{name}", "links_to", "address:page") for name in visible]


def test_what_a_tool_made_of_a_document_belongs_to_it_and_other_imports_to_nobody():
    edge, nodes = Edge(SKUA, FALK, "knows"), (Node.entity("Skua"), Node.entity("Falk"))
    view, graph, _ = view_of(contribution("mine"), Contribution(f"{IMPORTED}mine", nodes, (edge,)))
    assert seen(view, graph)[1] == [(SKUA, "knows", FALK)]
    view, graph, _ = view_of(contribution("mine"), Contribution("some import", nodes, (edge,)))
    assert seen(view, graph) == (["passage:mine"], [])


def test_metadata_that_others_give_to_a_shared_name_is_not_shown():
    secret = Node(SKUA, "entity", "Skua", "theirs", {"secret": True})
    view, graph, _ = view_of(
        contribution("mine", mentions=["Skua"]), Contribution("theirs", (Node.passage("theirs"), secret))
    )
    both = np.array(list(graph.find([SKUA, "passage:theirs"]).values()))
    assert graph.nodes(both)[0].metadata
    assert view.nodes(both) == [Node(SKUA, "entity", "Skua"), Node("", "", "")]


def test_a_misspelling_is_corrected_as_if_other_names_did_not_exist():
    names = ["Harris", "Harriss", "Haris"]
    alone, _, _ = view_of(contribution("mine", mentions=["Harris"]))
    view, _, _ = view_of(contribution("mine", mentions=["Harris"]), contribution("theirs", mentions=names[1:]))
    for word in ("Harriss", "Haris", "Harrys"):
        found = [link.name for link in Linker().link(f"Who lives on {word}?", view).links]
        assert found == [link.name for link in Linker().link(f"Who lives on {word}?", alone).links] == ["Harris"]


def test_documents_are_asked_for_once_and_only_where_they_are_reached():
    chain = [contribution(f"d{number}", mentions=[f"Name{number}x", f"Name{number + 1}x"]) for number in range(9)]
    view, _graph, asked = view_of(*chain, visible=[f"d{number}" for number in range(9)])
    (node,) = view.lookup(["name1x"])["name1x"]
    view.neighbours(np.array([node]), "both")
    view.neighbours(np.array([node]), "both")
    assert asked == [["d0", "d1"]]


def test_walks_do_not_pass_through_what_is_hidden():
    view, graph, _ = view_of(
        contribution("mine", mentions=["Skua"]),
        contribution("theirs", mentions=["Skua", "Falk"]),
        contribution("third", mentions=["Falk"]),
        visible=("mine", "third"),
    )
    found = personalised_pagerank(view, {SKUA: 1.0})
    assert {node.id for node in graph.nodes(found.nodes)} == {SKUA, "passage:mine"}


def test_a_graph_that_does_not_know_who_states_what_shows_the_edges_of_passages():
    nodes = [Node.passage("mine"), Node.passage("theirs"), Node.entity("Skua"), Node.entity("Falk")]
    edges = [Edge("passage:mine", SKUA), Edge("passage:theirs", FALK), Edge(SKUA, FALK, "knows")]
    graph = graph_from_edges(nodes, edges)
    view = TenantView(graph, {"mine"}.intersection)
    assert seen(view, graph) == ([SKUA, "passage:mine"], [("passage:mine", "relates_to", SKUA)])
