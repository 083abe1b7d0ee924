"""The tenant of the context holds in everything of LlamaIndex that asks for others: engines, chat, agents, fusion."""

import asyncio
from typing import Any

import pytest
from llama_index.core import Settings
from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent, ReActAgent
from llama_index.core.base.llms.types import ChatMessage, MessageRole, ToolCallBlock
from llama_index.core.chat_engine import CondensePlusContextChatEngine, CondenseQuestionChatEngine, ContextChatEngine
from llama_index.core.evaluation import BaseEvaluator, EvaluationResult
from llama_index.core.indices.query.query_transform import HyDEQueryTransform
from llama_index.core.indices.query.query_transform.base import StepDecomposeQueryTransform
from llama_index.core.llms import CompletionResponse, CustomLLM, LLMMetadata, MockFunctionCallingLLM
from llama_index.core.llms.callbacks import llm_completion_callback
from llama_index.core.postprocessor import SimilarityPostprocessor
from llama_index.core.query_engine import (
    CitationQueryEngine,
    MultiStepQueryEngine,
    RetrieverQueryEngine,
    RetryQueryEngine,
    RetrySourceQueryEngine,
    RouterQueryEngine,
    SubQuestionQueryEngine,
    TransformQueryEngine,
)
from llama_index.core.question_gen import LLMQuestionGenerator
from llama_index.core.retrievers import (
    QueryFusionRetriever,
    RecursiveRetriever,
    RouterRetriever,
    TransformRetriever,
)
from llama_index.core.schema import MetadataMode, NodeWithScore, QueryBundle
from llama_index.core.selectors import LLMSingleSelector
from llama_index.core.tools import QueryEngineTool, RetrieverTool
from llama_index.core.vector_stores.types import VectorStoreQuery, VectorStoreQueryMode
from llama_index.hopweave import TenantBundle, documents_in
from llama_index.query_engine.hopweave import GateQueryEngine, load_query_engine
from llama_index.retrievers.hopweave import BM25Retriever, FusionRetriever, GateRetriever, RecipeRetriever
from llama_index.vector_stores.hopweave import HopweaveVectorStore

from hopweave import Document, KnowledgeBase, every_tenant, tenant
from hopweave.errors import TenantRequired

QUESTION = "How is the ferry pump restarted after an outage?"
MANY = [f"customer-{number:02d}" for number in range(50)]
SUB_QUESTIONS = '```json\n{"items": [{"sub_question": "How is the pump restarted?", "tool_name": "search"}]}\n```'


class Scripted(CustomLLM):
    """A language model that knows what each prompt of LlamaIndex wants to read."""

    heard: list[str] = []  # noqa: RUF012 - a pydantic field

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(num_output=256)

    def _said(self, prompt: str) -> str:
        self.heard.append(prompt)
        if "sub_question" in prompt:
            return SUB_QUESTIONS
        if "choices are given" in prompt:
            return '[{"choice": 1, "reason": "the only one"}]'
        if "generate" in prompt.lower() and "search queries" in prompt:
            return "Which pump is restarted?\nWhat is done after an outage?"
        if "Observation:" in prompt or "Thought:" in prompt:
            asked = "Observation:" in prompt.rsplit("Current Conversation", 1)[-1]
            return (
                "Thought: I can answer.\nAnswer: Done."
                if asked
                else f'Thought: I need a tool.\nAction: search\nAction Input: {{"input": "{QUESTION}"}}'
            )
        return "The ferry pump is restarted at the panel."

    @llm_completion_callback()
    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        return CompletionResponse(text=self._said(prompt))

    @llm_completion_callback()
    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any):
        text = self._said(prompt)
        yield CompletionResponse(text=text, delta=text)


class Once(BaseEvaluator):
    """An evaluator whom the first answer does not please."""

    def __init__(self):
        self.asked = 0

    def _get_prompts(self):
        return {}

    def _update_prompts(self, prompts):
        pass

    async def aevaluate(self, query=None, response=None, contexts=None, **kwargs):
        self.asked += 1
        return EvaluationResult(query=query, response=response, passing=self.asked % 2 == 0, feedback="Say more.")


