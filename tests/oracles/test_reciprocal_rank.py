"""Reciprocal rank fusion against a slow version that follows its definition word by word."""

from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopweave.fusion.reciprocal_rank import ReciprocalRank
from hopweave.hit import Hit
from hopweave.query import Query

NAMES = st.sampled_from(["text", "vector", "graph", "code"])
LISTS = st.lists(st.sampled_from("abcdefgh"), max_size=10)


def slow(rankings, weights, k):
    """Exact scores in order: for every hit, look for it in every list."""
    scores, best = {}, {}
    for hit in {hit for ranking in rankings.values() for hit in ranking}:
        scores[hit], best[hit] = Fraction(0), 10**9
        for name, ranking in rankings.items():
            distinct = []
            for other in ranking:
                if other not in distinct:
                    distinct.append(other)
            if hit in distinct:
                rank = distinct.index(hit) + 1
                scores[hit] += Fraction(weights.get(name, 1)) / (k + rank)
                best[hit] = min(best[hit], rank)
    return scores, best


@given(
    st.dictionaries(NAMES, LISTS, max_size=4),
    st.dictionaries(NAMES, st.sampled_from([0, 1, 2, 3]), max_size=4),
    st.sampled_from([1, 10, 60]),
)
def test_the_definition(rankings, weights, k):
    fused = ReciprocalRank(k=k, weights=weights).fuse(
        {name: [Hit(key) for key in ranking] for name, ranking in rankings.items()}, Query("?")
    )
    scores, best = slow(rankings, weights, k)
    assert {hit.id: hit.score for hit in fused} == pytest.approx({key: float(score) for key, score in scores.items()})
    for one, other in pairwise(fused):
        if scores[one.id] == scores[other.id] and one.score == other.score:
            assert (best[one.id], one.id) < (best[other.id], other.id)
        else:
            assert one.score >= other.score
