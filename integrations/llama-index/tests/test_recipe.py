"""Recipes as retrievers and as query engines of native parts."""

import asyncio
import logging

import pytest
from llama_index.core import VectorStoreIndex
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import MetadataMode, NodeWithScore, QueryBundle, TextNode
from llama_index.core.vector_stores import MetadataFilter, MetadataFilters
from llama_index.query_engine.hopweave import GateQueryEngine, RecipeQueryEngine, load_query_engine
from llama_index.response_synthesizers.hopweave import ContextBuilderSynthesizer
from llama_index.retrievers.hopweave import (
    BM25Retriever,
    EvidenceSumRetriever,
    FusionRetriever,
    PageRankRetriever,
    RecipeRetriever,
    VectorSearchRetriever,
)

from hopweave import Document, KnowledgeBase
from hopweave.errors import RecipeError, SourceFailed
from hopweave.pipeline import Pipeline
from hopweave.recipe import load_recipe, recipe_names
from hopweave.stages.filter.confidence_threshold import ConfidenceThreshold

QUESTION = "How do I restart the ferry pump after an outage?"
RECIPE = """
name: harbour
gate: {}
intent: {}
sources:
  text: {kind: bm25}
  vector: {kind: vector}
fuse: {kind: weighted}
stages:
  - {kind: noise}
  - {kind: corpus_boost}
  - {kind: importance}
  - {kind: deferral}
  - {kind: mmr, relevance_weight: 0.5}
  - {kind: remote_rerank, api_key_env: HOPWEAVE_NO_SUCH_KEY}
context: {budget_tokens: 60}
top_k: 3
"""


@pytest.fixture
def file(tmp_path):
    (tmp_path / "harbour.yaml").write_text(RECIPE)
    return tmp_path / "harbour.yaml"


def pairs(nodes):
    return [(node.node_id, node.score) for node in nodes]


def of_core(recipe, kb):
    return [(hit.id, hit.score) for hit in Pipeline(recipe, kb).run(QUESTION).hits]


def test_finds_nodes_and_says_why_but_not_to_the_llm(kb):
    nodes = RecipeRetriever(kb).retrieve(QUESTION)
    assert {node.node_id for node in nodes[:2]} == {"pump", "pump-copy"}
    receipts = nodes[0].metadata["hopweave"]["receipts"]
    assert [receipt["stage"] for receipt in receipts] == [
        "evidence_sum",
        "pagerank",
        "bm25",
        "vector",
        "trust_weighted",
    ]
    for mode in (MetadataMode.LLM, MetadataMode.EMBED):
        assert "receipts" not in nodes[0].node.get_content(metadata_mode=mode)


def test_opens_a_file_by_its_path(kb):
    assert pairs(RecipeRetriever(kb.path).retrieve(QUESTION)) == pairs(RecipeRetriever(kb).retrieve(QUESTION))


def test_retrievers_of_one_path_share_one_graph(kb):
    retrievers = [RecipeRetriever(kb.path, recipe=name) for name in ("hybrid", "multihop")]
    retrievers += [PageRankRetriever(kb.path), BM25Retriever(str(kb.path)), VectorSearchRetriever(kb.path)]
    for retriever in retrievers:
        retriever.retrieve(QUESTION)
    assert len({id(retriever._pipeline.knowledge.graph) for retriever in retrievers}) == 1


def test_runs_alike_with_and_without_an_event_loop(kb):
    retriever = RecipeRetriever(kb, similarity_top_k=2)
    alone = retriever.retrieve(QUESTION)
    assert asyncio.run(retriever.aretrieve(QUESTION)) == alone
    assert len(alone) == 2


def test_filters_and_tenants(kb):
    filters = MetadataFilters.from_dicts([{"key": "type", "value": "CONVO_SLACK"}])
    for found in (
        RecipeRetriever(kb, filters=filters).retrieve(QUESTION),
        RecipeRetriever(kb, tenant={"type": "CONVO_SLACK"}).retrieve(QUESTION),
        load_query_engine("hybrid", kb, filters=filters).retrieve(QueryBundle(QUESTION)),
    ):
        assert {node.node_id for node in found} == {"talk", "denial"}


def test_a_retriever_of_your_own_takes_the_place_of_a_source(kb, index):
    retriever = RecipeRetriever(kb, retrievers={"vector": index.as_retriever(similarity_top_k=2)})
    details = [node.metadata["hopweave"]["receipts"][-1]["details"] for node in retriever.retrieve(QUESTION)]
    assert sum(one["signals"]["vector"]["source"] == "vector" for one in details) == 2


