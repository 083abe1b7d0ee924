import pytest

from hopweave.fusion.confirmatory import Confirmatory
from hopweave.fusion.reciprocal_rank import ReciprocalRank
from hopweave.fusion.weighted import Weighted
from hopweave.hit import Hit, Receipt
from hopweave.query import Query
from hopweave.report.parts import Part, later_stages, score_parts

RANKINGS = {
    "text": [Hit("a", 4.0).rescored(4.0, "bm25", rank=1), Hit("b", 2.0).rescored(2.0, "bm25", rank=2)],
    "vector": [Hit("b", 0.8).rescored(0.8, "vector", rank=1)],
}


def by_id(fuser):
    return {hit.id: hit for hit in fuser.fuse(RANKINGS, Query("ferries"))}


def test_weighted_parts_are_those_of_the_receipt():
    hit = by_id(Weighted(weights={"text": 0.25, "vector": 0.75}, normalisation="max"))["b"]
    assert score_parts(hit) == [
        Part("text", 0.25 * 2 / 4),
        Part("vector", 0.75 * 0.8),
    ]  # a single hit keeps its strength
    assert sum(part.amount for part in score_parts(hit)) == pytest.approx(hit.score)


def test_a_signal_that_gave_nothing_is_left_out():
    hit = by_id(Weighted(weights={"text": 0.25, "vector": 0.75}, normalisation="max"))["a"]
    assert score_parts(hit) == [Part("text", 0.25)]


def test_reciprocal_rank_parts_add_up():
    hit = by_id(ReciprocalRank(k=10, weights={"vector": 2.0}))["b"]
    assert score_parts(hit) == [Part("text", 1 / (10 + 2)), Part("vector", 2 / (10 + 1))]
    assert by_id(ReciprocalRank(weights={"vector": 0.0}))["b"].score == pytest.approx(1 / 62)
    assert score_parts(by_id(ReciprocalRank(weights={"vector": 0.0}))["b"]) == [Part("text", 1 / 62)]


def test_confirmation_is_a_part_of_its_own():
    hits = by_id(Confirmatory())
    assert [part.signal for part in score_parts(hits["b"])] == ["base", "confirmed by text"]
    assert [part.amount for part in score_parts(hits["b"])] == pytest.approx([0.8, 0.8 * 0.15])
    assert score_parts(hits["a"]) == [Part("text", 1.0)]  # found by text alone: max(1, min_score 0.5)


def test_a_bonus_that_was_cut_off_counts_as_far_as_it_got():
    fused = Confirmatory().fuse({"vector": [Hit("a", 0.9)], "text": [Hit("a", 1.0)]}, Query("x"))
    assert [part.amount for part in score_parts(fused[0])] == pytest.approx([0.9, 0.1])  # 1.035 clamped to 1


def test_the_last_fuser_counts_and_later_stages_do_not():
    hit = by_id(ReciprocalRank(k=10))["b"].rescored(0.9, "freshness", decay=0.5)
    assert score_parts(hit) == [Part("text", 1 / 12), Part("vector", 1 / 11)]


def test_what_was_never_fused_is_one_part():
    assert score_parts(Hit("a", 4.0).with_receipt(Receipt("bm25", None, 4.0, {"rank": 1}))) == [Part("bm25", 4.0)]
    assert score_parts(Hit("a", 4.0)) == []
    assert score_parts(Hit("a").with_receipt(Receipt("bm25", None, None))) == []


def test_no_score_no_parts():
    unscored = Confirmatory().fuse({"vector": [Hit("a")]}, Query("x"))
    assert score_parts(unscored[0]) == []


def test_a_foreign_stage_with_a_fusers_details_is_no_fuser():
    found = Hit("a").with_receipt(Receipt("vector", None, 0.8))
    assert score_parts(found.rescored(0.5, "top", k=3, signals={})) == [Part("vector", 0.8)]


def test_later_stages_are_those_that_changed_the_score():
    hit = by_id(ReciprocalRank())["b"]
    assert later_stages(hit) == later_stages(Hit("a")) == []
    kept = hit.rescored(hit.score, "deferral")
    assert later_stages(kept) == []
    assert later_stages(kept.rescored(0.5, "scale").rescored(0.6, "boost").rescored(0.7, "boost")) == ["scale", "boost"]
