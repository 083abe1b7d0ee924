import asyncio
import json
import logging
import subprocess
import sys
import threading
import time
from datetime import UTC, datetime, timedelta
from typing import ClassVar, Literal

import pytest
from pydantic import Field

from hopweave.component import Source, Stage
from hopweave.document import Document
from hopweave.errors import MissingCapability, SourceFailed
from hopweave.graph.external_documents import ExternalDocuments
from hopweave.hit import Hit
from hopweave.knowledge import Capability, Knowledge
from hopweave.knowledge_base.cache import QueryCache
from hopweave.knowledge_base.store import KnowledgeBase
from hopweave.pipeline import Pipeline
from hopweave.query import Intent, Plan, Query
from hopweave.recipe import Recipe, load_recipe
from hopweave.routing.gate import Gate
from hopweave.routing.intent import IntentClassifier
from hopweave.search.federated import FederatedPipeline
from hopweave.sources.bm25 import BM25
from hopweave.stages.filter.confidence import confidence
from hopweave.stages.filter.confidence_threshold import ConfidenceThreshold
from hopweave.stages.filter.score_threshold import ScoreThreshold


class Given(Source):
    """Returns fixed hits after a delay, and records the queries."""

    kind: Literal["given"] = "given"
    ids: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    takes_seconds: float = 0.0
    fails: bool = False
    asked: list = Field(default_factory=list, exclude=True)

    @property
    def needs(self):
        return self.after

    def search(self, query, knowledge, upstream=None):
        self.asked.append((self.top_k, {name: [hit.id for hit in hits] for name, hits in (upstream or {}).items()}))
        time.sleep(self.takes_seconds)
        if self.fails:
            raise ConnectionError("the line is dead")
        found = [Hit(key, 1.0, metadata={"even": int(key) % 2 == 0} if key.isdigit() else {}) for key in self.ids]
        return found[: self.top_k]


class Shout(Stage):
    kind: Literal["shout"] = "shout"

    def apply(self, hits, query, knowledge=None):
        return [hit.rescored(hit.score, "shout", seen=query.text.upper()) for hit in hits]


class Nowhere(Knowledge):
    """A knowledge base without documents."""

    version = 1
    capabilities = frozenset({Capability.TENANTS, Capability.ONE_VERSION})

    def get(self, ids, *, tenant=None):
        return {}


def run(recipe, query="?", how="run", top_k=None, knowledge=None):
    pipeline = Pipeline(recipe, knowledge or Nowhere())
    return pipeline.run(query, top_k=top_k) if how == "run" else asyncio.run(pipeline.run_async(query, top_k=top_k))


def ids(result):
    return [hit.id for hit in result.hits]


both = pytest.mark.parametrize("how", ["run", "run_async"])


@both
def test_sources_are_fused_and_stages_applied_in_order(how):
    recipe = Recipe(
        name="r", sources={"one": Given(ids=("a", "b")), "two": Given(ids=("b", "c"))}, stages=(Shout(), Shout())
    )
    result = run(recipe, "ferry", how)
    assert ids(result) == ["b", "a", "c"]  # 1/62 + 1/61 > 1/61 > 1/62
    assert [receipt.stage for receipt in result.hits[0].receipts] == ["reciprocal_rank", "shout", "shout"]
    assert result.hits[0].receipts[-1].details == {"seen": "FERRY"}
    assert result.failures == {}
    assert result.plan.sources == ("one", "two")
    assert set(result.timings) == {"one", "two", "reciprocal_rank", "shout", "total"}
    assert result.timings["total"] >= max(seconds for step, seconds in result.timings.items() if step != "total")


@both
def test_both_ways_to_run_give_the_same_answer(kb, how):
    expected = Pipeline("hybrid", kb).run("tide gate at Hallow").hits
    assert run("hybrid", "tide gate at Hallow", how, knowledge=kb).hits == expected
    assert len(expected) == 5


@both
def test_sources_of_a_wave_run_side_by_side(how):
    meeting = threading.Barrier(3, timeout=10)

    class Meeting(Given):
        def search(self, query, knowledge, upstream=None):
            meeting.wait()  # passes only if all three are here at the same time
            return super().search(query, knowledge, upstream)

    recipe = Recipe(
        name="r",
        sources={
            "one": Meeting(ids=("a",)),
            "two": Meeting(ids=("b",)),
            "three": Meeting(ids=("c",), deadline_seconds=30),
        },
    )
    assert sorted(ids(run(recipe, how=how))) == ["a", "b", "c"]


