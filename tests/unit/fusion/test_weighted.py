import itertools
import json

import numpy as np
import pytest
from pydantic import ValidationError

from hopweave.errors import InvalidScore, RecipeError
from hopweave.fusion.weighted import Weighted
from hopweave.hit import Hit
from hopweave.query import Intent, Query

PLAIN = Query("ferries")
DEBUGGING = Query("why does it crash").understood(
    intent=Intent("debugging", {"embedding": 0.30, "text": 0.45, "graph": 0.20, "intent_edges": 0.05})
)

# strengths after min-max: vector a 1, b 0.5, c 0 · text b 1, d 0 · graph c 1, a 0.25, e 0 · intent_edges e 0.8
FOUR = {
    "vector": [Hit("a", 0.9), Hit("b", 0.7), Hit("c", 0.5)],
    "text": [Hit("b", 12.0), Hit("d", 2.0)],
    "graph": [Hit("c", 0.5), Hit("a", 0.2), Hit("e", 0.1)],
    "intent_edges": [Hit("e", 0.8)],
}


def scores(hits):
    return {hit.id: hit.score for hit in hits}


def signals(hit):
    return hit.receipts[-1].details["signals"]


def test_four_signals_with_the_weights_of_the_intent():
    fused = Weighted().fuse(FOUR, DEBUGGING)
    assert scores(fused) == pytest.approx(
        {
            "b": 0.30 * 0.5 + 0.45 * 1,
            "a": 0.30 * 1 + 0.20 * 0.25,
            "c": 0.30 * 0 + 0.20 * 1,
            "e": 0.20 * 0 + 0.05 * 0.8,
            "d": 0.45 * 0,
        }
    )
    assert [hit.id for hit in fused] == ["b", "a", "c", "e", "d"]
    assert {hit.scale for hit in fused} == {"unit"}


def test_the_method_names_the_signals_that_found_a_hit_in_the_order_of_the_weights():
    methods = {hit.id: hit.receipts[-1].details["method"] for hit in Weighted().fuse(FOUR, DEBUGGING)}
    assert methods == {
        "a": "embedding+graph",
        "b": "embedding+text",
        "c": "embedding+graph",
        "d": "text",
        "e": "graph+intent_edges",
    }
    unscored = Weighted().fuse({"vector": [Hit("a", 0.5)], "text": [Hit("a")]}, DEBUGGING)
    assert unscored[0].receipts[-1].details["method"] == "embedding"


def test_the_plain_profile_without_an_intent():
    fused = Weighted().fuse(FOUR, PLAIN)
    assert scores(fused) == pytest.approx(
        {"b": 0.40 * 0.5 + 0.45, "a": 0.40 + 0.15 * 0.25, "c": 0.15, "e": 0.0, "d": 0.0}
    )
    assert [hit.id for hit in fused][-2:] == ["e", "d"]  # both 0; e was first somewhere


def test_each_signal_is_explained():
    hit = next(hit for hit in Weighted().fuse(FOUR, DEBUGGING) if hit.id == "a")
    assert signals(hit) == {
        "embedding": {"source": "vector", "raw": 0.9, "normalised": 1.0, "weight": 0.30, "part": 0.30},
        "graph": {
            "source": "graph",
            "raw": 0.2,
            "normalised": pytest.approx(0.25),
            "weight": 0.20,
            "part": pytest.approx(0.05),
        },
        "intent_edges": {"source": None, "raw": None, "normalised": 0.0, "weight": 0.05, "part": 0.0},
        "text": {"source": None, "raw": None, "normalised": 0.0, "weight": 0.45, "part": 0.0},
    }
    assert hit.receipts[-1].details["intent"] == "debugging"
    assert hit.receipts[-1].details["normalisation"] == "min_max"
    assert hit.score == pytest.approx(sum(part["part"] for part in signals(hit).values()))