@pytest.fixture(autouse=True)
def usual_model(monkeypatch):
    """Some engines take no model and use that of the settings."""
    monkeypatch.setattr(Settings, "_llm", Scripted(heard=[]))


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """A file that fifty tenants have written, each a document with its own secret."""
    path = tmp_path_factory.mktemp("tenants") / "kb.db"
    with KnowledgeBase.open(path) as kb:
        for who in MANY:
            kb.add([Document(who, _text(who), {"customer": who})], tenant={"customer": who})
        yield kb


@pytest.fixture(scope="module")
def open_file(tmp_path_factory):
    """The same documents in a file that does not know of tenants."""
    with KnowledgeBase.open(tmp_path_factory.mktemp("open") / "kb.db") as kb:
        kb.add([Document(who, _text(who), {"customer": who}) for who in MANY])
        yield kb


def _text(who):
    return f"The ferry pump is restarted at the panel after an outage. The secret is of-{who}."


def seen(*values):
    """Whose secrets are in answers, nodes or prompts."""
    texts = [
        one.node.get_content(MetadataMode.ALL) if isinstance(one, NodeWithScore) else str(one)
        for value in values
        for one in (value if isinstance(value, list) else [value])
    ]
    return {who for who in MANY if f"of-{who}" in " ".join(texts)}


def fusion(kb, llm, use_async):
    found = [BM25Retriever(kb), RecipeRetriever(kb, recipe="hybrid")]
    return QueryFusionRetriever(found, llm=llm, num_queries=3, use_async=use_async, similarity_top_k=9)


def engine(kb, llm):
    return RetrieverQueryEngine.from_args(BM25Retriever(kb), llm=llm)


def tool(kb, llm):
    return QueryEngineTool.from_defaults(engine(kb, llm), name="search", description="Answers questions on the ferry.")


def retriever_tool(kb):
    return RetrieverTool.from_defaults(BM25Retriever(kb), name="search", description="Finds texts on the ferry.")


RETRIEVERS = {
    "fusion": lambda kb, llm: fusion(kb, llm, use_async=False),
    "fusion, use_async": lambda kb, llm: fusion(kb, llm, use_async=True),
    "router": lambda kb, llm: RouterRetriever(LLMSingleSelector.from_defaults(llm=llm), [retriever_tool(kb)], llm=llm),
    "transform": lambda kb, llm: TransformRetriever(BM25Retriever(kb), HyDEQueryTransform(llm=llm)),
    "recursive": lambda kb, _: RecursiveRetriever("root", {"root": BM25Retriever(kb)}),
    "ours, fused": lambda kb, _: FusionRetriever({"one": BM25Retriever(kb), "two": RecipeRetriever(kb)}),
    "ours, gate": lambda kb, _: GateRetriever(BM25Retriever(kb)),
}
ENGINES = {
    "retriever": engine,
    "recipe": lambda kb, llm: load_query_engine("multihop", kb, llm=llm),
    "recipe, no LLM": lambda kb, _: load_query_engine("hybrid", kb),
    "gate": lambda kb, llm: GateQueryEngine(engine(kb, llm)),
    "HyDE": lambda kb, llm: TransformQueryEngine(engine(kb, llm), HyDEQueryTransform(llm=llm)),
    "HyDE, recipe": lambda kb, llm: TransformQueryEngine(
        load_query_engine("multihop", kb, llm=llm), HyDEQueryTransform(llm=llm)
    ),
    "sub-question": lambda kb, llm: sub_questions(kb, llm, use_async=False),
    "sub-question, use_async": lambda kb, llm: sub_questions(kb, llm, use_async=True),
    "multi-step": lambda kb, llm: MultiStepQueryEngine(
        engine(kb, llm),
        StepDecomposeQueryTransform(llm=llm),
        response_synthesizer=engine(kb, llm)._response_synthesizer,
        num_steps=2,
    ),
    "retry": lambda kb, llm: RetryQueryEngine(engine(kb, llm), Once(), max_retries=1),
    "retry, source": lambda kb, llm: RetrySourceQueryEngine(engine(kb, llm), Once(), llm=llm, max_retries=1),
    "router": lambda kb, llm: RouterQueryEngine(LLMSingleSelector.from_defaults(llm=llm), [tool(kb, llm)], llm=llm),
    "citations": lambda kb, llm: CitationQueryEngine.from_args(None, llm=llm, retriever=BM25Retriever(kb)),
    "fusion": lambda kb, llm: RetrieverQueryEngine.from_args(fusion(kb, llm, use_async=True), llm=llm),
    "postprocessed": lambda kb, llm: RetrieverQueryEngine.from_args(
        BM25Retriever(kb), llm=llm, node_postprocessors=[SimilarityPostprocessor(similarity_cutoff=0.0)]
    ),
}
CHATS = {
    "context": lambda kb, llm: ContextChatEngine.from_defaults(retriever=BM25Retriever(kb), llm=llm),
    "condense plus context": lambda kb, llm: CondensePlusContextChatEngine.from_defaults(
        retriever=BM25Retriever(kb), llm=llm
    ),
    "condense question": lambda kb, llm: CondenseQuestionChatEngine.from_defaults(engine(kb, llm), llm=llm),
}
AGENTS = {
    "function agent": lambda kb, llm: FunctionAgent(tools=[tool(kb, llm)], llm=calling(), streaming=False),
    "function agent, retriever tool": lambda kb, _: FunctionAgent(
        tools=[retriever_tool(kb)], llm=calling(), streaming=False
    ),
    "function agent, plain function": lambda kb, _: FunctionAgent(
        tools=[plain_function(kb)], llm=calling(), streaming=False
    ),
    "ReAct agent": lambda kb, llm: ReActAgent(tools=[tool(kb, llm)], llm=llm, streaming=False),
    "workflow": lambda kb, llm: AgentWorkflow.from_tools_or_functions([tool(kb, llm)], llm=calling()),
}