@both
def test_sources_in_memory_run_one_after_the_other_in_one_thread(how):
    threads, running = set(), []

    class InMemory(Given):
        in_memory: ClassVar[bool] = True

        def search(self, query, knowledge, upstream=None):
            threads.add(threading.get_ident())
            running.append("start")
            found = super().search(query, knowledge, upstream)
            running.append("end")
            return found

    recipe = Recipe(
        name="r",
        sources={
            "one": InMemory(ids=("a",), takes_seconds=0.02),
            "two": InMemory(ids=("b",), takes_seconds=0.02),
            "slow": Given(ids=("c",), takes_seconds=0.01),
            "bad": InMemory(fails=True, optional=True),
        },
    )
    result = run(recipe, how=how)
    assert sorted(ids(result)) == ["a", "b", "c"]
    assert result.failures.keys() == {"bad"}
    assert len(threads) == 1
    assert running == ["start", "end", "start", "end", "start"]


@both
def test_a_source_gets_the_hits_of_those_it_needs(how):
    walk = Given(ids=("c",), after=("text", "vector"))
    recipe = Recipe(
        name="r", sources={"walk": walk, "text": Given(ids=("a",)), "vector": Given(ids=("b",)), "x": Given()}
    )
    run(recipe, how=how)
    assert walk.asked == [(50, {"text": ["a"], "vector": ["b"]})]


@both
def test_an_optional_source_that_fails_is_left_out_and_reported(how):
    recipe = Recipe(
        name="r",
        sources={
            "good": Given(ids=("a",)),
            "bad": Given(ids=("b",), fails=True, optional=True),
            "walk": Given(ids=("c",), after=("bad", "good")),
        },
    )
    result = run(recipe, how=how)
    assert ids(result) == ["a", "c"]
    assert result.failures == {"bad": "ConnectionError"}
    assert recipe.sources["walk"].asked == [(50, {"good": ["a"]})]


@both
def test_what_others_errors_say_is_in_the_debug_log_alone(how, caplog):
    recipe = Recipe(name="r", sources={"good": Given(ids=("a",)), "bad": Given(fails=True, optional=True)})
    with caplog.at_level(logging.DEBUG, logger="hopweave"):
        result = run(recipe, how=how)
    assert "the line is dead" not in str(result.as_dict())
    assert "the line is dead" not in "".join(one.getMessage() for one in caplog.records if one.levelno > logging.DEBUG)
    logged = [one for one in caplog.records if one.levelno == logging.DEBUG and one.exc_info]
    assert [(one.getMessage(), str(one.exc_info[1])) for one in logged] == [
        ("optional source 'bad' failed", "the line is dead")
    ]


def test_a_pipeline_within_a_pipeline_hands_on_no_more():
    class Inner(Given):
        def search(self, query, knowledge, upstream=None):
            return list(run(Recipe(name="inner", sources={"bad": Given(fails=True)})).hits)

    recipe = Recipe(name="r", sources={"good": Given(ids=("a",)), "inner": Inner(optional=True)})
    assert run(recipe).failures == {"inner": "SourceFailed"}


@both
def test_a_required_source_that_fails_fails_the_question(how):
    recipe = Recipe(name="r", sources={"good": Given(ids=("a",)), "bad": Given(fails=True)})
    with pytest.raises(SourceFailed, match="source 'bad' failed: ConnectionError: the line is dead") as caught:
        run(recipe, how=how)
    assert isinstance(caught.value.__cause__, ConnectionError)


@both
def test_a_deadline_holds(how):
    slow = Given(ids=("b",), takes_seconds=20.0, deadline_seconds=0.1, optional=True)
    started = time.perf_counter()
    result = run(Recipe(name="r", sources={"fast": Given(ids=("a",)), "slow": slow}), how=how)
    assert time.perf_counter() - started < 10
    assert ids(result) == ["a"]
    assert result.failures == {"slow": "SourceTimeout: no answer within 0.1 s"}


@both
def test_a_required_source_must_meet_its_deadline(how):
    with pytest.raises(SourceFailed, match=r"source 'slow' failed: SourceTimeout: no answer within 0\.05 s"):
        run(Recipe(name="r", sources={"slow": Given(takes_seconds=5.0, deadline_seconds=0.05)}), how=how)


@both
def test_a_source_in_time_is_not_hurt_by_its_deadline(how):
    assert ids(run(Recipe(name="r", sources={"s": Given(ids=("a",), deadline_seconds=30)}), how=how)) == ["a"]


