import subprocess
import sys
from math import log

import pytest

from hopweave.document import Document
from hopweave.graph.build.builders.links import LinksBuilder
from hopweave.graph.build.builders.mentions import MentionsBuilder
from hopweave.graph.build.builders.triples import triples_contribution
from hopweave.graph.build.resolve import resolve
from hopweave.graph.model import Contribution, Edge, Mention, Node


def lines(resolved):
    return [f"{edge.source} {edge.type} {edge.target} {edge.weight:.4f}" for edge in resolved.edges()]


def test_empty():
    resolved = resolve([])
    assert (resolved.nodes, resolved.edges()) == ((), [])
    assert resolved.graph(3).version == 3


def test_one_document_without_anything_to_say_is_still_a_node():
    resolved = resolve([MentionsBuilder().contribute(Document("d", "nothing here"))])
    assert [node.id for node in resolved.nodes] == ["passage:d"]


def test_explicit_edges_of_several_documents_add_up():
    nodes = (Node.entity("a"), Node.entity("b"))
    contributions = [
        Contribution(id_, nodes, (Edge("entity:a", "entity:b", "helps", weight),))
        for id_, weight in (("1", 0.5), ("2", 2.0))
    ]
    assert lines(resolve(contributions)) == ["entity:a helps entity:b 2.5000"]
    assert lines(resolve(contributions[:1])) == ["entity:a helps entity:b 0.5000"]


def test_an_edge_waits_for_its_node():
    waiting = Contribution("1", (Node.entity("a"),), (Edge("entity:a", "entity:b"),))
    assert lines(resolve([waiting])) == []
    assert lines(resolve([waiting, Contribution("2", (Node.entity("b"),))])) == ["entity:a relates_to entity:b 1.0000"]


def test_spellings_of_an_entity_are_one_node_and_its_edges_follow():
    contributions = [
        triples_contribution("1", [["St. Louis", "lies in", "Missouri"]]),
        triples_contribution("2", [["St Louis", "has", "an arch"]]),
        triples_contribution("3", [["St. Louis", "borders", "Illinois"]]),
    ]
    resolved = resolve(contributions)
    assert {edge.source for edge in resolved.edges() if not edge.source.startswith("passage:")} == {"entity:st. louis"}


def test_joining_makes_no_loops_but_keeps_those_that_were_meant():
    assert [
        e for e in resolve([triples_contribution("1", [["St. Louis", "is", "St Louis"]])]).edges() if e.type == "is"
    ] == []
    loop = Contribution("1", (Node.entity("a"),), (Edge("entity:a", "entity:a"),))
    assert lines(resolve([loop])) == ["entity:a relates_to entity:a 1.0000"]


def test_nodes_with_ids_of_their_own_are_left_alone():
    contributions = Contribution(
        "1", (Node("n1", "place", "St. Louis"), Node("n2", "place", "St Louis")), (Edge("n1", "n2"),)
    )
    assert lines(resolve([contributions])) == ["n1 relates_to n2 1.0000"]


def test_the_node_that_says_most_is_kept():
    plain, described = Node.entity("Skua"), Node("entity:skua", "entity", "Skua", metadata={"built": 1974})
    for contributions in ([plain, described], [described, plain]):
        resolved = resolve([Contribution(str(number), (node,)) for number, node in enumerate(contributions)])
        assert [node.metadata for node in resolved.nodes] == [{"built": 1974}]


def test_labels_keep_how_a_relation_was_written():
    contributions = [
        triples_contribution(id_, [["Skua", written, "Harris"]])
        for id_, written in (("1", "Sails to"), ("2", "sails to"), ("3", "sails to"))
    ]
    assert [edge.label for edge in resolve(contributions).edges() if edge.type == "sails_to"] == ["sails to"]


def test_mentions_join_the_entities_of_triples():
    contributions = [
        triples_contribution("1", [["MV Skua", "sails to", "Harris"]]),
        MentionsBuilder().contribute(Document("2", "We took the MV Skua.")),
    ]
    assert f"passage:2 mentions entity:mv skua {1 / log(4):.4f}" in lines(resolve(contributions))


def test_links_lead_to_documents():
    build = LinksBuilder().contribute
    contributions = [
        build(Document("a", "[b](b.md)", {"path": "docs/a.md"})),
        build(Document("b", "", {"path": "docs/b.md"})),
    ]
    assert lines(resolve(contributions)) == ["passage:a links_to passage:b 1.0000"]


def test_titles_of_other_scripts_are_found_and_stay_apart():
    build = MentionsBuilder().contribute
    contributions = [
        build(Document("1", "", {"title": "北京"})),
        build(Document("2", "", {"title": "東京"})),
        build(Document("3", "昨日東京に行った", {})),
        build(Document("4", "Jedziemy do miasta Łódź.", {})),
        build(Document("5", "", {"title": "Łódź"})),
    ]
    found = {(edge.source, edge.target) for edge in resolve(contributions).edges() if edge.type == "mentions"}
    assert found == {("passage:3", "entity:東京"), ("passage:4", "entity:łódź")}


def test_graph_holds_the_same_edges():
    build = MentionsBuilder().contribute
    resolved = resolve(
        [build(Document("a", "Skua is a ferry to Harris.")), build(Document("b", "Harris is an island."))]
    )
    graph = resolved.graph()
    assert (graph.size, graph.edge_count) == (len(resolved.nodes), len(resolved.edges()))


def test_order_does_not_matter():
    build = MentionsBuilder().contribute
    contributions = [
        build(Document(str(n), f"Skua {n} meets Harris and Skua {n + 1} in 19{n}0.", {"title": f"Skua {n}"}))
        for n in range(1, 9)
    ]
    assert resolve(contributions).edges() == resolve(reversed(contributions)).edges()
    assert resolve(contributions).nodes == resolve(reversed(contributions)).nodes


def test_the_hash_seed_does_not_matter():
    script = (
        "from hopweave.document import Document\n"
        "from hopweave.graph.build.builders.mentions import MentionsBuilder\n"
        "from hopweave.graph.build.resolve import resolve\n"
        "build = MentionsBuilder().contribute\n"
        "texts = [f'Skua {n} met Harris of Lewis in 19{n}0. Tern {n + 1}' for n in range(1, 9)]\n"
        "docs = [Document(text, text, {'title': f'Tern {n}'}) for n, text in enumerate(texts)]\n"
        "r = resolve(map(build, docs)); print(r.nodes, r.edges())"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", script], env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1
    assert "entity:" in outputs.pop()


def test_weights_that_are_not_allowed():
    with pytest.raises(ValueError, match="weight"):
        resolve(
            [Contribution("1", (Node.entity("a"), Node.entity("b")), (Edge("entity:a", "entity:b", weight=-1.0),))]
        ).graph()


def test_a_mention_makes_its_passage_a_node():
    assert [node.id for node in resolve([Contribution("d", mentions=(Mention("Skua"),))]).nodes] == [
        "entity:skua",
        "passage:d",
    ]
