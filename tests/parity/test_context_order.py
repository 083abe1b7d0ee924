"""A context ordered by type is the same in all three."""

from haystack import Document
from llama_index.core.llms import MockLLM
from llama_index.core.schema import NodeWithScore, TextNode
from llama_index.response_synthesizers.hopweave import ContextBuilderSynthesizer

from haystack_integrations.components.builders.hopweave import ContextBuilder as HaystackContextBuilder
from hopweave.context.context_builder import ContextBuilder
from hopweave.hit import Hit

PARTS = [("deploy", "Deploys.", "command"), ("lint", "Lints.", "skill"), ("reviewer", "Reviews.", "agent")]
ORDER = ("agent", "skill", "command", "hook")


def test_agents_before_skills_before_commands():
    builder = ContextBuilder(type_order=ORDER)
    expected = builder.build([Hit(key, 0.5, text, {"type": kind}) for key, text, kind in PARTS])
    assert [one.id for one in expected.citations] == ["reviewer", "lint", "deploy"]
    documents = [Document(id=key, content=text, meta={"type": kind}, score=0.5) for key, text, kind in PARTS]
    assert HaystackContextBuilder(type_order=ORDER).run(documents=documents)["context"] == expected.text
    nodes = [
        NodeWithScore(node=TextNode(id_=key, text=text, metadata={"type": kind}), score=0.5)
        for key, text, kind in PARTS
    ]
    response = ContextBuilderSynthesizer(MockLLM(), context=builder).synthesize("What reviews?", nodes)
    assert [one["id"] for one in response.metadata["hopweave"]["citations"]] == ["reviewer", "lint", "deploy"]
