import json
from statistics import fmean

import numpy as np
import pytest

from hopweave.errors import RecipeError
from hopweave.evaluate.evaluate import evaluate, evaluate_one, single_source
from hopweave.fusion.weighted import Weighted
from hopweave.recipe import load_recipe
from hopweave.stages.filter.metadata_filter import MetadataFilter

from .conftest import judged

QUERIES = {"one": "ab", "two": "c"}


def test_by_hand(fixed, letters):
    recipe = fixed(text={"one": "axb", "two": "xyc"})
    report = evaluate(letters, [recipe], judged(**QUERIES), measures=["recall@2", "mrr@5"])
    (found,) = report.evaluations
    assert found.found == (("a", "x", "b"), ("x", "y", "c"))
    assert found.scores == {"recall@2": (1 / 2, 0.0), "mrr@5": (1.0, 1 / 3)}
    assert found.mean("recall@2") == fmean([1 / 2, 0])
    assert found.interval("recall@2") == (0.0, 0.5)


def test_by_intent(fixed, letters):
    questions = {"How do I fix the crash?": "a", "Why does it fail?": "b", "letters": "c"}
    recipe = fixed(text=dict.fromkeys(questions, "abc"))
    report = evaluate(letters, [recipe], judged(**questions), measures=["mrr@5", "recall@1"]).by_intent()
    assert {one.name: dict(one.scores) for one in report.evaluations} == {
        "fixed: debugging (2)": {"mrr@5": (1.0, 1 / 2), "recall@1": (1.0, 0.0)},
        "fixed: goal_based (1)": {"mrr@5": (1 / 3,), "recall@1": (0.0,)},
    }
    assert "fixed: debugging (2)" in str(report)


def test_recipes_are_asked_for_as_much_as_the_deepest_measure_looks_at(fixed, letters):
    recipe = fixed(text={"one": "axbcdefg"})
    assert evaluate_one(letters, recipe, judged(one="a"), measures=["recall@2", "mrr@7"]).found == (tuple("axbcdef"),)


def test_sources_alone(fixed, letters):
    recipe = fixed(text={"one": "ax", "two": "xy"}, vector={"one": "yb", "two": "cx"})
    report = evaluate(letters, [recipe], judged(**QUERIES), measures=["recall@2"], sources=True)
    assert {one.name: one.scores["recall@2"] for one in report.evaluations} == {
        "fixed": (1 / 2, 1.0),  # a and y are first in one; in two, x is in both and c first in one
        "fixed: text alone": (0.5, 0.0),
        "fixed: vector alone": (0.5, 1.0),
    }
    assert [one.name for one in report.evaluations] == ["fixed", "fixed: text alone", "fixed: vector alone"]


def test_a_single_source_needs_no_row_of_its_own(fixed, letters):
    report = evaluate(letters, [fixed(text={"one": "a"})], judged(one="a"), sources=True)
    assert [one.name for one in report.evaluations] == ["fixed"]


def test_a_source_alone_and_led_by_those_it_needs():
    recipe = load_recipe("multihop")
    rows = {label: one for name in recipe.sources for label, one in single_source(recipe, name).items()}
    assert {label: list(one.sources) for label, one in rows.items()} == {
        "text alone": ["text"],
        "vector alone": ["vector"],
        "graph alone": ["graph"],
        "graph led by text, vector": ["text", "vector", "graph"],
        "evidence led by text, vector, graph": ["text", "vector", "graph", "evidence"],
    }
    for label, one in rows.items():
        assert (one.fuse.kind, one.fuse.source, one.stages) == ("passthrough", label.split(" ")[0], ())
    assert list(single_source(load_recipe("weighted"), "graph")) == ["graph led by text, vector"]
    with pytest.raises(ValueError, match="source: 'lost' is not allowed: there are text, vector, graph, evidence"):
        single_source(recipe, "lost")


def test_alone_leaves_the_stages_out(fixed, letters):
    recipe = fixed(text={"one": "ab"}, vector={"one": "b"}, stages=(MetadataFilter(types=("vowel",)),))
    queries = judged(one="b")
    report = evaluate(letters, [recipe], queries, measures=["recall@2"], sources=True)
    assert [one.mean("recall@2") for one in report.evaluations] == [0.0, 1.0, 1.0]


def test_a_row_ranks_as_its_source_does(kb):
    recipe, query = load_recipe("multihop"), judged(q=["gate"])[0].query
    alone, led = (kb.search(query, recipe=one) for one in single_source(recipe, "graph").values())
    graph = recipe.sources["graph"]
    upstream = {name: recipe.sources[name].search(query, kb) for name in ("text", "vector")}
    assert [hit.id for hit in led.hits] == [hit.id for hit in graph.search(query, kb, upstream)][:10]
    assert [hit.id for hit in alone.hits] == [hit.id for hit in graph.without_upstream.search(query, kb)][:10]


def test_latency_percentiles_are_of_the_times_taken(fixed, letters):
    found = evaluate_one(letters, fixed(text={}), judged(**{f"q{n}": "a" for n in range(30)}))
    assert len(found.seconds) == 30
    assert list(found.latency_ms) == ["p50", "p95", "p99"]
    assert found.latency_ms["p95"] == pytest.approx(1000 * np.percentile(found.seconds, 95))
    assert 0 < found.latency_ms["p50"] <= found.latency_ms["p95"] <= found.latency_ms["p99"]


