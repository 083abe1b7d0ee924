"""Somebody else's entity extractor builds the graph."""

import numpy as np
from haystack import Document

from haystack_integrations.components.writers.hopweave import KnowledgeBaseWriter
from hopweave import KnowledgeBase
from hopweave.graph.build.builders.mentions import register_extractor


def test_the_writer_asks_the_registered_extractor(tmp_path):
    register_extractor("tickets of a test", lambda text: [word for word in text.split() if word.startswith("ops-")])
    file = str(tmp_path / "kb.db")
    writer = KnowledgeBaseWriter(
        knowledge_base=file, embedder=None, builders=[{"kind": "mentions", "extractor": "tickets of a test"}]
    )
    writer.run(documents=[Document(id="a", content="fixed by ops-17"), Document(id="b", content="see ops-17 again")])
    with KnowledgeBase.open(file) as kb:
        graph = kb.graph
    number = graph.find(["entity:ops-17"])["entity:ops-17"]
    passages = graph.nodes(graph.neighbours(np.array([number]), "in").targets)
    assert [node.document_id for node in passages] == ["a", "b"]
