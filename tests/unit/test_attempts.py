"""Optional stages go on without the one that fails and say so; a question can switch parts of a recipe off."""

import asyncio
import logging
from typing import Literal

import pytest

from hopweave.component import SWITCHES, Stage
from hopweave.document import Document
from hopweave.errors import Cancelled, InvalidScore
from hopweave.graph.flow_pruning import FlowPruning
from hopweave.hit import Hit
from hopweave.knowledge_base.cache import QueryCache
from hopweave.knowledge_base.store import KnowledgeBase
from hopweave.pipeline import Pipeline
from hopweave.query import Query
from hopweave.recipe import Recipe, load_recipe
from hopweave.stages.rerank.cosine_rerank import CosineRerank
from hopweave.stages.rerank.remote_rerank import RemoteRerank

HITS = [Hit("a", 0.5, "The Skua is a ferry."), Hit("b", 0.25, "The tide gate opens at six.")]


class Broken(Stage):
    """Fails."""

    kind: Literal["broken"] = "broken"
    error: type[Exception] = RuntimeError

    def apply(self, hits, query, knowledge=None):
        raise self.error("no model")


@pytest.fixture
def kb():
    with KnowledgeBase.open() as kb:
        kb.add([Document(hit.id, hit.text, {"timestamp": "2020-01-01"}) for hit in HITS])
        yield kb


def recipe(*stages):
    text = {"text": {"kind": "bm25"}, "vector": {"kind": "vector"}}
    return Recipe(name="own", sources=text, stages=stages)


def test_an_optional_stage_that_fails_leaves_the_hits_as_they_were_and_says_why(caplog):
    with caplog.at_level(logging.DEBUG):
        staged = Broken(optional=True).attempt(HITS, Query("ferry"))
    assert [(hit.id, hit.score) for hit in staged.hits] == [("a", 0.5), ("b", 0.25)]
    assert staged.failure == "RuntimeError"
    assert staged.hits[0].receipts[-1].as_dict() == {
        "stage": "broken",
        "before": 0.5,
        "after": 0.5,
        "details": {"outcome": "original_order", "reason": "RuntimeError"},
    }
    warned, logged = [
        [one for one in caplog.records if one.levelno == level] for level in (logging.WARNING, logging.DEBUG)
    ]
    assert [one.getMessage() for one in warned] == ["optional stage broken failed and was skipped: RuntimeError"]
    assert [str(one.exc_info[1]) for one in logged if one.exc_info] == ["no model"]
    assert asyncio.run(Broken(optional=True).attempt_async(HITS, Query("ferry"))) == staged


def test_without_hits_there_is_a_failure_too():
    assert Broken(optional=True).attempt([], Query("ferry")) == ([], "RuntimeError")


@pytest.mark.parametrize(
    ("stage", "error"),
    [
        (Broken(), RuntimeError),
        (Broken(optional=True, error=Cancelled), Cancelled),
        (Broken(optional=True, error=InvalidScore), InvalidScore),
    ],
)
def test_what_is_not_optional_or_no_failure_of_the_stage_is_raised(stage, error):
    with pytest.raises(error):
        stage.attempt(HITS, Query("ferry"))
    with pytest.raises(error):
        asyncio.run(stage.attempt_async(HITS, Query("ferry")))


def test_a_stage_that_falls_back_by_itself_says_so(monkeypatch):
    monkeypatch.delenv("JINA_API_KEY", raising=False)
    assert (
        RemoteRerank().attempt(HITS, Query("ferry")).failure
        == "no key: the environment variable JINA_API_KEY is not set"
    )
    assert "no vector" in CosineRerank().attempt(HITS, Query("ferry")).failure


def test_the_result_of_a_recipe_has_the_failure_and_is_not_cached(kb):
    cache = QueryCache()
    pipeline = Pipeline(recipe(Broken(optional=True)), kb, cache=cache)
    plain = Pipeline(recipe(), kb).run("Skua ferry")
    for result in (pipeline.run("Skua ferry"), asyncio.run(pipeline.run_async("Skua ferry"))):
        assert result.failures == {"broken": "RuntimeError"}
        assert result.as_dict()["failures"] == result.failures
        assert [(hit.id, hit.score) for hit in result.hits] == [(hit.id, hit.score) for hit in plain.hits]
    assert len(cache) == 0


def test_optional_is_written_and_read():
    text = "name: own\nsources: {text: {kind: bm25}}\nstages: [{kind: cross_encoder, optional: true}]"
    read = Recipe.from_yaml(text)
    assert read.stages[0].optional
    assert Recipe.from_yaml(read.to_yaml()) == read


def test_a_question_skips_groups_and_kinds(kb):
    stages = ({"kind": "cosine_rerank"}, {"kind": "freshness", "corpus_types": None, "weight": 0.5})
    pipeline = Pipeline(recipe(*stages), kb)

    def touched(*skip):
        result = pipeline.run(Query("Skua ferry", skip=skip))
        assert result.as_dict()["skipped"] == sorted(skip)
        return {receipt.stage for hit in result.hits for receipt in hit.receipts} & {
            "bm25",
            "vector",
            "cosine_rerank",
            "freshness",
        }

    assert touched() == {"bm25", "vector", "cosine_rerank", "freshness"}
    assert touched("rerank") == {"bm25", "vector", "freshness"}
    assert touched("freshness") == {"bm25", "vector", "cosine_rerank"}
    assert touched("rerank", "freshness", "vector") == {"bm25"}


def test_skipping_the_graph_skips_its_sources_paths_and_neighbourhood(kb):
    pipeline = Pipeline(load_recipe("multihop").model_copy(update={"paths": FlowPruning()}), kb)
    full, skipped = pipeline.run("Skua"), pipeline.run(Query("Skua", skip=["graph"]))
    assert "graph" in full.plan.sources
    assert full.paths is not None
    assert "graph" not in skipped.plan.sources
    assert skipped.plan.reason.endswith("; skipped: graph")
    assert skipped.paths is None
    assert "graph" not in skipped.timings
    around = Pipeline("operations", kb).run(Query("Skua", skip=["graph"]))
    assert around.neighbourhood is None


def test_a_cached_answer_is_not_that_of_other_switches(kb):
    pipeline = Pipeline(recipe({"kind": "cosine_rerank"}), kb, cache=QueryCache())
    assert pipeline.run("Skua").hits[0].score != pipeline.run(Query("Skua", skip=["rerank"])).hits[0].score


def test_unknown_switches_are_refused_with_those_there_are(kb):
    with pytest.raises(ValueError, match="skip: 'reranking' is not allowed; allowed are rerank, graph, freshness and"):
        Pipeline("hybrid", kb).run(Query("Skua", skip=["reranking"]))
    with pytest.raises(TypeError, match=r"skip: must be a list of names such as \['rerank'\], but got 'rerank'"):
        Query("Skua", skip="rerank")
    with pytest.raises(ValueError, match="skip: bm25, vector leaves no source of text, vector, evidence"):
        Pipeline("hybrid", kb).run(Query("Skua", skip=["vector", "bm25"]))


def test_every_switch_stands_for_something():
    from hopweave.component import Source, registered

    parts = [*registered(Stage).values(), *registered(Source).values()]
    assert {part.switch for part in parts} - {None} == set(SWITCHES)
    assert FlowPruning.switch == "graph"
