"""Every registered fuser: no hit is lost, none invented, none twice, and the order of the names means nothing."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hopweave.catalogue  # noqa: F401 - registers them
from hopweave.component import Fuser, registered
from hopweave.errors import InvalidScore
from hopweave.hit import Hit
from hopweave.query import Query

from .conftest import NAMES, check_hits, frozen, queries, rankings

every_fuser = pytest.mark.parametrize(
    "fuser", [pytest.param(one(), id=kind) for kind, one in registered(Fuser).items()]
)


@every_fuser
@settings(max_examples=60)
@given(rankings=rankings, query=queries, order=st.permutations(NAMES))
def test_laws(fuser, rankings, query, order):
    before, asked = frozen(rankings), frozen(query)
    found = fuser.fuse(rankings, query)

    assert rankings == before
    assert query == asked
    assert fuser.fuse(before, asked) == found, "another result the second time"
    shuffled = {name: before[name] for name in order if name in before}
    assert fuser.fuse(shuffled, asked) == found, "the order of the names matters"

    ids = [hit.id for hit in found]
    assert len(ids) == len(set(ids)), "a hit came twice"
    given_ids = {hit.id for ranking in rankings.values() for hit in ranking}
    assert set(ids) <= given_ids, "a hit was invented"
    if not fuser.keeps_all:
        return
    assert set(ids) == given_ids, "a hit was lost"
    known = [hit.score for hit in found if hit.score is not None]
    assert known == sorted(known, reverse=True), "not best first"
    assert all(hit.score is None for hit in found[len(known) :]), "hits without a score come last"
    for hit in found:
        assert hit.receipts[-1].after == hit.score, "no receipt for the fused score"
        origins = [one for ranking in rankings.values() for one in ranking if one.id == hit.id]
        assert hit.text in {one.text for one in origins}
        assert hit.metadata in [one.metadata for one in origins]
    check_hits(found)


@every_fuser
def test_empty_in_empty_out(fuser):
    assert fuser.fuse({}, Query("ferry")) == []
    assert fuser.fuse({"text": [], "vector": []}, Query("ferry")) == []


@every_fuser
@pytest.mark.parametrize("score", [math.nan, math.inf, -math.inf])
def test_a_score_that_is_no_number_is_an_error_that_names_the_hit(fuser, score):
    with pytest.raises(InvalidScore, match="hit 'odd' has score"):
        fuser.fuse({"vector": [Hit("even", 1.0)], "text": [Hit("odd", score)]}, Query("ferry"))
