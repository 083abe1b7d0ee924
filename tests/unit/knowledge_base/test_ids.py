from hopweave.document import Document
from hopweave.knowledge_base.store import KnowledgeBase


def test_ids_by_metadata_in_the_order_added():
    with KnowledgeBase.open(embedder=None) as kb:
        assert kb.ids() == []
        kb.add([Document("b", "x", {"parent": "p"}), Document("a", "y", {"parent": ["q", "p"]}), Document("c", "z")])
        assert kb.ids() == ["b", "a", "c"]
        assert kb.ids(tenant={"parent": "p"}) == ["b", "a"]
        assert kb.ids(tenant={"parent": ["q", "r"]}) == ["a"]