def test_a_missing_signal_is_shared_out_in_proportion():
    rankings = {name: FOUR[name] for name in ("vector", "text")}
    fused = Weighted().fuse(rankings, DEBUGGING)
    # 0.30 and 0.45 of 0.75
    assert scores(fused) == pytest.approx({"b": 0.4 * 0.5 + 0.6, "a": 0.4, "c": 0.0, "d": 0.0})
    assert fused[0].receipts[-1].details["missing_signals"] == ["graph", "intent_edges"]
    assert signals(fused[0])["text"]["weight"] == pytest.approx(0.6)


def test_a_source_that_found_nothing_is_not_missing():
    rankings = {"vector": FOUR["vector"], "text": []}
    fused = Weighted().fuse(rankings, DEBUGGING)
    assert scores(fused)["a"] == pytest.approx(0.4)
    assert fused[0].receipts[-1].details["missing_signals"] == ["graph", "intent_edges"]


def test_own_weights_by_source_name():
    fused = Weighted(weights={"text": 3, "vector": 1}).fuse({"text": FOUR["text"], "vector": FOUR["vector"]}, DEBUGGING)
    assert scores(fused) == pytest.approx({"b": 0.75 + 0.25 * 0.5, "a": 0.25, "c": 0, "d": 0})
    assert "intent" not in fused[0].receipts[-1].details
    alone = Weighted(weights={"text": 3, "vector": 1}).fuse({"text": FOUR["text"]}, PLAIN)
    assert scores(alone) == pytest.approx({"b": 1.0, "d": 0.0})
    assert alone[0].receipts[-1].details["missing_signals"] == ["vector"]


def test_weight_zero_is_a_weight():
    fused = Weighted(weights={"text": 0, "vector": 1}).fuse({"text": FOUR["text"], "vector": FOUR["vector"]}, PLAIN)
    assert scores(fused) == pytest.approx({"a": 1, "b": 0.5, "c": 0, "d": 0})
    only = Weighted(weights={"text": 0, "vector": 1}).fuse({"text": FOUR["text"]}, PLAIN)
    assert scores(only) == {"b": 0.0, "d": 0.0}


def test_two_sources_of_one_signal_count_as_the_stronger():
    rankings = {
        "bm25": [Hit("a", 9.0), Hit("b", 5.0), Hit("c", 1.0)],  # 1, 0.5, 0
        "full_text": [Hit("c", 3.0), Hit("b", 2.4), Hit("a", 1.0)],  # 1, 0.7, 0
    }
    fused = Weighted().fuse(rankings, PLAIN)
    assert scores(fused) == pytest.approx({"a": 1.0, "c": 1.0, "b": 0.7})
    assert signals(fused[2])["text"]["source"] == "full_text"


def test_sources_of_other_names():
    fused = Weighted(signals={"faiss": "embedding"}).fuse({"faiss": FOUR["vector"], "text": FOUR["text"]}, PLAIN)
    assert signals(fused[0])["embedding"]["source"] == "faiss"
    with pytest.raises(RecipeError, match="source 'faiss' carries no signal"):
        Weighted().fuse({"faiss": FOUR["vector"]}, PLAIN)
    with pytest.raises(RecipeError, match="source 'graph' has no weight; weights has text"):
        Weighted(weights={"text": 1}).fuse({"graph": FOUR["graph"]}, PLAIN)
    assert Weighted(signals={"text": "graph"}).fuse({"text": FOUR["text"]}, PLAIN)[0].id == "b"


@pytest.mark.parametrize(
    ("normalisation", "expected"),
    [
        ("min_max", {"a": 1.0, "b": 0.5, "c": 0.0}),
        ("max", {"a": 1.0, "b": 0.75, "c": 0.5}),
        ("sigmoid", {"a": 1 / (1 + np.exp(-4)), "b": 1 / (1 + np.exp(-3)), "c": 1 / (1 + np.exp(-2))}),
        ("none", {"a": 4.0, "b": 3.0, "c": 2.0}),
    ],
)
def test_normalisation(normalisation, expected):
    fused = Weighted(normalisation=normalisation).fuse({"text": [Hit("a", 4), Hit("b", 3), Hit("c", 2)]}, PLAIN)
    assert scores(fused) == pytest.approx(expected)
    assert fused[0].scale == (None if normalisation == "none" else "unit")


