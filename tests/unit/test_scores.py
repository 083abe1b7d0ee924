import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopweave.errors import InvalidScore
from hopweave.hit import Hit
from hopweave.scores import (
    ScoreDistribution,
    as_unit,
    best,
    best_and_ties,
    checked,
    first,
    normalised,
    ranked,
    sigmoid,
    top_ids,
)

NUMBERS = st.floats(-1e6, 1e6, allow_nan=False)


def test_checked_keeps_the_first_of_each_id():
    hits = [Hit("a", 1.0), Hit("b"), Hit("a", 2.0)]
    assert checked(hits) == [Hit("a", 1.0), Hit("b")]
    assert checked([]) == []
    assert checked(iter(hits)) == [Hit("a", 1.0), Hit("b")]


@pytest.mark.parametrize("score", [math.nan, math.inf, -math.inf, np.float32("nan")])
def test_checked_names_the_hit_whose_score_is_no_number(score):
    with pytest.raises(InvalidScore, match="hit 'bad' has score"):
        checked([Hit("good", 1.0), Hit("bad", score)])


def test_checked_looks_at_repeated_hits_too():
    with pytest.raises(InvalidScore, match="'a'"):
        checked([Hit("a", 1.0), Hit("a", math.nan)])


def test_ranked_keeps_the_order_of_equals_and_puts_unknown_last():
    hits = [Hit("n1"), Hit("b", 0.0), Hit("c", 1.0), Hit("a", 0.0), Hit("n2"), Hit("d", -1.0)]
    assert [hit.id for hit in ranked(hits)] == ["c", "b", "a", "d", "n1", "n2"]
    assert ranked([]) == []


def test_top_ids_breaks_ties_by_best_rank_then_id():
    scores = {"d": 1.0, "c": 1.0, "b": 1.0, "a": 0.5}
    assert [key for key, _ in top_ids(scores, {"a": 1, "b": 3, "c": 2, "d": 2})] == ["c", "d", "b", "a"]
    assert top_ids(scores, {"a": 1, "b": 3, "c": 2, "d": 2}, 1) == [("c", 1.0)]
    assert top_ids({}, {}) == []


@pytest.mark.parametrize(
    ("scores", "method", "expected"),
    [
        ([], "min_max", []),
        ([4, 3, 2], "min_max", [(4 - 2) / (4 - 2), (3 - 2) / (4 - 2), (2 - 2) / (4 - 2)]),
        ([-1, -3], "min_max", [1, 0]),
        ([0.7], "min_max", [0.7]),
        ([12], "min_max", [1]),
        ([0.3, 0.3], "min_max", [0.3, 0.3]),
        ([0, 0], "min_max", [1, 1]),
        ([-5], "min_max", [1]),
        ([4, 2, 0], "max", [4 / 4, 2 / 4, 0 / 4]),
        ([4, -2], "max", [1, 0]),
        ([-1, -2], "max", [0, 0]),
        ([0.7], "max", [0.7]),
        ([0, 100], "sigmoid", [0.5, 1 / (1 + math.exp(-100))]),
        ([7, -3], "none", [7, -3]),
    ],
)
def test_normalised(scores, method, expected):
    assert normalised(scores, method) == pytest.approx(expected)


@given(st.lists(NUMBERS, max_size=20), st.sampled_from(["min_max", "max", "sigmoid"]))
def test_normalised_scores_lie_in_the_unit_range_in_the_same_order(scores, method):
    found = normalised(scores, method)
    assert all(0 <= one <= 1 for one in found)
    assert all(found[i] <= found[j] for i, low in enumerate(scores) for j, high in enumerate(scores) if low <= high)


@pytest.mark.parametrize("score", [-1e308, -1000.0, -700.0, -1.0, 0.0, 1.0, 1000.0, 1e308])
def test_sigmoid_never_overflows(score):
    assert 0 <= sigmoid(score) <= 1
    assert sigmoid(score) + sigmoid(-score) == pytest.approx(1)


def test_logits_and_cosines_become_unit_scores_with_a_receipt():
    logit, cosine = as_unit([Hit("a", -4.0, scale="logit"), Hit("b", -0.5, scale="cosine")])
    assert logit.score == pytest.approx(1 / (1 + math.exp(4)))
    assert cosine.score == pytest.approx((1 - 0.5) / 2)
    assert (logit.scale, cosine.scale) == ("unit", "unit")
    assert logit.receipts[-1].before == -4.0
    assert cosine.receipts[-1].details == {"formula": "(1 + cosine) / 2"}


def test_what_can_be_weighed_already_stays_as_it_is():
    hits = [Hit("a", 0.4, scale="unit"), Hit("b", 7.5, scale="positive"), Hit("c", 3.0), Hit("d", None, scale="logit")]
    assert as_unit(hits) == hits
    assert as_unit([]) == []


def test_a_scale_is_never_inferred_from_scores_without_a_negative_one():
    hits = [Hit("a", 14.0), Hit("b", 0.1), Hit("c", 0.0), Hit("d", 0.3, scale="unit")]
    assert as_unit(hits) == hits


