import numpy as np
import pytest

from hopweave.errors import InvalidScore
from hopweave.hit import Hit
from hopweave.stages.adjust.adjusted import adjusted


def halve(hit, score):
    return score / 2, {"factor": 0.5}


def same(hit, score):
    return score, {}


def test_empty():
    assert adjusted([], "halve", halve) == []


def test_sorts_best_first_and_leaves_a_receipt():
    hits = [Hit("a", 0.2), Hit("b", 0.8)]
    result = adjusted(hits, "halve", halve)
    assert [(hit.id, hit.score) for hit in result] == [("b", 0.4), ("a", 0.1)]
    assert result[0].receipts[-1].as_dict() == {
        "stage": "halve",
        "before": 0.8,
        "after": 0.4,
        "details": {"factor": 0.5},
    }
    assert [(hit.id, hit.score, hit.receipts) for hit in hits] == [("a", 0.2, ()), ("b", 0.8, ())]


def test_without_a_change_the_order_stays():
    result = adjusted([Hit("a", 0.2), Hit("b", 0.8)], "same", same)
    assert [hit.id for hit in result] == ["a", "b"]


def test_untouched_hits_have_no_receipt():
    result = adjusted([Hit("a", 0.2)], "none", lambda hit, score: None)
    assert result[0].receipts == ()


def test_none_is_not_zero():
    result = adjusted([Hit("a"), Hit("b", 0.8)], "halve", halve)
    assert [(hit.id, hit.score) for hit in result] == [("b", 0.4), ("a", None)]
    assert result[1].receipts[-1].details == {"note": "no score to adjust"}


def test_ties_keep_their_order_and_duplicates_count_once():
    result = adjusted([Hit("b", 0.4), Hit("a", 0.4), Hit("b", 0.9)], "halve", halve)
    assert [(hit.id, hit.score) for hit in result] == [("b", 0.2), ("a", 0.2)]


def test_clamp():
    result = adjusted([Hit("a", 0.8)], "double", lambda hit, score: (score * 2, {}), clamp=True)
    assert result[0].score == 1.0
    assert result[0].receipts[-1].details == {"clamped_from": 1.6}


def test_receipts_hold_plain_numbers():
    result = adjusted([Hit("a", np.float32(0.5))], "halve", halve)
    assert type(result[0].score) is float


def test_open_ended_scores_become_shares_when_bounded():
    hits = [Hit("a", 8.0, scale="positive"), Hit("b", 2.0, scale="positive")]
    result = adjusted(hits, "same", same, bounded=True)
    assert [hit.score for hit in result] == [8 / 8, 2 / 8]
    assert result[1].receipts[0].details == {"formula": "score / best score"}
    assert [hit.score for hit in adjusted(hits, "same", same)] == [8.0, 2.0]


def test_unknown_scores_are_only_shares_when_above_one():
    assert [hit.score for hit in adjusted([Hit("a", 4.0), Hit("b", 1.0)], "same", same, bounded=True)] == [1.0, 0.25]
    assert [hit.score for hit in adjusted([Hit("a", 0.4), Hit("b", 0.1)], "same", same, bounded=True)] == [0.4, 0.1]


@pytest.mark.parametrize("score", [float("nan"), float("inf"), -float("inf")])
def test_a_bad_score_is_an_error_that_names_the_hit(score):
    with pytest.raises(InvalidScore, match="hit 'bad'"):
        adjusted([Hit("a", 0.5), Hit("bad", score)], "halve", halve)
