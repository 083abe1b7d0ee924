"""Nodes become hits and nodes again."""

import copy

import pytest
from llama_index.core.retrievers import BaseRetriever, QueryFusionRetriever
from llama_index.core.schema import MetadataMode, NodeWithScore, TextNode
from llama_index.hopweave import to_document, to_hit, to_node
from llama_index.hopweave.nodes import plain_node

from hopweave import Hit, KnowledgeBase


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


@pytest.mark.parametrize("own", ["text", {"receipts": 1}, ["a"], 7, None])
def test_metadata_of_the_users_own_under_our_name_is_kept(own):
    node = NodeWithScore(node=TextNode(id_="a", text="x", metadata={"hopweave": own, "title": "A"}), score=0.5)
    hit = to_hit(node)
    assert hit.metadata == {"hopweave": own, "title": "A"} or own is None
    again = to_hit(to_node(hit.rescored(0.25, "halve")))
    assert [receipt.stage for receipt in again.receipts] == ["halve"]
    assert again.metadata == hit.metadata or own is None
    assert to_document(node.node).metadata["title"] == "A"
    assert own is None or to_node(hit).metadata["hopweave"] == own
    assert "halve" not in to_node(hit).node.get_content(MetadataMode.LLM)


class Found(BaseRetriever):
    def __init__(self, nodes):
        super().__init__()
        self.nodes = nodes

    def _retrieve(self, query_bundle):
        return self.nodes


def test_stock_fusion_merges_our_nodes_with_its_own(llm):
    stock = NodeWithScore(node=TextNode(id_="a", text="x", metadata={"title": "A"}), score=0.5)
    ours = to_node(to_hit(stock).rescored(0.25, "halve"))
    for one in (ours.node, copy.deepcopy(ours.node), ours.node.model_copy()):
        assert one.hash == stock.node.hash
    fused = QueryFusionRetriever(
        [Found([stock]), Found([ours])], llm=llm, num_queries=1, mode="reciprocal_rerank", use_async=False
    ).retrieve("?")
    assert [node.score for node in fused] == [pytest.approx(2 / 60)]


def test_a_node_without_a_document_is_no_part_of_one():
    alone = to_document(TextNode(id_="a", text="MV Skua.", metadata={"doc_id": 7}))
    assert not {"document_id", "ref_doc_id"} & alone.metadata.keys()
    assert alone.metadata["doc_id"] == 7
    assert plain_node(Hit("a", text=alone.text, metadata=alone.metadata)) == TextNode(
        id_="a", text="MV Skua.", metadata={"doc_id": 7}
    )
    with KnowledgeBase.open() as kb:
        kb.add([alone, to_document(TextNode(id_="b", text="The tide gate opens at six."))])
        assert "part_of" not in kb.graph.edge_types
