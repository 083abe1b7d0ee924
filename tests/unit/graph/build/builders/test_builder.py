from hopweave.document import Document
from hopweave.graph.build.builders.builder import contribute_all, merge
from hopweave.graph.build.builders.mentions import MentionsBuilder
from hopweave.graph.build.builders.metadata import MetadataBuilder
from hopweave.graph.model import Contribution, Edge, Mention, Node


def test_merge_of_nothing_and_of_one():
    assert merge("d", []) == Contribution("d")
    one = Contribution("d", (Node.passage("d"),))
    assert merge("d", [one]) == one


def test_merge_keeps_all_that_was_said():
    first = Contribution("d", (Node.passage("d"),), (Edge("a", "b"),), (Mention("x"),), "", ("t",))
    second = Contribution(
        "d", (Node.passage("d"), Node.entity("x")), (Edge("a", "b"),), (Mention("y"),), "words", ("t", "u")
    )
    merged = merge("d", [first, second])
    assert [node.id for node in merged.nodes] == ["passage:d", "entity:x"]
    assert merged.edges == (Edge("a", "b"), Edge("a", "b"))
    assert [mention.name for mention in merged.mentions] == ["x", "y"]
    assert merged.words == "words"
    assert merged.addresses == ("t", "u")


def test_contribute_all_gives_one_contribution_per_document():
    documents = [Document("a", "MV Skua", {"title": "A", "tags": ["t"]}), Document("b", "")]
    found = list(contribute_all([MentionsBuilder(), MetadataBuilder()], documents))
    assert [one.document_id for one in found] == ["a", "b"]
    assert {mention.kind for mention in found[0].mentions} == {"entity", "tags"}
    assert list(contribute_all([], documents)) == [Contribution("a"), Contribution("b")]