def test_a_name_that_no_source_has_is_an_error_that_names_the_sources(kb, index):
    sources = "is no source of recipe 'multihop'; its sources are text, vector, graph, evidence; a further source"
    for misspelt in ({"vectors": index.as_retriever()}, {"vectors": None}):
        for make in (RecipeRetriever, lambda kb, **more: load_query_engine("multihop", kb, **more)):
            with pytest.raises(ValueError, match=f"retrievers: 'vectors' {sources}"):
                make(kb, retrievers=misspelt)


def test_a_further_source_is_given_as_one(kb, index):
    own = VectorStoreIndex(
        [TextNode(id_="elsewhere", text="A pump that only another store has.")], embed_model=index._embed_model
    ).as_retriever()
    retriever = RecipeRetriever(kb, recipe="hybrid", additional_retrievers={"own": own})
    assert "elsewhere" in [node.node_id for node in retriever.retrieve(QUESTION)]
    assert list(retriever._pipeline.recipe.sources) == ["text", "vector", "evidence", "own"]
    assert load_query_engine("hybrid", kb, additional_retrievers={"own": own}).query(QUESTION).source_nodes
    with pytest.raises(ValueError, match="additional_retrievers: 'text' is a source of recipe 'hybrid'"):
        RecipeRetriever(kb, recipe="hybrid", additional_retrievers={"text": own})
    with pytest.raises(ValueError, match=r"additional_retrievers\.own: must be a retriever"):
        RecipeRetriever(kb, recipe="hybrid", additional_retrievers={"own": index})
    with pytest.raises(ValueError, match="cache_seconds: is not allowed with retrievers"):
        RecipeRetriever(kb, recipe="hybrid", additional_retrievers={"own": own}, cache_seconds=5)


@pytest.mark.parametrize("filters", [{"year": 1974}, [("year", 1974)], "year == 1974"], ids=repr)
def test_what_are_no_filters_is_refused_at_once(filters, kb):
    for make in (
        lambda: RecipeRetriever(kb, filters=filters),
        lambda: BM25Retriever(kb, filters=filters),
        lambda: load_query_engine("hybrid", kb, filters=filters),
    ):
        with pytest.raises(ValueError, match=r"filters: must be MetadataFilters, as MetadataFilters\(filters="):
            make()


@pytest.mark.parametrize("operator", ["in", "nin"])
def test_an_operator_that_needs_a_list_is_refused_without_one_however_deep(operator, kb):
    part = MetadataFilters(filters=[MetadataFilter(key="type", value="CONVO_SLACK", operator=operator)])
    with pytest.raises(ValueError, match=f"filters.type: operator '{operator}' takes a list of values, but got 'CONVO"):
        RecipeRetriever(kb, filters=MetadataFilters(filters=[part]))


def test_a_parameter_that_is_not_there_is_an_error_that_names_those_that_are(kb):
    allowed = "RecipeRetriever: no parameter 'top_k'; allowed are knowledge_base, recipe, .*similarity_top_k, .*tenant"
    with pytest.raises(TypeError, match=allowed):
        RecipeRetriever(kb, top_k=3)
    with pytest.raises(TypeError, match=allowed):
        load_query_engine("hybrid", kb, top_k=3)


@pytest.mark.parametrize("name", recipe_names())
def test_every_shipped_recipe_is_a_query_engine(name, kb, llm):
    engine = load_query_engine(name, kb, llm=llm)
    inner = engine._query_engine if isinstance(engine, GateQueryEngine) else engine
    nodes = inner.retrieve(QueryBundle(QUESTION))
    core = of_core(name, kb)
    assert [node.node_id for node in nodes] == [key for key, _ in core]
    assert [node.score for node in nodes] == pytest.approx([score for _, score in core], abs=1e-9)
    assert pairs(asyncio.run(inner.aretrieve(QueryBundle(QUESTION))))[0][0] == nodes[0].node_id
    assert QUESTION in str(engine.query(QUESTION))
    assert engine.query(QUESTION).metadata["hopweave"]["citations"][0]["id"] == nodes[0].node_id


def test_a_recipe_of_your_own_with_everything(kb, llm, file):
    engine = load_query_engine(file, kb, llm=llm)
    inner = engine._query_engine
    assert isinstance(engine, GateQueryEngine)
    assert isinstance(inner, RetrieverQueryEngine)
    assert [type(one).__name__ for one in inner._node_postprocessors] == [
        "NoisePostprocessor",
        "CorpusBoostPostprocessor",
        "ImportancePostprocessor",
        "DeferralPostprocessor",
        "MMRPostprocessor",
        "RemoteRerankPostprocessor",
    ]
    response = engine.query(QUESTION)
    core = Pipeline(file, kb).run(QUESTION)
    assert pairs(response.source_nodes) == [(hit.id, pytest.approx(hit.score, abs=1e-9)) for hit in core.hits]
    assert pairs(asyncio.run(engine.aquery(QUESTION)).source_nodes) == pairs(response.source_nodes)
    assert core.context.text in str(response)  # this language model repeats its prompt
    assert str(engine.query("Good morning!")) == "Good morning!"
    stages = [receipt["stage"] for receipt in response.source_nodes[0].metadata["hopweave"]["receipts"]]
    assert stages == [receipt.stage for receipt in core.hits[0].receipts]