@pytest.mark.parametrize("bounded", [False, True])
def test_scores_of_unknown_scale_keep_their_order_if_one_is_negative(bounded):
    hits = [Hit("a", 3.0), Hit("b", -1.0), Hit("c", -5.0), Hit("d", 0.3, scale="unit"), Hit("e")]
    found = as_unit(hits, bounded=bounded)
    assert [hit.score for hit in found] == [1.0, (-1 + 5) / (3 + 5), 0.0, 0.3, None]
    assert found[1].receipts[-1].as_dict() == {
        "stage": "scale",
        "before": -1.0,
        "after": 0.5,
        "details": {
            "formula": "(score - min) / (max - min)",
            "min": -5.0,
            "max": 3.0,
            "note": "scores of unknown scale, some of them negative",
        },
    }
    assert found[3:] == hits[3:]


def test_scores_that_can_be_cosines_keep_their_meaning():
    hits = [Hit("a", 0.9), Hit("b", 0.5), Hit("c", -0.01)]
    assert [round(hit.score, 2) for hit in as_unit(hits)] == [0.9, 0.5, 0.0]
    assert [hit.score for hit in as_unit([Hit("a", -0.25), Hit("b", -0.5)])] == [1.0, 0.0]  # none is above 0
    assert [hit.score for hit in as_unit([Hit("a", 1.5), Hit("b", -0.5)])] == [1.0, 0.0]


def test_a_single_negative_score_of_unknown_scale_is_the_best_there_is():
    assert [hit.score for hit in as_unit([Hit("a", -11.0)])] == [1.0]


def test_the_largest_scores_there_are_do_not_overflow():
    hits = [Hit("a", 1e308), Hit("b", 0.0), Hit("c", -1e308)]
    assert [hit.score for hit in as_unit(hits)] == [1.0, 0.5, 0.0]
    assert normalised([1e308, 0.0, -1e308]) == [1.0, 0.5, 0.0]


@given(st.lists(NUMBERS, min_size=2), st.booleans())
def test_converted_scores_keep_their_order(scores, bounded):
    found = [hit.score for hit in as_unit([Hit(str(n), one) for n, one in enumerate(scores)], bounded=bounded)]
    pairs = [*zip(scores, found, strict=True)]
    assert all(new <= other for old, new in pairs for before, other in pairs if old <= before)
    assert min(found) >= 0


def test_bounded_brings_open_ended_scores_to_shares_of_the_best():
    hits = [Hit("a", 8.0, scale="positive"), Hit("b", 2.0, scale="positive"), Hit("c", 0.9, scale="unit"), Hit("d")]
    assert [hit.score for hit in as_unit(hits, bounded=True)] == [8 / 8, 2 / 8, 0.9, None]


def test_best_orders_ties_by_position():
    scores = np.array([0.5, 0.9, 0.5, 0.9, 0.1])
    assert best(scores, 3).tolist() == [1, 3, 0]
    assert best(scores, 99).tolist() == [1, 3, 0, 2, 4]
    assert best(np.empty(0), 3).tolist() == []


@given(st.lists(st.integers(0, 5), max_size=30), st.integers(1, 40))
def test_best_and_ties_cuts_no_tie_in_two(scores, top_k):
    array = np.array(scores, float)
    found = best_and_ties(array, top_k)
    bar = sorted(scores, reverse=True)[top_k - 1] if top_k <= len(scores) else -1
    assert sorted(found.tolist()) == [place for place, score in enumerate(scores) if score >= bar]
    assert best(array, top_k).tolist() == sorted(range(len(scores)), key=lambda place: (-scores[place], place))[:top_k]


def test_the_first_hits():
    hits = (Hit("a"), Hit("b"))
    assert first(hits, None) == list(hits)
    assert first(hits, 1) == [Hit("a")]
    assert first(hits, 9) == list(hits)
    for top_k in (0, -1):
        with pytest.raises(ValueError, match=f"top_k: must be a whole number of at least 1, but got {top_k}"):
            first(hits, top_k)


def test_background_counts_documents_without_a_score_as_0():
    distribution = ScoreDistribution.of(np.array([3.0, 1.0], np.float32), documents=8)
    # mean 4 / 8, mean of squares 10 / 8
    assert distribution == (8, 0.5, pytest.approx(math.sqrt(1.25 - 0.25)))


def test_above_chance_is_the_surprisal_of_the_best_over_that_of_the_best_of_all():
    distribution = ScoreDistribution(documents=100, mean=0.2, deviation=0.1)
    assert distribution.above_chance(0.5, tail="normal") == pytest.approx(4.5 / math.log(100))  # z = 3
    assert distribution.above_chance(0.5, tail="cosine") == pytest.approx(0.75 * 4.5 / math.log(100))
    assert distribution.above_chance(0.5, tail="exponential") == pytest.approx(3 / math.log(100))
    assert distribution.above_chance(0.1, tail="normal") == 0.0


@pytest.mark.parametrize(
    "distribution", [ScoreDistribution(0, 0.0, 0.0), ScoreDistribution(9, 0.5, 0.0), ScoreDistribution(2, 0.5, 0.5)]
)
def test_without_other_documents_there_is_no_chance_to_compare_with(distribution):
    assert distribution.above_chance(1.0, tail="normal") is None


@pytest.mark.parametrize("documents", [100, 10_000])
def test_the_best_of_documents_drawn_at_random_is_about_chance(documents):
    chance = np.random.default_rng(15)
    for tail, draw in (("normal", chance.normal), ("exponential", chance.exponential)):
        ratios = []
        for _ in range(50):
            scores = draw(size=documents)
            ratios.append(ScoreDistribution.of(scores, documents).above_chance(float(scores.max()), tail=tail))
        assert 0.6 < np.mean(ratios) < 1.2