def test_a_source_that_hangs_does_not_keep_the_program_from_ending():
    program = """
import asyncio, time
from typing import Literal
from hopweave.component import Source
from hopweave.graph.build.resolve import resolve
from hopweave.graph.external_documents import ExternalDocuments
from hopweave.pipeline import Pipeline
from hopweave.recipe import Recipe
class Stuck(Source):
    kind: Literal["stuck"] = "stuck"
    def search(self, query, knowledge, upstream=None):
        time.sleep(60)
pipeline = Pipeline(Recipe(name="r", sources={"s": Stuck(deadline_seconds=0.05, optional=True)}),
                    ExternalDocuments(resolve([]).graph(), lambda ids: []))
print(pipeline.run("?").failures, asyncio.run(pipeline.run_async("?")).failures)
"""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=30, check=True)
    assert ran.stdout.count("no answer within 0.05 s") == 2
    assert ran.stderr == ""


def test_cancelling_a_question_cancels_its_sources():
    cancelled = []
    asked = asyncio.Event()

    class Waiting(Given):
        async def search_async(self, query, knowledge, upstream=None):
            asked.set()
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                cancelled.append(True)
                raise

    async def ask_and_leave():
        question = asyncio.ensure_future(Pipeline(Recipe(name="r", sources={"w": Waiting()}), Nowhere()).run_async("?"))
        await asked.wait()
        question.cancel()
        with pytest.raises(asyncio.CancelledError):
            await question
        await asyncio.sleep(0)

    asyncio.run(ask_and_leave())
    assert cancelled == [True]


NUMBERS = tuple(str(number) for number in range(400))


@both
def test_a_source_is_asked_for_more_until_enough_of_its_hits_pass(how):
    source = Given(ids=NUMBERS, top_k=5)
    result = run(
        Recipe(name="r", sources={"s": source}, top_k=10),
        Query("?", filters=lambda hit: int(hit.id) >= 100),
        how,
    )
    assert ids(result) == [str(number) for number in range(100, 110)]
    assert [top_k for top_k, _ in source.asked] == [10, 30, 90, 270]  # 270 is the first to reach 110


@both
def test_hits_that_may_not_be_returned_can_lead_to_others(how):
    follow = Given(ids=("7",), after=("s",))
    recipe = Recipe(name="r", sources={"s": Given(ids=NUMBERS, top_k=20), "follow": follow}, top_k=10)
    result = run(recipe, Query("?", filters={"even": True}), how)
    (upstream,) = [upstream["s"] for _, upstream in follow.asked]
    # twenty hits as without filters, and further ones until twenty pass
    assert upstream == [str(number) for number in (*range(20), *range(20, 40, 2))]
    assert ids(result) == [str(number) for number in range(0, 20, 2)]


def test_what_is_found_may_include_what_filters_exclude():
    pipeline = Pipeline(Recipe(name="r", sources={"s": Given(ids=NUMBERS, top_k=4)}, top_k=4), Nowhere())
    query = Query("?", filters={"even": True})
    assert [hit.id for hit in pipeline.find(query).hits] == ["0", "2", "4", "6"]
    assert [hit.id for hit in pipeline.find(query, filtered=False).hits] == ["0", "1", "2", "3", "4", "6"]


@both
def test_filters_stop_when_a_source_has_no_more(how):
    source, small = Given(ids=NUMBERS), Given(ids=("1", "3"))
    recipe = Recipe(name="r", sources={"s": source, "small": small}, top_k=10)
    result = run(recipe, Query("?", filters={"even": "never"}), how)
    assert ids(result) == []
    assert [top_k for top_k, _ in source.asked] == [50, 150, 450]
    assert [top_k for top_k, _ in small.asked] == [50]  # gave all it had the first time


def test_a_source_that_gives_more_than_it_was_asked_for_loses_nothing():
    class Generous(Given):
        def search(self, query, knowledge, upstream=None):
            return Given(ids=self.ids, top_k=len(self.ids)).search(query, knowledge)

    pipeline = Pipeline(Recipe(name="r", sources={"s": Generous(ids=NUMBERS, top_k=10)}), Nowhere())
    assert len(pipeline.find(Query("?", filters={"even": True})).hits) == 200


@both
def test_a_fault_of_a_filter_is_not_taken_for_one_of_an_optional_source(how):
    def broken(hit):
        raise ValueError("filters: broken")

    recipe = Recipe(name="r", sources={"s": Given(ids=NUMBERS, optional=True), "t": Given(ids=("1",), optional=True)})
    with pytest.raises(ValueError, match="filters: broken"):
        run(recipe, Query("?", filters=broken), how)