def test_a_single_hit_and_equal_hits_keep_their_strength():
    assert scores(Weighted().fuse({"text": [Hit("a", 0.7)]}, PLAIN)) == {"a": 0.7}
    assert scores(Weighted().fuse({"text": [Hit("a", 9.0), Hit("b", 9.0)]}, PLAIN)) == {"a": 1.0, "b": 1.0}


def test_a_hit_without_a_score_is_not_a_hit_with_zero():
    rankings = {"text": [Hit("a"), Hit("b", 2.0), Hit("c", 1.0)], "vector": [Hit("a", 0.9), Hit("b", 0.1)]}
    fused = Weighted(weights={"text": 0.5, "vector": 0.5}).fuse(rankings, PLAIN)
    # text found a but cannot say how well: its weight goes to the vector for this hit
    assert scores(fused) == {"a": 1.0, "b": 0.5, "c": 0.0}
    assert fused[0].receipts[-1].details["unscored"] == ["text"]
    assert "unscored" not in fused[1].receipts[-1].details


def test_hits_that_nobody_scored_come_last_without_a_score():
    fused = Weighted().fuse({"text": [Hit("b"), Hit("a")], "vector": [Hit("c", 0.0), Hit("d", -1.0)]}, PLAIN)
    assert [(hit.id, hit.score is None) for hit in fused] == [("c", False), ("d", False), ("b", True), ("a", True)]


def test_order_of_names_does_not_matter():
    results = [
        Weighted().fuse({name: FOUR[name] for name in names}, DEBUGGING) for names in itertools.permutations(FOUR)
    ]
    assert all(result == results[0] for result in results)


def test_a_hit_twice_in_one_list_counts_once():
    fused = Weighted().fuse({"text": [Hit("a", 2.0), Hit("b", 1.0), Hit("a", 0.0)]}, PLAIN)
    assert scores(fused) == {"a": 1.0, "b": 0.0}


def test_ties_go_to_the_better_rank_then_the_id():
    fused = Weighted().fuse({"text": [Hit("c", 1.0), Hit("b", 1.0), Hit("a", 1.0)]}, PLAIN)
    assert [hit.id for hit in fused] == ["c", "b", "a"]


def test_empty():
    assert Weighted().fuse({}, PLAIN) == []
    assert Weighted().fuse({"text": []}, PLAIN) == []


def test_receipts_are_json_even_for_numpy_scores():
    fused = Weighted().fuse({"text": [Hit("a", np.float32(2.0)), Hit("b", np.float64(1.0))]}, DEBUGGING)
    json.dumps([hit.as_dict() for hit in fused])
    assert type(fused[0].score) is float


def test_nothing_is_mutated_and_nan_is_an_error():
    before = {name: list(hits) for name, hits in FOUR.items()}
    Weighted().fuse(FOUR, DEBUGGING)
    assert before == FOUR
    with pytest.raises(InvalidScore, match="'x'"):
        Weighted().fuse({"text": [Hit("x", float("inf"))]}, PLAIN)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"weights": {"text": -1}}, "weights.text"),
        ({"weights": {"text": float("nan")}}, "weights.text"),
        ({"weights": {"text": 0}}, "at least one weight must be above 0"),
        ({"weights": {}}, "at least one weight must be above 0"),
        ({"signals": {"text": "smell"}}, "signals.text"),
        ({"normalisation": "softmax"}, "normalisation"),
    ],
)
def test_bad_configuration(fields, message):
    with pytest.raises(ValidationError, match=message):
        Weighted(**fields)
