import math
from datetime import UTC, datetime

import pytest
from pydantic import ValidationError

from hopweave.hit import Hit
from hopweave.query import Query
from hopweave.scores import sigmoid
from hopweave.stages.adjust.freshness import Freshness

NOW = Query("ferries", now=datetime(2026, 4, 1, tzinfo=UTC))
NINETY_DAYS_AGO = "2026-01-01"


def convo(name, score, timestamp=NINETY_DAYS_AGO, corpus_type="CONVO_SLACK", **kwargs):
    metadata = {"corpus_type": corpus_type, "timestamp": timestamp}
    return Hit(name, score, metadata={key: value for key, value in metadata.items() if value is not None}, **kwargs)


def test_after_one_half_life():
    result = Freshness().apply([convo("a", 0.8)], NOW)
    assert result[0].score == pytest.approx(0.9 * 0.8 + 0.1 * 0.5)
    assert result[0].receipts[-1].details == {"age_days": 90.0, "decay": 0.5, "weight": 0.1}


@pytest.mark.parametrize("scores", [(-0.4, -11.0), (3.0, -8.0), (0.5, -0.5)])
def test_negative_scores_of_unknown_scale_do_not_lead_to_the_least_relevant(scores):
    best, worst = scores
    hits = [convo("best", best, "2020-01-01"), convo("worst", worst, "2026-04-01")]
    result = Freshness().apply(hits, NOW)
    assert [hit.id for hit in result] == ["best", "worst"]
    assert result[1].score == pytest.approx(0.9 * 0 + 0.1 * 1)


def test_scores_above_one_are_shares_of_the_best_also_where_freshness_does_not_apply():
    result = Freshness().apply([convo("a", 4.0), convo("code", 2.0, corpus_type="CODE_LOGIC")], NOW)
    assert [hit.score for hit in result] == [pytest.approx(0.9 * 1 + 0.1 * 0.5), 0.5]


def test_exponential():
    result = Freshness(decay="exponential").apply([convo("a", 0.8)], NOW)
    assert result[0].score == pytest.approx(0.9 * 0.8 + 0.1 * math.exp(-1))


def test_recent_before_old():
    result = Freshness().apply([convo("old", 0.5, "2025-04-01"), convo("new", 0.5, "2026-03-31")], NOW)
    assert [hit.id for hit in result] == ["new", "old"]


def test_other_corpora_are_left_alone():
    hits = [convo("code", 0.8, corpus_type="CODE_LOGIC"), convo("nothing", 0.7, corpus_type=None), Hit("x", 0.6)]
    result = Freshness().apply(hits, NOW)
    assert [(hit.id, hit.score, hit.receipts) for hit in result] == [
        ("code", 0.8, ()),
        ("nothing", 0.7, ()),
        ("x", 0.6, ()),
    ]


def test_corpus_types_are_patterns_and_none_means_all():
    hits = [convo("a", 0.8, corpus_type="DOC_README")]
    assert Freshness(corpus_types=("DOC_*",)).apply(hits, NOW)[0].score == pytest.approx(0.77)
    assert Freshness(corpus_types=None).apply([convo("a", 0.8, corpus_type=None)], NOW)[0].score == pytest.approx(0.77)
    assert Freshness(corpus_types=()).apply(hits, NOW)[0].score == 0.8
    assert Freshness(corpus_types=("CONVO_*",)).apply([convo("a", 0.8, corpus_type=7)], NOW)[0].score == 0.8


def test_other_field_names():
    hit = Hit("a", 0.8, metadata={"kind": "CONVO_X", "date": NINETY_DAYS_AGO})
    stage = Freshness(corpus_type_field="kind", timestamp_field="date")
    assert stage.apply([hit], NOW)[0].score == pytest.approx(0.77)


def test_the_future_is_fully_fresh():
    assert Freshness().apply([convo("a", 0.8, "2030-01-01")], NOW)[0].score == pytest.approx(0.9 * 0.8 + 0.1)


@pytest.mark.parametrize("timestamp", [None, "soon"])
def test_undated_keeps_its_score_and_says_so(timestamp):
    result = Freshness().apply([convo("a", 0.8, timestamp)], NOW)
    assert result[0].score == 0.8
    assert result[0].receipts[-1].details["note"].startswith("undated")


def test_weight_zero_changes_nothing():
    result = Freshness(weight=0).apply([convo("a", 0.3), convo("b", 0.8)], NOW)
    assert [(hit.id, hit.score) for hit in result] == [("a", 0.3), ("b", 0.8)]


def test_logits_are_converted_first():
    result = Freshness().apply([convo("a", -4.0, scale="logit")], NOW)
    assert result[0].score == pytest.approx(0.9 * sigmoid(-4) + 0.1 * 0.5)
    assert [receipt.stage for receipt in result[0].receipts] == ["scale", "freshness"]


def test_reciprocal_ranks_are_not_drowned():
    # 1/61 against a freshness of up to 0.1 would put any conversation first; shares of the best do not
    hits = [Hit("code", 2 / 61, scale="positive"), convo("chat", 1 / 61, "2026-04-01", scale="positive")]
    result = Freshness().apply(hits, NOW)
    assert [(hit.id, hit.score) for hit in result] == [("code", 1.0), ("chat", pytest.approx(0.9 * 0.5 + 0.1))]


def test_empty_none_scores_and_duplicates():
    assert Freshness().apply([], NOW) == []
    assert Freshness().apply([convo("a", None)], NOW)[0].score is None
    assert len(Freshness().apply([convo("a", 0.5), convo("a", 0.1)], NOW)) == 1


@pytest.mark.parametrize("fields", [{"weight": 1.1}, {"weight": -1}, {"half_life_days": 0}, {"decay": "linear"}])
def test_bad_configuration(fields):
    with pytest.raises(ValidationError, match=next(iter(fields))):
        Freshness(**fields)
