import pytest
from pydantic import ValidationError

from hopweave.errors import InvalidScore
from hopweave.hit import Hit
from hopweave.query import Query
from hopweave.stages.filter.score_threshold import ScoreThreshold

QUERY = Query("ferries")


def kept(stage, hits):
    return [hit.id for hit in stage.apply(hits, QUERY)]


def test_drops_what_is_under_the_minimum():
    assert kept(ScoreThreshold(), [Hit("a", 0.36), Hit("b", 0.35), Hit("c", 0.34)]) == ["a", "b"]


def test_on_logits_it_means_probability():
    # sigmoid(0) = 0.5
    hits = [Hit("a", 0.01, scale="logit"), Hit("b", 0.0, scale="logit"), Hit("c", -0.01, scale="logit")]
    result = ScoreThreshold(min_score=0.5).apply(hits, QUERY)
    assert [hit.id for hit in result] == ["a", "b"]
    assert [hit.scale for hit in result] == ["unit", "unit"]


def test_on_open_ended_scores_it_means_a_share_of_the_best():
    # reciprocal ranks never reach 0.35 by themselves
    hits = [
        Hit("a", 2 / 61, scale="positive"),
        Hit("b", 1 / 61, scale="positive"),
        Hit("c", 0.5 / 61, scale="positive"),
    ]
    assert kept(ScoreThreshold(), hits) == ["a", "b"]


def test_the_order_stays():
    assert kept(ScoreThreshold(), [Hit("b", 0.4), Hit("a", 0.9)]) == ["b", "a"]


def test_none_is_not_zero():
    result = ScoreThreshold().apply([Hit("a"), Hit("b", 0.0)], QUERY)
    assert [hit.id for hit in result] == ["a"]
    assert result[0].receipts[-1].details == {"note": "no score to compare"}


def test_zero_keeps_everything_and_one_keeps_the_perfect():
    hits = [Hit("a", 1.0), Hit("b", 0.0)]
    assert kept(ScoreThreshold(min_score=0), hits) == ["a", "b"]
    assert kept(ScoreThreshold(min_score=1), hits) == ["a"]


def test_empty_duplicates_and_bad_scores():
    assert kept(ScoreThreshold(), []) == []
    assert kept(ScoreThreshold(), [Hit("a", 0.1), Hit("a", 0.9)]) == []
    with pytest.raises(InvalidScore, match="'a'"):
        kept(ScoreThreshold(), [Hit("a", float("nan"))])


@pytest.mark.parametrize("min_score", [-0.1, 1.1])
def test_bad_configuration(min_score):
    with pytest.raises(ValidationError, match="min_score"):
        ScoreThreshold(min_score=min_score)