def test_fifty_questions_at_once_are_as_one_alone(kb, file):
    engine = load_query_engine(file, kb)
    questions = [f"{QUESTION} {word}?" for word in ("tide", "gate", "Skua", "panel", "harbour") * 10]
    alone = [engine.query(question) for question in questions]

    async def all_at_once():
        return await asyncio.gather(*(engine.aquery(question) for question in questions))

    together = asyncio.run(all_at_once())
    assert [str(response) for response in together] == [str(response) for response in alone]
    assert [pairs(response.source_nodes) for response in together] == [
        pairs(response.source_nodes) for response in alone
    ]


def test_without_a_language_model_the_best_sentences_answer(kb):
    response = load_query_engine("hybrid", kb).query("When does the tide gate open?")
    assert "The tide gate opens at six in the morning and closes at nine. [1]" in str(response)
    assert response.metadata["hopweave"]["citations"][0]["id"] == "gate"
    assert response.metadata["hopweave"]["unresolved"] == []


def test_top_k_given_wins_and_zero_is_refused_by_the_core(kb):
    engine = RecipeQueryEngine("hybrid", kb, similarity_top_k=1)
    assert len(engine.query(QUESTION).source_nodes) == 1
    with pytest.raises(ValueError, match="top_k: must be a whole number of at least 1, but got 0"):
        RecipeQueryEngine("hybrid", kb, similarity_top_k=0).query(QUESTION)


def test_a_recipe_that_is_not_there(kb):
    with pytest.raises(RecipeError, match="there is no recipe 'hybird'"):
        load_query_engine("hybird", kb)


def test_streaming_and_a_prompt_of_your_own(kb, llm):
    from llama_index.core import PromptTemplate

    synthesizer = ContextBuilderSynthesizer(llm, streaming=True)
    engine = RecipeQueryEngine(load_recipe("hybrid"), kb, response_synthesizer=synthesizer)
    engine.update_prompts({"response_synthesizer:text_qa_template": PromptTemplate("Q {query_str} C {context_str}")})
    response = engine.query(QUESTION)
    assert "".join(response.response_gen).startswith(f"Q {QUESTION} C [1] ")
    assert response.metadata["hopweave"]["citations"][0]["number"] == 1


class Broken(BaseRetriever):
    def _retrieve(self, query_bundle):
        raise ConnectionError("no route to the vectors")


@pytest.mark.parametrize("recipe", ["hybrid", "multihop", "memory", "weighted"])
def test_a_retriever_that_is_handed_over_is_required(recipe, kb):
    engine = load_query_engine(recipe, kb, retrievers={"vector": Broken()})
    for ask in (engine.query, lambda text: asyncio.run(engine.aquery(text))):
        with pytest.raises(SourceFailed, match=r"^source 'vector' failed: Broken: ConnectionError$"):
            ask("where does the ferry pump stand?")
    with pytest.raises(ValueError, match="optional: 'text' is no retriever that was given; these are vector"):
        load_query_engine(recipe, kb, retrievers={"vector": Broken()}, optional=["text"])


def test_failures_of_optional_sources_reach_the_user(kb, heard, caplog):
    events, _ = heard
    engine = load_query_engine("hybrid", kb, retrievers={"vector": Broken()}, optional=["vector"])
    for response in (engine.query("ferry pump"), asyncio.run(engine.aquery("ferry pump"))):
        assert response.source_nodes
        assert response.metadata["hopweave"]["failures"] == {"vector": "ConnectionError"}
        assert "sources" in response.metadata["hopweave"]
    assert [(one.source, one.reason) for one in events if one.class_name() == "SourceFailedEvent"] == [
        ("vector", "ConnectionError")
    ] * 2
    assert "'vector' failed and was skipped: ConnectionError" in caplog.text
    assert "no route to the vectors" not in caplog.text
    assert "failures" not in load_query_engine("hybrid", kb).query("ferry pump").metadata["hopweave"]


