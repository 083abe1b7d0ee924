"""Joiners with named inputs: nothing depends on order, names, depth or the event loop. The stock joiner's does."""

import asyncio
import time

import pytest
from haystack import Document, Pipeline, component
from haystack.components.joiners import DocumentJoiner

from haystack_integrations.common.hopweave.recipe_pipeline import to_pipeline
from haystack_integrations.components.joiners.hopweave import ReciprocalRankJoiner, WeightedJoiner
from haystack_integrations.components.retrievers.hopweave import BM25Retriever, EmbeddingRetriever
from haystack_integrations.components.routers.hopweave import IntentRouter, PlanRouter
from hopweave import KnowledgeBase, Recipe
from hopweave.errors import SourceFailed

LISTS = {
    "text": [Document(id="a", content="a", score=8.0), Document(id="b", content="b", score=6.0)],
    "vector": [Document(id="c", content="c", score=0.9), Document(id="b", content="b", score=0.5)],
    "graph": [Document(id="d", content="d", score=0.7), Document(id="a", content="a", score=0.1)],
}
WEIGHTS = {"text": 0.6, "vector": 0.3, "graph": 0.1}


@component
class Branch:
    """Gives fixed documents after a while; in an event loop branches arrive in the order of their delays."""

    def __init__(self, found, seconds=0.0):
        self.found = found
        self.seconds = seconds

    @component.output_types(documents=list[Document])
    def run(self, query: str) -> dict[str, list[Document]]:
        time.sleep(self.seconds)
        return {"documents": self.found}


@component
class Relay:
    """One more step on the way to a branch."""

    @component.output_types(query=str)
    def run(self, query: str) -> dict[str, str]:
        return {"query": query}


def pipeline(joiner, names=None, delays=(0.0, 0.0, 0.0), order=("text", "vector", "graph"), deep=None, named=True):
    names = names or {source: source for source in LISTS}
    made = Pipeline()
    for source, seconds in zip(order, delays, strict=True):
        made.add_component(names[source], Branch(LISTS[source], seconds))
    if deep:
        made.add_component("relay", Relay())
        made.connect("relay.query", f"{names[deep]}.query")
    made.add_component("joiner", joiner)
    for source in order:
        made.connect(f"{names[source]}.documents", f"joiner.{source}" if named else "joiner.documents")
    return made


def ranking(result):
    return [(document.id, document.score) for document in result["joiner"]["documents"]]


def weighted():
    return WeightedJoiner(sources=["text", "vector", "graph"], weights=WEIGHTS)


VARIANTS = {
    "renamed": {"names": {"text": "z", "vector": "y", "graph": "x"}},
    "reordered": {"order": ("graph", "vector", "text")},
    "deeper": {"deep": "text"},
    "slower": {"delays": (0.06, 0.03, 0.0)},
}


@pytest.mark.parametrize("make", [weighted, lambda: ReciprocalRankJoiner(sources=list(LISTS), weights=WEIGHTS)])
@pytest.mark.parametrize("variant", VARIANTS)
def test_named_inputs_give_one_ranking_however_the_branches_arrive(make, variant):
    expected = ranking(pipeline(make()).run({"query": "?"}))
    other = pipeline(make(), **VARIANTS[variant])
    assert ranking(other.run({"query": "?"})) == expected
    assert ranking(asyncio.run(other.run_async({"query": "?"}))) == expected


def test_the_stock_joiner_gives_another_ranking_when_branches_are_renamed_deeper_or_slower():
    def stock():
        return DocumentJoiner(join_mode="reciprocal_rank_fusion", weights=list(WEIGHTS.values()))

    def by_run(**changes):
        return ranking(pipeline(stock(), named=False, **changes).run({"query": "?"}))

    renamed = VARIANTS["renamed"]
    assert by_run(**renamed) != by_run()
    assert by_run(names={"text": "a", "vector": "b", "graph": "c"}, deep="text") != by_run(
        names={"text": "a", "vector": "b", "graph": "c"}
    )
    slow = pipeline(stock(), named=False, delays=(0.2, 0.1, 0.0), names={"text": "a", "vector": "b", "graph": "c"})
    assert ranking(asyncio.run(slow.run_async({"query": "?"}))) != ranking(slow.run({"query": "?"}))


@pytest.mark.parametrize("run", ["run", "run_async"])
def test_a_skipped_branch_is_absent_and_its_weight_is_shared_out(run):
    made = pipeline(weighted())
    planner = PlanRouter(sources=list(LISTS), skip_graph_when_simple=True)
    made.add_component("plan", planner)
    for source in LISTS:
        made.connect(f"plan.{source}", f"{source}.query")
    asked = {"plan": {"query": "?"}}
    result = made.run(asked) if run == "run" else asyncio.run(made.run_async(asked))
    two = WeightedJoiner(sources=["text", "vector"], weights={"text": 0.6, "vector": 0.3})
    alone = two.run(text=LISTS["text"], vector=LISTS["vector"])
    assert ranking(result) == ranking({"joiner": alone})
    assert result["joiner"]["documents"][0].meta["hopweave"]["receipts"][-1]["details"]["missing_signals"] == ["graph"]


