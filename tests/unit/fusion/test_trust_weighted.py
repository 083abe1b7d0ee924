"""Weights that follow the contrast of a ranking."""

import pytest

from hopweave.errors import InvalidScore, RecipeError
from hopweave.fusion.trust_weighted import TrustWeighted
from hopweave.hit import Hit, Receipt
from hopweave.query import Query
from hopweave.scores import contrast

ASKED = Query("ferries")


def ranking(*scores, trust=None):
    receipts = () if trust is None else (Receipt("pagerank", None, scores[0], {"trust": trust}),)
    return [Hit(name, score, receipts=receipts) for name, score in zip("abcdefghijkl", scores, strict=False)]


def test_contrast_compares_the_first_score_with_the_one_at_depth():
    assert contrast([8.0, 4.0, 2.0], depth=3) == pytest.approx(0.75)  # (8 - 2) / 8
    assert contrast([8.0, 4.0, 2.0], depth=2) == pytest.approx(0.5)
    assert contrast([0.9, 0.9, 0.9], depth=3) == 0.0


def test_ranks_beyond_the_end_count_nothing_and_negative_scores_have_no_contrast():
    assert contrast([3.0], depth=10) == 1.0
    assert contrast([]) == 0.0
    assert contrast([-0.1, -0.5], depth=2) == 0.0
    assert contrast([0.5, -0.5], depth=2) == 1.0


def test_shares_follow_the_square_of_the_contrast():
    shares = TrustWeighted(depth=2).shares({"text": ranking(2.0, 1.0), "vector": ranking(0.8, 0.6)})
    # contrasts 0.5 and 0.25: 0.25 to 0.0625
    assert shares == {"text": pytest.approx(0.8), "vector": pytest.approx(0.2)}


def stating(above, *scores):
    return [
        hit._replace(receipts=(Receipt("bm25", None, hit.score, {"above_chance": above}),)) for hit in ranking(*scores)
    ]


def test_shares_follow_how_far_the_best_hit_is_above_chance():
    rankings = {"text": stating(1.0, 2.0, 1.0), "vector": stating(2.0, 0.8, 0.6)}
    # 1⁴ · √0.5 to 2⁴ · √0.25
    total = 0.5**0.5 + 16 * 0.5
    shares = {"text": pytest.approx(0.5**0.5 / total), "vector": pytest.approx(8 / total)}
    assert TrustWeighted(depth=2).shares(rankings) == shares
    fused = TrustWeighted(depth=2).fuse(rankings, ASKED)
    assert fused[0].receipts[-1].details["evidence"]["vector"] == {"above_chance": 2.0, "contrast": 0.25}


def test_a_source_without_hits_says_so_and_changes_nothing():
    rankings = {"text": stating(1.0, 2.0, 1.0), "vector": stating(2.0, 0.8, 0.6)}
    fused = TrustWeighted(depth=2).fuse({**rankings, "graph": []}, ASKED)
    assert fused[0].receipts[-1].details["evidence"]["graph"] == {"hits": 0}
    plain = TrustWeighted(depth=2).fuse(rankings, ASKED)
    assert [(hit.id, hit.score) for hit in fused] == [(hit.id, hit.score) for hit in plain]


def test_unless_every_source_states_it_contrast_alone_counts():
    rankings = {"text": stating(3.0, 2.0, 1.0), "vector": ranking(0.8, 0.6)}
    assert TrustWeighted(depth=2).shares(rankings) == {"text": pytest.approx(0.8), "vector": pytest.approx(0.2)}


def test_a_prior_weight_multiplies_and_with_exponent_0_only_the_contrast_counts():
    rankings = {"text": ranking(2.0, 1.0), "vector": ranking(0.8, 0.6)}
    assert TrustWeighted(depth=2, weights={"vector": 4.0}).shares(rankings)["vector"] == pytest.approx(0.5)
    stated = {"text": stating(1.0, 2.0, 0.0), "vector": stating(9.0, 0.8, 0.6)}
    assert TrustWeighted(depth=2, exponent=0).shares(stated) == {
        "text": pytest.approx(2 / 3),
        "vector": pytest.approx(1 / 3),
    }


def test_a_source_that_states_its_trust_gets_that_share_and_the_others_the_rest():
    rankings = {"graph": ranking(1.0, 0.5, trust=0.5), "text": ranking(2.0, 1.0), "vector": ranking(0.8, 0.6)}
    shares = TrustWeighted(depth=2, max_stated_share=0.9).shares(rankings)
    assert shares == {"graph": pytest.approx(0.45), "text": pytest.approx(0.44), "vector": pytest.approx(0.11)}


def test_a_source_that_states_no_trust_in_itself_has_no_say():
    rankings = {"graph": ranking(1.0, 0.5, trust=0.0), "text": ranking(2.0, 1.0)}
    assert TrustWeighted(depth=2).shares(rankings) == {"graph": 0.0, "text": 1.0}


def test_sources_that_found_nothing_weigh_nothing_and_equal_scores_weigh_alike():
    assert TrustWeighted().shares({"text": ranking(2.0), "vector": []}) == {"text": 1.0, "vector": 0.0}
    flat = {"text": ranking(*[1.0] * 12), "vector": ranking(*[0.5] * 12)}
    assert TrustWeighted().shares(flat) == {"text": 0.5, "vector": 0.5}
    assert TrustWeighted().fuse({}, ASKED) == []
    assert TrustWeighted().fuse({"text": [], "vector": []}, ASKED) == []


def test_only_a_sure_graph_and_no_other_source():
    assert TrustWeighted().shares({"graph": ranking(1.0, 0.5, trust=1.0)}) == {"graph": 1.0}
    assert TrustWeighted().shares({"graph": ranking(1.0, 0.5, trust=0.0)}) == {"graph": 1.0}


def test_noise_does_not_outvote_a_clear_ranking():
    clear = ranking(9.0, 3.0, 1.0)
    noise = [Hit("c", 0.81), Hit("b", 0.80), Hit("a", 0.79)]
    fused = TrustWeighted(depth=3).fuse({"text": clear, "vector": noise}, ASKED)
    assert [hit.id for hit in fused] == ["a", "b", "c"]
    details = fused[0].receipts[-1].details
    assert fused[0].receipts[-1].stage == "trust_weighted"
    assert details["weights"] == {"text": 0.999, "vector": 0.001}
    assert details["signals"]["text"]["part"] == pytest.approx(fused[0].score, abs=0.01)


def test_hits_without_scores_are_kept():
    fused = TrustWeighted().fuse({"text": [Hit("a"), Hit("b")], "vector": ranking(0.8, 0.6)}, ASKED)
    assert {hit.id for hit in fused} == {"a", "b"}


def test_bad_input_is_named():
    with pytest.raises(InvalidScore, match="'a'"):
        TrustWeighted().fuse({"text": [Hit("a", float("nan"))]}, ASKED)
    with pytest.raises(RecipeError, match="'txet'"):
        TrustWeighted(weights={"txet": 1.0}).check_sources(["text"])
    with pytest.raises(ValueError, match="depth"):
        TrustWeighted(depth=1)
