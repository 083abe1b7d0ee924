"""The tenant of the context holds in all of Haystack that runs components for others: wrappers, tools, agents."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest
from haystack import Document, Pipeline, SuperComponent
from haystack.components.agents import Agent
from haystack.components.builders import ChatPromptBuilder
from haystack.components.converters import OutputAdapter
from haystack.components.generators.chat import MockChatGenerator
from haystack.components.joiners import DocumentJoiner
from haystack.components.query import QueryExpander
from haystack.components.retrievers import (
    MultiQueryEmbeddingRetriever,
    MultiQueryTextRetriever,
    MultiRetriever,
    TextEmbeddingRetriever,
)
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever, InMemoryEmbeddingRetriever
from haystack.dataclasses import ChatMessage, ToolCall
from haystack.document_stores.in_memory import InMemoryDocumentStore
from haystack.tools import ComponentTool, PipelineTool, Tool

from haystack_integrations.common.hopweave.recipe_pipeline import to_pipeline
from haystack_integrations.components.builders.hopweave import FlowPruningBuilder, NeighbourhoodBuilder
from haystack_integrations.components.embedders.hopweave import StaticDocumentEmbedder, StaticTextEmbedder
from haystack_integrations.components.joiners.hopweave import TrustWeightedJoiner
from haystack_integrations.components.retrievers.hopweave import (
    BM25Retriever,
    EmbeddingRetriever,
    PageRankRetriever,
    RecipeRetriever,
)
from haystack_integrations.document_stores.hopweave import HopweaveDocumentStore
from hopweave import Document as Passage
from hopweave import KnowledgeBase, every_tenant, tenant
from hopweave.errors import TenantRequired

QUESTION = "How is the ferry pump restarted after an outage?"
MANY = [f"customer-{number:02d}" for number in range(50)]


def _text(who):
    return f"The ferry pump is restarted at the panel after an outage. The secret is of-{who}."


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A file that fifty tenants have written, and one of the same documents that knows nothing of tenants."""
    folder = tmp_path_factory.mktemp("tenants")
    passages = {who: Passage(who, _text(who), {"customer": who}) for who in MANY}
    with KnowledgeBase.open(folder / "tenants.db") as kb:
        for who, passage in passages.items():
            kb.add([passage], tenant={"customer": who})
    with KnowledgeBase.open(folder / "open.db") as kb:
        kb.add(passages.values())
    return {"tenants": str(folder / "tenants.db"), "open": str(folder / "open.db")}


@pytest.fixture(scope="module")
def store():
    """A store of the user's own with the same documents."""
    store = InMemoryDocumentStore()
    documents = [Document(id=who, content=_text(who), meta={"customer": who}) for who in MANY]
    store.write_documents(StaticDocumentEmbedder().run(documents=documents)["documents"])
    return store


def seen(value):
    text = repr(value)
    return {who for who in MANY if f"of-{who}" in text}


def expander():
    return QueryExpander(
        chat_generator=MockChatGenerator('{"queries": ["ferry pump outage", "restart at the panel"]}'), n_expansions=2
    )


def expanded(retriever):
    pipeline = Pipeline()
    pipeline.add_component("expander", expander())
    pipeline.add_component("retriever", retriever)
    pipeline.connect("expander.queries", "retriever.queries")
    return pipeline, {"expander": {"query": QUESTION}}


def alone(retriever, **given):
    pipeline = Pipeline()
    pipeline.add_component("retriever", retriever)
    return pipeline, {"retriever": given or {"query": QUESTION}}


def hyde(path):
    """A model writes an answer, which is embedded and looked for."""
    pipeline = Pipeline()
    pipeline.add_component("prompt", ChatPromptBuilder([ChatMessage.from_user("Answer: {{question}}")]))
    pipeline.add_component("model", MockChatGenerator("The ferry pump is restarted at the panel."))
    pipeline.add_component("text", OutputAdapter("{{ replies[0].text }}", str))
    pipeline.add_component("embedder", StaticTextEmbedder())
    pipeline.add_component("retriever", EmbeddingRetriever(knowledge_base=path))
    pipeline.connect("prompt.prompt", "model.messages")
    pipeline.connect("model.replies", "text.replies")
    pipeline.connect("text.output", "embedder.text")
    pipeline.connect("embedder.embedding", "retriever.query_embedding")
    return pipeline, {"prompt": {"question": QUESTION}}