def sub_questions(kb, llm, *, use_async):
    return SubQuestionQueryEngine.from_defaults(
        [tool(kb, llm)],
        llm=llm,
        question_gen=LLMQuestionGenerator.from_defaults(llm=llm),
        response_synthesizer=engine(kb, llm)._response_synthesizer,
        use_async=use_async,
        verbose=False,
    )


def plain_function(kb):
    retriever = BM25Retriever(kb)

    def search(input: str) -> str:  # noqa: A002 - the name that the script gives
        """Find texts on the ferry."""
        return "\n".join(one.text for one in retriever.retrieve(input))

    return search


def calling():
    """A model that calls the first tool, and then says what the tool has said."""

    def answer(messages, **kwargs):
        answers = [one.content for one in messages if one.role == MessageRole.TOOL]
        if answers:
            return ChatMessage(role=MessageRole.ASSISTANT, content=f"It says: {answers[-1]}")
        [first, *_] = kwargs["tools"]
        block = ToolCallBlock(tool_call_id="1", tool_name=first.metadata.name, tool_kwargs={"input": QUESTION})
        return ChatMessage(role=MessageRole.ASSISTANT, blocks=[block])

    return MockFunctionCallingLLM(response_generator=answer)


async def run_agent(agent):
    handler = agent.run(QUESTION)
    answers = [event async for event in handler.stream_events()]
    return [str(await handler), *(str(event) for event in answers)]


class Asked:
    """A wrapper over a knowledge base, with all that comes out of it."""

    def __init__(self, kind, make, kb):
        self.llm = Scripted(heard=[])
        self.kind, self.made = kind, make(kb, self.llm)

    def sync(self):
        if self.kind == "retriever":
            return seen(self.made.retrieve(QUESTION), self.llm.heard)
        if self.kind == "engine":
            response = self.made.query(QUESTION)
        elif self.kind == "chat":
            self.made.chat("Good morning, tell me of the ferry.")
            response = self.made.chat(QUESTION)
            streamed = self.made.stream_chat(QUESTION)
            "".join(streamed.response_gen)
            response.source_nodes.extend(streamed.source_nodes)
        else:
            return seen(asyncio.run(run_agent(self.made)), self.llm.heard)
        return seen(str(response), response.source_nodes, self.llm.heard, str(getattr(response, "metadata", "")))

    async def asynchronous(self):
        if self.kind == "retriever":
            return seen(await self.made.aretrieve(QUESTION), self.llm.heard)
        if self.kind == "engine":
            response = await self.made.aquery(QUESTION)
        elif self.kind == "chat":
            await self.made.achat("Good morning, tell me of the ferry.")
            response = await self.made.achat(QUESTION)
        else:
            return seen(await run_agent(self.made), self.llm.heard)
        return seen(str(response), response.source_nodes, self.llm.heard)