class Unfiltered(BaseRetriever):
    """A retriever whose store takes no filters."""

    def __init__(self, filters=None):
        self._filters = filters
        super().__init__()

    def _retrieve(self, query_bundle):
        if self._filters is not None:
            raise ValueError(f"key-4711 cannot filter for {query_bundle.query_str}")
        return [NodeWithScore(node=TextNode(id_="pump", text="The pump.", metadata={"customer": "acme"}), score=1.0)]


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_retriever_that_takes_no_filters_is_named_once_for_a_question(asynchronous, kb, caplog):
    caplog.set_level(logging.DEBUG)
    filters = MetadataFilters(filters=[MetadataFilter(key="customer", value="acme")])
    retriever = RecipeRetriever(
        kb, recipe="multihop", retrievers={"vector": Unfiltered()}, filters=filters, tenant={"customer": "acme"}
    )
    asyncio.run(retriever.aretrieve("ferry pump")) if asynchronous else retriever.retrieve("ferry pump")
    logged = [one for one in caplog.records if one.name == "llama_index.hopweave.retriever_source"]
    assert [(one.levelname, one.getMessage()) for one in logged] == [
        (
            "WARNING",
            "retriever Unfiltered does not take the filters: ValueError; its nodes are filtered afterwards",
        ),
        ("DEBUG", "what it says of them"),
    ]
    assert "key-4711" in str(logged[1].exc_info[1])


@pytest.fixture(scope="module")
def fleet():
    """More documents than a source fetches, and few of one kind."""
    names = ("Skua", "Tern", "Gull", "Plover", "Dunlin")
    with KnowledgeBase.open() as fleet:
        fleet.add(
            Document(
                f"trip-{number}",
                f"Trip {number} of MV {names[number % 5]} met MV {names[number % 3]} off Lunn in month {number % 12}.",
                {"title": f"Log {number}", "kind": "rare" if number % 40 == 7 else "plain"},
            )
            for number in range(200)
        )
        yield fleet


def native_multihop(kb, **options):
    """The recipe `multihop` put together from retrievers by hand."""
    text, vector = BM25Retriever(kb, similarity_top_k=50), VectorSearchRetriever(kb, similarity_top_k=50)
    graph = PageRankRetriever(kb, upstream={"text": text, "vector": vector}, similarity_top_k=30)
    found = {"text": text, "vector": vector, "graph": graph}
    evidence = EvidenceSumRetriever(kb, upstream=found, similarity_top_k=50)
    shares = {"text": 0, "vector": 0}
    return FusionRetriever({**found, "evidence": evidence}, fuse="trust_weighted", weights=shares, **options)


@pytest.mark.parametrize("top_k", [1, 5, 60])
@pytest.mark.parametrize("value", [None, "rare", "plain"])
def test_numbers_and_filters_rank_as_in_the_core(fleet, top_k, value):
    filters = None if value is None else MetadataFilters.from_dicts([{"key": "kind", "value": value}])
    for question in ("Which trips of MV Skua met MV Tern?", "MV Gull off Lunn in month 3", "Log 47"):
        core = fleet.search(question, recipe="multihop", top_k=top_k, filters=value and {"kind": value})
        expected = [(hit.id, pytest.approx(hit.score, abs=1e-9)) for hit in core.hits]
        assert len(expected) == (min(top_k, 5) if value == "rare" else top_k)
        for retriever in (
            native_multihop(fleet, similarity_top_k=top_k, filters=filters),
            RecipeRetriever(fleet, recipe="multihop", similarity_top_k=top_k, filters=filters),
            load_query_engine("multihop", fleet, similarity_top_k=top_k, filters=filters),
        ):
            assert pairs(retriever.retrieve(QueryBundle(question))) == expected
        asynchronous = native_multihop(fleet, similarity_top_k=top_k, filters=filters).aretrieve(question)
        assert pairs(asyncio.run(asynchronous)) == expected


def test_confidence_reaches_the_user(kb, heard):
    question, nonsense = "How is the bilge pump restarted?", "What is the capital of Mongolia?"
    engine = load_query_engine("hybrid", kb)
    sure, unsure = (engine.query(text).metadata["hopweave"]["confidence"] for text in (question, nonsense))
    assert unsure["confidence"] < 0.15 < sure["confidence"]
    assert sure["confidence"] == pytest.approx(kb.search(question, recipe="hybrid").confidence, abs=1e-3)
    assert asyncio.run(engine.aquery(nonsense)).metadata["hopweave"]["confidence"] == unsure
    events = [event for event in heard[0] if event.class_name() == "ConfidenceEvent"]
    assert [event.confidence for event in events] == [one["confidence"] for one in (sure, unsure, unsure)]


def test_below_the_level_there_are_no_nodes(kb, heard):
    recipe = load_recipe("hybrid").model_copy(update={"stages": (ConfidenceThreshold(),)})
    retriever = RecipeRetriever(kb, recipe=recipe)
    assert retriever.retrieve("What is the capital of Mongolia?") == []
    assert [event.emptied_by for event in heard[0] if event.class_name() == "ConfidenceEvent"] == [
        "confidence_threshold"
    ]
    kept = retriever.retrieve("How is the bilge pump restarted?")
    assert kept[0].metadata["hopweave"]["receipts"][-1]["details"]["confidence"] > 0.15
    assert load_query_engine(recipe, kb).retrieve(QueryBundle("What is the capital of Mongolia?")) == []
