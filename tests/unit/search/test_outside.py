"""The order of a list from outside is believed; its numbers are read along it."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from hopweave.hit import Hit, Receipt
from hopweave.scores import by_order
from hopweave.search.outside import merged_by_place

SCORES = st.lists(st.floats(-50, 50).map(lambda x: round(x, 3)), min_size=1, max_size=12)


def hits(scores):
    return [Hit(f"h{number}", score) for number, score in enumerate(scores)]


@given(SCORES)
def test_the_order_stays_and_scores_fall_along_it(scores):
    read = by_order(hits(scores))
    assert [hit.id for hit in read] == [f"h{number}" for number in range(len(scores))]
    assert all(one.score >= other.score for one, other in pairwise(read))


@given(SCORES)
def test_scores_that_fall_are_left_as_they_are(scores):
    falling = hits(sorted(scores, reverse=True))
    assert by_order(falling) == falling


@given(st.lists(st.integers(-50, 50), min_size=2, max_size=12, unique=True))
def test_distances_keep_range_and_spacing(distances):
    rising = sorted(distances)
    read = [hit.score for hit in by_order(hits(map(float, rising)))]
    assert (min(read), max(read)) == (min(rising), max(rising))
    assert [a - b for a, b in pairwise(read)] == [b - a for a, b in pairwise(rising)]


def test_a_receipt_says_how_the_numbers_were_read():
    assert by_order(hits([0.1, 0.4]))[0].receipts[0].details == {"formula": "distances: min + max - score"}
    assert by_order(hits([0.4, 0.1, 0.2]))[0].receipts[0].details == {"formula": "no order: counts by rank"}


def test_lists_without_scores_and_those_of_our_own_are_left_alone():
    unscored = [Hit("a"), Hit("b")]
    own = [Hit("a", 0.1, receipts=(Receipt("mmr", None, 0.1),)), Hit("b", 0.9, receipts=(Receipt("mmr", None, 0.9),))]
    assert by_order(unscored) == unscored
    assert by_order(own) == own


def test_a_given_scale_orders_a_list_that_is_in_no_order():
    assert [hit.id for hit in by_order(hits([0.3, 0.9, 0.1]), "cosine")] == ["h1", "h0", "h2"]
    assert [(hit.id, hit.score) for hit in by_order(hits([0.5, 1.0, 0.25]), "distance")] == [
        ("h2", 1.0),
        ("h0", 0.75),
        ("h1", 0.25),
    ]


@given(st.permutations(range(8)), st.permutations(range(8)), st.sets(st.integers(0, 7)))
def test_unknown_hits_keep_their_place_and_nothing_is_lost(own, fused, unknown):
    mine = [Hit(str(key), 1 - rank / 10) for rank, key in enumerate(own)]
    all_of_them = [Hit(str(key), 1 - rank / 10) for rank, key in enumerate(fused)]
    merged = merged_by_place(mine, all_of_them, {str(key) for key in unknown})
    assert sorted(hit.id for hit in merged) == sorted(map(str, range(8)))
    for place, key in enumerate(own):
        if key in unknown:
            assert merged[place].id == str(key)
    assert [int(hit.id) for hit in merged if int(hit.id) not in unknown] == [key for key in fused if key not in unknown]
    assert all(one.score >= other.score for one, other in pairwise(merged))


def test_with_every_hit_known_the_fused_ranking_stays():
    fused = hits([0.9, 0.5, 0.1])
    assert merged_by_place(fused[::-1], fused, ()) == fused