def test_every_query_is_searched_once_after_one_to_warm_up(fixed, letters):
    recipe = fixed(text={})
    evaluate_one(letters, recipe, judged(one="a", two="b"))
    assert recipe.sources["text"].searched == ["one", "one", "two"]


def test_filters_of_the_query_hold(fixed, letters):
    from hopweave.evaluate.queries import EvaluationQuery

    query = EvaluationQuery.read({"question": "one", "gold": ["b"], "filters": {"type": "consonant"}})
    assert evaluate_one(letters, fixed(text={"one": "aeb"}), [query]).found == (("b",),)


def test_strict_and_classes(fixed, letters):
    recipe, queries = fixed(text={"one": "bx"}), judged(one=[["a", "b"]])
    assert evaluate_one(letters, recipe, queries, measures=["recall@5"]).mean("recall@5") == 1.0
    assert evaluate_one(letters, recipe, queries, measures=["recall@5"], judging="strict").mean("recall@5") == 0.0


def test_table_markdown_and_json(fixed, letters):
    recipe = fixed(text={"one": "ab", "two": "c"})
    report = evaluate(letters, [recipe], judged(**QUERIES), measures=["recall@5"])
    head, row = str(report).splitlines()
    assert head.split() == ["recipe", "recall@5", "p50", "ms", "p95", "ms", "p99", "ms"]
    assert row.startswith("fixed   1.000 ±0.000")
    assert report.to_markdown().startswith(
        "| recipe | recall@5 | p50 ms | p95 ms | p99 ms |\n|---|---:|---:|---:|---:|\n| fixed |"
    )
    plain = json.loads(json.dumps(report.as_dict()))
    assert plain["queries"] == 2
    assert plain["recipes"]["fixed"]["recall@5"] == {"mean": 1.0, "low": 1.0, "high": 1.0}
    assert plain["warnings"] == ["only 2 judged queries: with fewer than 20, figures are not reliable"]


def test_per_query(fixed, letters):
    found = evaluate_one(letters, fixed(text={"one": "xa"}), judged(one=["a", ["b", "c"]]), measures=["recall@2"])
    (line,) = found.per_query()
    assert line.pop("ms") > 0
    assert line == {
        "recipe": "fixed",
        "id": "one",
        "question": "one",
        "intent": "goal_based",
        "gold": ["a", ["b", "c"]],
        "found": ["x", "a"],
        "recall@2": 0.5,
    }


def test_sources_that_had_no_part_are_reported(letters):
    report = evaluate(letters, ["hybrid"], judged(one="a", two="b"))  # this knowledge base has no vectors
    (warned,) = [warning for warning in report.warnings if "without" in warning]
    assert warned.startswith("hybrid: 2 of 2 queries without vector: KnowledgeBaseError: ")


def test_a_single_query_has_no_spread(fixed, letters):
    report = evaluate(letters, [fixed(text={"one": "a"})], judged(one="a"), measures=["recall@5"])
    assert report.evaluations[0].as_dict()["recall@5"] == {"mean": 1.0, "low": None, "high": None}
    assert "±" not in str(report)


def test_recipes_of_the_same_name_are_distinguished_by_their_files(tmp_path, letters):
    for file in ("first.yaml", "second.yaml"):
        (tmp_path / file).write_text("{name: words, sources: {text: {kind: bm25}}}")
    report = evaluate(letters, [tmp_path / "first.yaml", tmp_path / "second.yaml"], judged(one="a"))
    assert [one.name for one in report.evaluations] == ["words", str(tmp_path / "second.yaml")]
    with pytest.raises(ValueError, match="recipes: 'hybrid' comes twice"):
        evaluate(letters, ["hybrid", "hybrid"], judged(one="a"))


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"recipes": []}, "recipes: there must be at least one"),
        ({"judged": []}, "judged: there must be at least one"),
        ({"measures": []}, "measures: there must be at least one"),
        ({"measures": ["accuracy@5"]}, "measure: 'accuracy@5' is not allowed"),
    ],
)
def test_bad_input(letters, given, complaint):
    usual = {"recipes": ["hybrid"], "judged": judged(one="a"), "measures": ["recall@5"]} | given
    with pytest.raises(ValueError, match=complaint):
        evaluate(letters, usual.pop("recipes"), usual.pop("judged"), **usual)
    with pytest.raises(RecipeError, match="there is no recipe 'hybird'"):
        evaluate(letters, ["hybird"], judged(one="a"))


def test_an_embedded_knowledge_base_and_a_shipped_recipe(kb):
    queries = judged(**{"When does the tide gate open?": ["gate"], "the small ferry for the winter": ["petrel"]})
    report = evaluate(kb, ["hybrid", "multihop"], queries, measures=["mrr@10"])
    assert [one.mean("mrr@10") for one in report.evaluations] == [1.0, 1.0]


def test_what_is_handed_in_stays_as_it_is(fixed, letters):
    recipe = fixed(text={"one": "ab"}, vector={"one": "b"}, fuse=Weighted(weights={"text": 1, "vector": 1}))
    queries = judged(one="a")
    before = (recipe.as_dict(), list(queries))
    evaluate(letters, [recipe], queries, sources=True)
    assert (recipe.as_dict()["fuse"], queries) == (before[0]["fuse"], before[1])