def branches(path, store):
    """The pipeline of the guide: two retrievers of the store, a walk from what they find, and a joiner."""
    pipeline = Pipeline()
    pipeline.add_component("embedder", StaticTextEmbedder())
    pipeline.add_component("text", InMemoryBM25Retriever(store, top_k=50))
    pipeline.add_component("vector", InMemoryEmbeddingRetriever(store, top_k=50))
    pipeline.add_component("graph", PageRankRetriever(knowledge_base=path, document_store=store))
    pipeline.add_component("joiner", TrustWeightedJoiner(sources=["text", "vector", "graph"]))
    pipeline.connect("embedder.embedding", "vector.query_embedding")
    pipeline.connect("text.documents", "graph.text")
    pipeline.connect("vector.documents", "graph.vector")
    for name in ("text", "vector", "graph"):
        pipeline.connect(f"{name}.documents", f"joiner.{name}")
    asked = {"embedder": {"text": QUESTION}, "text": {"query": QUESTION}, "graph": {"query": QUESTION}}
    return pipeline, asked


def joined(path):
    """Two branches under a joiner of Haystack's."""
    pipeline = Pipeline()
    pipeline.add_component("one", BM25Retriever(knowledge_base=path))
    pipeline.add_component("two", RecipeRetriever(knowledge_base=path))
    pipeline.add_component("joiner", DocumentJoiner(join_mode="reciprocal_rank_fusion"))
    pipeline.connect("one.documents", "joiner.documents")
    pipeline.connect("two.documents", "joiner.documents")
    return pipeline, {"one": {"query": QUESTION}, "two": {"query": QUESTION}}


def super_component(path):
    inner, _ = alone(RecipeRetriever(knowledge_base=path))
    return SuperComponent(
        inner, input_mapping={"question": ["retriever.query"]}, output_mapping={"retriever.documents": "documents"}
    )


def component_tool(path):
    return ComponentTool(component=BM25Retriever(knowledge_base=path), name="search", description="Finds texts.")


def pipeline_tool(path):
    inner, _ = alone(RecipeRetriever(knowledge_base=path))
    return PipelineTool(
        inner,
        name="search",
        description="Finds texts.",
        input_mapping={"query": ["retriever.query"]},
        output_mapping={"retriever.documents": "documents"},
    )


def function_tool(path):
    retriever = BM25Retriever(knowledge_base=path)
    schema = {"type": "object", "properties": {"query": {"type": "string"}}}
    return Tool("search", "Finds texts.", schema, lambda query: retriever.run(query=query)["documents"])


def _scripted(messages):
    answers = [one.tool_call_result.result for one in messages if one.tool_call_result]
    if answers:
        return f"It says: {answers[-1]}"
    calls = [ToolCall("search", {"query": QUESTION}, id=str(number)) for number in range(3)]
    return ChatMessage.from_assistant(tool_calls=calls)


def agent(tool):
    pipeline = Pipeline()
    pipeline.add_component("agent", Agent(chat_generator=MockChatGenerator(response_fn=_scripted), tools=[tool]))
    return pipeline, {"agent": {"messages": [ChatMessage.from_user(QUESTION)]}}


WRAPPERS = {
    "retriever": lambda path, _: alone(RecipeRetriever(knowledge_base=path)),
    "MultiQueryTextRetriever": lambda path, _: expanded(
        MultiQueryTextRetriever(retriever=BM25Retriever(knowledge_base=path))
    ),
    "MultiQueryEmbeddingRetriever": lambda path, _: expanded(
        MultiQueryEmbeddingRetriever(
            retriever=EmbeddingRetriever(knowledge_base=path), query_embedder=StaticTextEmbedder()
        )
    ),
    "MultiRetriever": lambda path, _: alone(
        MultiRetriever(
            retrievers={"one": BM25Retriever(knowledge_base=path), "two": RecipeRetriever(knowledge_base=path)}
        )
    ),
    "TextEmbeddingRetriever": lambda path, _: alone(
        TextEmbeddingRetriever(retriever=EmbeddingRetriever(knowledge_base=path), text_embedder=StaticTextEmbedder())
    ),
    "HyDE": lambda path, _: hyde(path),
    "SuperComponent": lambda path, _: alone(super_component(path), question=QUESTION),
    "branches of the guide": branches,
    "DocumentJoiner": lambda path, _: joined(path),
    "recipe as a pipeline": lambda path, _: (to_pipeline("multihop", path), {"query": QUESTION}),
    "Agent, ComponentTool": lambda path, _: agent(component_tool(path)),
    "Agent, PipelineTool": lambda path, _: agent(pipeline_tool(path)),
    "Agent, function": lambda path, _: agent(function_tool(path)),
}
each = pytest.mark.parametrize(("name", "make"), [pytest.param(*one, id=one[0]) for one in WRAPPERS.items()])