@both
def test_a_failed_source_is_not_asked_again(how):
    bad = Given(fails=True, optional=True)
    recipe = Recipe(name="r", sources={"s": Given(ids=NUMBERS), "bad": bad}, top_k=10)
    run(recipe, Query("?", filters={"even": "never"}), how)
    assert len(bad.asked) == 1


def test_filters_work_on_a_real_knowledge_base():
    with KnowledgeBase.open(embedder=None) as kb:
        kb.add(Document(f"d{number}", "ferry " * (1 + number % 7), {"n": number}) for number in range(300))
        recipe = Recipe(name="r", sources={"t": BM25(top_k=5)})
        result = Pipeline(recipe, kb).run(Query("ferry", filters={"n": {"gte": 297}}))
        assert sorted(ids(result)) == ["d297", "d298", "d299"]


@both
def test_nobody_sees_another_tenants_documents(how):
    with KnowledgeBase.open() as kb:
        kb.add(Document(f"{who}{n}", f"secret ferry {n}", {"owner": who}) for who in ("ann", "bob") for n in range(30))
        result = run("hybrid", Query("secret ferry", tenant={"owner": "bob"}), how, 60, kb)
        assert len(result.hits) == 30
        assert {hit.metadata["owner"] for hit in result.hits} == {"bob"}
        assert run("hybrid", Query("secret ferry", tenant={"owner": "eve"}), how, None, kb).hits == ()


@both
@pytest.mark.parametrize(("top_k", "expected"), [(None, 10), (1, 1), (3, 3), (100, 100), (1000, 400)])
def test_top_k_overrides_that_of_the_recipe_and_reaches_the_sources(how, top_k, expected):
    assert len(run(Recipe(name="r", sources={"s": Given(ids=NUMBERS, top_k=5)}), "?", how, top_k).hits) == expected


@both
@pytest.mark.parametrize("top_k", [0, -1])
def test_a_top_k_below_one_is_refused_and_not_taken_for_none(how, top_k):
    with pytest.raises(ValueError, match=f"top_k: must be a whole number of at least 1, but got {top_k}"):
        run(Recipe(name="r", sources={"s": Given()}), "?", how, top_k)


@both
def test_a_plan_says_which_sources_run(how):
    text, vector = Given(ids=("a",)), Given(ids=("b",))
    recipe = Recipe(name="r", sources={"text": text, "vector": vector})
    result = run(recipe, Query("?", plan=Plan(("vector",), reason="asked for")), how)
    assert ids(result) == ["b"]
    assert (text.asked, result.plan.reason) == ([], "asked for")


@both
def test_a_gate_that_stays_shut_asks_nobody(how):
    source = Given(ids=("a",))
    recipe = Recipe(name="r", gate=Gate(), sources={"s": source}, stages=(Shout(),))
    shut, opened = run(recipe, "thanks!", how), run(recipe, "Do you remember the name of the ferry?", how)
    assert (shut.hits, shut.gate.retrieve) == ((), False)
    assert (ids(opened), opened.gate.retrieve) == (["a"], True)
    assert len(source.asked) == 1


def test_an_intent_is_found_unless_the_question_brings_one():
    recipe = Recipe(name="r", intent=IntentClassifier(), sources={"s": Given(ids=("a",))})
    assert run(recipe, "why does the build crash with an error?").query.intent.name == "debugging"
    assert run(recipe, Query("why does it crash?", intent=Intent("mine"))).query.intent.name == "mine"


def test_the_result_is_json(kb):
    data = json.loads(json.dumps(Pipeline("hybrid", kb).run("ferry").as_dict()))
    assert data["query"] == "ferry"
    assert data["hits"][0]["receipts"][-1]["stage"] == "trust_weighted"
    assert data["plan"]["sources"] == ["text", "vector", "evidence"]


def test_nothing_found_is_an_empty_answer():
    assert run(Recipe(name="r", sources={"s": Given()})).hits == ()


# The cache


def cached(ids=("a",), **how):
    source = Given(ids=ids, **how)
    return source, Pipeline(Recipe(name="r", sources={"s": source}), Nowhere(), cache=QueryCache())


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_question_asked_twice_is_answered_once(asynchronous):
    source, pipeline = cached()
    ask = (lambda text: asyncio.run(pipeline.run_async(text))) if asynchronous else pipeline.run
    assert ask("?") is ask("?")
    assert len(source.asked) == 1
    assert ids(ask("!")) == ["a"]
    assert len(source.asked) == 2


NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    "other",
    [
        Query("!", now=NOW),
        Query("?", now=NOW + timedelta(days=1)),
        Query("?", now=NOW, filters={"even": True}),
        Query("?", now=NOW, tenant={"owner": "bob"}),
        Query("?", now=NOW, intent=Intent("debugging")),
        Query("?", now=NOW, plan=Plan(("s",), reason="other")),
    ],
)
def test_questions_that_differ_anywhere_do_not_share_an_answer(other):
    _, pipeline = cached()
    first = pipeline.run(Query("?", now=NOW))
    assert pipeline.run(Query("?", now=NOW)) is first
    assert pipeline.run(other) is not first
    assert pipeline.run(Query("?", now=NOW), top_k=3) is not first


def test_a_filter_function_is_never_cached():
    source, pipeline = cached()
    for _ in range(2):
        pipeline.run(Query("?", filters=lambda hit: True))
    assert len(source.asked) == 2


def test_an_answer_with_a_failure_is_not_kept():
    source, pipeline = cached(fails=True, optional=True)
    for _ in range(2):
        assert pipeline.run("?").failures
    assert len(source.asked) == 2


def test_pipelines_may_share_a_cache():
    cache = QueryCache()
    one = Pipeline(Recipe(name="r", sources={"s": Given(ids=("a",))}), Nowhere(), cache=cache)
    other = Pipeline(Recipe(name="r", sources={"s": Given(ids=("a",))}), Nowhere(), cache=cache)
    assert one.run("?") is not other.run("?")
    assert len(cache) == 2


def test_a_place_that_does_not_say_when_its_documents_change_has_no_cache(kb):
    elsewhere = ExternalDocuments(None, lambda ids: kb.get(ids).values(), index=kb)
    with pytest.raises(MissingCapability, match="a cache of answers is not allowed with ExternalDocuments"):
        Pipeline("hybrid", elsewhere, cache=QueryCache())
    with pytest.raises(MissingCapability, match="a cache of answers is not allowed with ExternalDocuments"):
        FederatedPipeline("hybrid", {"own": kb, "elsewhere": elsewhere}, cache=QueryCache())
    assert Pipeline("hybrid", elsewhere).run("lighthouse").hits


def test_any_write_makes_old_answers_unreachable(kb):
    pipeline = Pipeline("hybrid", kb, cache=QueryCache())
    before = pipeline.run("lighthouse")
    assert pipeline.run("lighthouse") is before
    kb.add([Document("light", "The lighthouse of Great Tern.")])
    assert ids(pipeline.run("lighthouse"))[0] == "light"
    kb.delete(["light"])
    assert "light" not in ids(pipeline.run("lighthouse"))


def test_confidence_is_in_the_result_and_comes_from_before_the_stages(kb):
    sure = Pipeline("hybrid", kb).run("When does the tide gate at Hallow open?")
    unsure = Pipeline("hybrid", kb).run("What is the capital of Mongolia?")
    assert 0 < unsure.confidence < 0.15 < sure.confidence < 1
    assert sure.emptied_by is None
    assert sure.as_dict()["confidence"] == sure.evidence.as_dict()
    assert sure.confidence == confidence(Pipeline("hybrid", kb).find(sure.query).hits, sure.query.text).probability
    assert Pipeline("hybrid", kb).find("What is the capital of Mongolia?").confidence == unsure.confidence
    cut = load_recipe("hybrid").model_copy(update={"stages": (ScoreThreshold(min_score=1.0),)})
    assert Pipeline(cut, kb).run(sure.query).confidence == sure.confidence


def test_the_stage_that_dropped_all_hits_is_named(kb):
    recipe = load_recipe("hybrid").model_copy(update={"stages": (ConfidenceThreshold(), ScoreThreshold())})
    for result in (
        Pipeline(recipe, kb).run("What is the capital of Mongolia?"),
        asyncio.run(Pipeline(recipe, kb).run_async("What is the capital of Mongolia?")),
    ):
        assert (result.hits, result.emptied_by) == ((), "confidence_threshold")
        assert result.as_dict()["emptied_by"] == "confidence_threshold"
    assert Pipeline(recipe, kb).run("When does the tide gate at Hallow open?").hits


def test_what_was_not_looked_up_has_no_confidence(kb):
    result = Pipeline("memory", kb).run("thanks!")
    assert (result.hits, result.confidence) == ((), None)