def test_the_stock_joiner_breaks_on_a_skipped_branch():
    stock = DocumentJoiner(join_mode="reciprocal_rank_fusion", weights=list(WEIGHTS.values()))
    made = pipeline(stock, named=False)
    made.add_component("plan", PlanRouter(sources=list(LISTS), skip_graph_when_simple=True))
    for source in LISTS:
        made.connect(f"plan.{source}", f"{source}.query")
    with pytest.raises(Exception, match="zip"):
        made.run({"plan": {"query": "?"}})


@pytest.mark.parametrize("run", ["run", "run_async"])
def test_an_optional_source_that_fails_is_absent(run, file):
    made = Pipeline()
    made.add_component("text", BM25Retriever(knowledge_base=file))
    # the file holds no vectors of this model
    made.add_component("vector", EmbeddingRetriever(knowledge_base=file, model="unknown", optional=True))
    made.add_component("joiner", WeightedJoiner(sources=["text", "vector"], weights={"text": 0.5, "vector": 0.5}))
    made.connect("text.documents", "joiner.text")
    made.connect("vector.documents", "joiner.vector")
    asked = {"text": {"query": "ferry"}, "vector": {"query_embedding": [0.1] * 256}}
    result = made.run(asked) if run == "run" else asyncio.run(made.run_async(asked))
    details = result["joiner"]["documents"][0].meta["hopweave"]["receipts"][-1]["details"]
    assert details["missing_signals"] == ["vector"]
    assert list(details["signals"]) == ["text"]


def test_a_source_that_is_needed_fails_aloud(file):
    with pytest.raises(SourceFailed, match="holds no vectors of model 'unknown'"):
        EmbeddingRetriever(knowledge_base=file, model="unknown").run(query_embedding=[0.1] * 256)


def test_an_empty_list_is_not_a_skipped_branch():
    ran = weighted().run(text=LISTS["text"], vector=[], graph=None)["documents"]
    details = ran[0].meta["hopweave"]["receipts"][-1]["details"]
    assert details["missing_signals"] == ["graph"]
    assert set(details["signals"]) == {"text", "vector"}


def test_sources_that_cannot_be_are_named():
    with pytest.raises(ValueError, match="source 'oracle' has no weight"):
        WeightedJoiner(sources=["text", "oracle"], weights={"text": 1.0})
    with pytest.raises(ValueError, match="'weights' is not allowed: it is the name of another input"):
        ReciprocalRankJoiner(sources=["weights"])


def test_filters_apply_to_what_was_merged():
    only_b = {"field": "id", "operator": "==", "value": "b"}
    found = weighted().run(**LISTS, filters=only_b)["documents"]
    unfiltered = weighted().run(**LISTS)["documents"]
    assert [(one.id, one.score) for one in found] == [(one.id, one.score) for one in unfiltered if one.id == "b"]


def test_the_intent_decides_where_there_are_no_weights():
    made = Pipeline()
    made.add_component("intent", IntentRouter())
    made.add_component("joiner", WeightedJoiner(sources=["text", "vector", "graph"]))
    made.connect("intent.intent", "joiner.intent")
    result = made.run({"intent": {"query": '"MV Skua"'}, "joiner": LISTS})
    details = result["joiner"]["documents"][0].meta["hopweave"]["receipts"][-1]["details"]
    assert details["intent"] == "exact_match"
    # shares of text, embedding and graph without intent edges: .65 / (.65 + .15 + .10)
    assert details["signals"]["text"]["weight"] == pytest.approx(0.65 / 0.9)


def test_the_plan_hands_its_restart_to_the_walk(file):
    recipe = Recipe.from_yaml(
        "{name: planned, plan: {restart: 0.9}, sources: {text: {kind: bm25}, "
        "graph: {kind: pagerank, seeds_from: [text]}}, fuse: {kind: reciprocal_rank}}"
    )
    pipeline = to_pipeline(recipe, file)
    assert pipeline.run({"query": "MV Skua"}, include_outputs_from={"plan"})["plan"]["restart"] == 0.9
    with KnowledgeBase.open(file, read_only=True) as kb:
        core = kb.search("MV Skua", recipe=recipe).hits
    found = pipeline.run({"query": "MV Skua"})["fuse"]["documents"]
    assert [(one.id, one.score) for one in found] == [(hit.id, hit.score) for hit in core]