def shown(pipeline, result):
    """Whose documents come out: with a joiner, what comes out of it, as retrievers of the store find everybody's."""
    return seen(result["joiner"] if "joiner" in pipeline.graph.nodes else result)


@each
@pytest.mark.parametrize("kind", ["tenants", "open"])
def test_within_a_tenant_nothing_of_another_is_seen(name, make, kind, files, store):
    pipeline, asked = make(files[kind], store)
    with tenant(customer=MANY[7]):
        assert shown(pipeline, pipeline.run(asked)) == {MANY[7]}
        assert shown(pipeline, asyncio.run(pipeline.run_async(asked))) == {MANY[7]}


@each
def test_fifty_tenants_at_once_do_not_mix(name, make, files, store):
    pipeline, asked = make(files["open"], store)

    async def ask(who):
        with tenant(customer=who):
            return shown(pipeline, await pipeline.run_async(asked))

    async def all_of_them():
        return await asyncio.gather(*map(ask, MANY))

    assert asyncio.run(all_of_them()) == [{who} for who in MANY]


@each
def test_without_a_tenant_a_file_of_tenants_shows_nothing(name, make, files, store):
    """An agent tells its model of the error and goes on; all others raise it."""
    pipeline, asked = make(files["tenants"], store)
    for run in (pipeline.run, lambda given: asyncio.run(pipeline.run_async(given))):
        if name.startswith("Agent"):
            result = run(asked)
            assert seen(result) == set()
            assert "say whose are meant" in repr(result)
            continue
        with pytest.raises(Exception, match="say whose are meant"):
            run(asked)


def test_fifty_tenants_in_threads_do_not_mix_in_pools_of_haystack(files):
    retriever = MultiQueryTextRetriever(retriever=BM25Retriever(knowledge_base=files["open"]))

    def ask(who):
        with tenant(customer=who):
            return seen(retriever.run(queries=[QUESTION, "ferry pump", "panel outage"]))

    with ThreadPoolExecutor(10) as callers:
        assert list(callers.map(ask, MANY)) == [{who} for who in MANY]


def test_a_store_shows_the_documents_of_one_tenant(files):
    of_acme = {"field": "meta.customer", "operator": "in", "value": MANY[:2]}
    for store in (
        HopweaveDocumentStore(files["tenants"]),
        HopweaveDocumentStore(files["open"], tenant_required=["customer"]),
    ):
        for ask in (
            store.filter_documents,
            lambda: store.filter_documents(of_acme),  # noqa: B023
            lambda: asyncio.run(store.filter_documents_async()),  # noqa: B023
            store.get_metadata_fields_info,
            lambda: store.get_metadata_field_unique_values("customer"),  # noqa: B023
        ):
            with pytest.raises(TenantRequired, match="say whose are meant"):
                ask()
        with tenant(customer=MANY[1]):
            assert [one.id for one in store.filter_documents()] == [MANY[1]]
            assert [one.id for one in store.filter_documents(of_acme)] == [MANY[1]]
            assert store.get_metadata_field_unique_values("customer") == ([MANY[1]], 1)
            assert store.count_documents() == 1
        with every_tenant():
            assert len(store.filter_documents()) == store.count_documents() == len(MANY)
        assert HopweaveDocumentStore.from_dict(store.to_dict()).tenant_required == store.tenant_required
        store.close()


def test_a_question_with_a_tenant_fetches_from_a_store_of_tenants(files):
    store = HopweaveDocumentStore(files["tenants"])
    retriever = RecipeRetriever(knowledge_base=files["open"], document_store=store, tenant={"customer": MANY[3]})
    assert seen(retriever.run(query=QUESTION)) == {MANY[3]}
    store.close()


def test_what_tells_of_the_graph_of_tenants_asks_whose(files):
    documents = [Document(id=MANY[0]), Document(id=MANY[1])]
    for make in (FlowPruningBuilder, NeighbourhoodBuilder):
        with pytest.raises(TenantRequired):
            make(knowledge_base=files["tenants"]).run(documents=documents)
