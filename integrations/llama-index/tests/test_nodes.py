"""Nodes become hits and nodes again."""

from llama_index.core.schema import NodeWithScore, TextNode
from llama_index.hopweave import to_hit, to_node


def test_a_node_keeps_everything_on_the_way_there_and_back():
    node = NodeWithScore(node=TextNode(id_="a", text="text", metadata={"title": "A"}, embedding=[1.0, 0.0]), score=0.5)
    digest = node.node.hash
    after = to_node(to_hit(node).rescored(0.25, "halve", factor=0.5))
    assert node.node.hash == digest
    assert node.score == 0.5
    assert (after.node_id, after.text, after.score, after.node.embedding) == ("a", "text", 0.25, [1.0, 0.0])
    assert after.metadata["hopweave"]["receipts"][0]["details"] == {"factor": 0.5}


def test_receipts_go_on_where_they_stopped():
    node = NodeWithScore(node=TextNode(id_="a", text="x"))
    hit = to_hit(to_node(to_hit(node).rescored(1.0, "first", scale="logit")))
    assert [receipt.stage for receipt in hit.receipts] == ["first"]
    assert hit.scale == "logit"
    assert "hopweave" not in hit.metadata


def test_a_score_of_none_stays_none():
    assert to_node(to_hit(NodeWithScore(node=TextNode(id_="a", text="x")))).score is None