KINDS = {"retriever": RETRIEVERS, "engine": ENGINES, "chat": CHATS, "agent": AGENTS}
each = pytest.mark.parametrize(
    ("kind", "make"),
    [pytest.param(kind, make, id=f"{kind}: {name}") for kind, some in KINDS.items() for name, make in some.items()],
)


@each
def test_within_a_tenant_nothing_of_another_is_seen(kind, make, file, open_file):
    for kb in (file, open_file):
        with tenant(customer=MANY[7]):
            assert Asked(kind, make, kb).sync() == {MANY[7]}
            assert asyncio.run(Asked(kind, make, kb).asynchronous()) == {MANY[7]}


def test_a_retriever_that_may_fail_is_no_way_around_it(file):
    retriever = FusionRetriever({"one": BM25Retriever(file)}, optional=["one"])
    for ask in (retriever.retrieve, lambda question: asyncio.run(retriever.aretrieve(question))):
        with pytest.raises(TenantRequired):
            ask(QUESTION)


@each
def test_fifty_tenants_at_once_do_not_mix(kind, make, open_file):
    async def ask(who):
        with tenant(customer=who):
            return await Asked(kind, make, open_file).asynchronous()

    async def all_of_them():
        return await asyncio.gather(*map(ask, MANY))

    assert asyncio.run(all_of_them()) == [{who} for who in MANY]


@each
def test_without_a_tenant_a_file_of_tenants_shows_nothing(kind, make, file, request):
    """An agent tells its model of the error, and sub-questions that fail have no answer; all others raise it."""
    goes_on = kind == "agent" or "sub-question" in request.node.name
    for ask in (lambda one: one.sync(), lambda one: asyncio.run(one.asynchronous())):
        one = Asked(kind, make, file)
        try:
            assert ask(one) == set()
            assert goes_on
        except TenantRequired:
            assert not goes_on
        assert seen(one.llm.heard) == set()


@pytest.mark.parametrize(
    "make",
    [
        BM25Retriever,
        RecipeRetriever,
        lambda kb, **more: FusionRetriever({"text": BM25Retriever(kb)}, **more),
        lambda kb, **more: load_query_engine("multihop", kb, **more),
    ],
    ids=["source", "recipe", "fusion", "engine"],
)
def test_a_component_that_requires_a_tenant_refuses_a_question_without_one(make, open_file):
    asked = make(open_file, tenant_required=["customer"])
    for ask in (
        lambda: asked.retrieve(QueryBundle(QUESTION)),
        lambda: asyncio.run(asked.aretrieve(QueryBundle(QUESTION))),
        lambda: asked.retrieve(TenantBundle(QUESTION, tenant={"team": "ops"})),
    ):
        with pytest.raises(TenantRequired, match="say whose are meant"):
            ask()
    for bundle in (TenantBundle(QUESTION, tenant={"customer": MANY[4]}), QueryBundle(QUESTION)):
        with tenant(customer=MANY[4]):
            assert seen(asked.retrieve(bundle)) == {MANY[4]}
    with every_tenant():
        assert len(seen(asked.retrieve(QueryBundle(QUESTION)))) > 1
    with pytest.raises(ValueError, match="tenant_required: must be a list of metadata fields"):
        make(open_file, tenant_required="customer")


def test_a_vector_store_shows_the_nodes_of_one_tenant(file, open_file):
    store = HopweaveVectorStore(knowledge_base=file)
    query = VectorStoreQuery(query_str=QUESTION, similarity_top_k=50, mode=VectorStoreQueryMode.TEXT_SEARCH)
    for ask in (
        store.get_nodes,
        lambda: store.get_nodes(node_ids=[MANY[0]]),
        lambda: asyncio.run(store.aget_nodes()),
        lambda: store.query(query),
        lambda: asyncio.run(store.aquery(query)),
    ):
        with pytest.raises(TenantRequired):
            ask()
    for one in (store, HopweaveVectorStore(knowledge_base=open_file)):
        with tenant(customer=MANY[2]):
            assert [node.node_id for node in one.get_nodes()] == one.query(query).ids == [MANY[2]]
            assert one.get_nodes(node_ids=[MANY[0]]) == []
    found = RecipeRetriever(documents_in(store, open_file), tenant={"customer": MANY[3]})
    assert seen(found.retrieve(QUESTION)) == {MANY[3]}
