"""Every registered stage: nothing handed in changes, nothing is invented, the same again, receipts in plain JSON."""

import asyncio
import math
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hopweave.catalogue  # noqa: F401 - registers them
from hopweave.component import Stage, registered
from hopweave.errors import InvalidScore
from hopweave.hit import Hit
from hopweave.query import Query

from .conftest import check_hits, frozen, hit_lists, queries

# Stages that cannot be tried with their defaults: parameters that make it possible, or the fixture that gives one.
SPECIAL = {
    "cross_encoder": {"model": "cross_encoder"},
    "remote_rerank": {"api_key_env": "HOPWEAVE_LAWS_HAVE_NO_KEY"},  # what it does without a service
}
FIXTURES = {"cross_encoder"}

every_stage = pytest.mark.parametrize(
    "stage",
    [pytest.param(kind, marks=[pytest.mark.slow] * (kind == "cross_encoder")) for kind in sorted(registered(Stage))],
    indirect=True,
)


@pytest.fixture(scope="module")
def stage(request):
    """A stage of every kind."""
    parameters = {
        name: request.getfixturevalue(value) if value in FIXTURES else value
        for name, value in SPECIAL.get(request.param, {}).items()
    }
    return registered(Stage)[request.param](**parameters)


def test_the_table_of_special_stages_is_not_out_of_date():
    assert SPECIAL.keys() <= registered(Stage).keys()


@every_stage
@settings(max_examples=40)
@given(hits=hit_lists(), query=queries, known=st.booleans())
def test_laws(stage, library, hits, query, known):
    knowledge = library if known else None
    before, asked = frozen(hits), frozen(query)
    found = stage.apply(hits, query, knowledge)

    assert hits == before
    assert query == asked
    assert stage.apply(before, asked, knowledge) == found, "another result the second time"
    assert asyncio.run(stage.apply_async(before, asked, knowledge)) == found, "another result in async"

    assert not Counter(hit.id for hit in found) - Counter(hit.id for hit in hits), "a hit was invented"
    for hit in found:
        source = next(
            one
            for one in hits
            if one.id == hit.id and one.text == hit.text and one.receipts == hit.receipts[: len(one.receipts)]
        )
        assert (hit.metadata, hit.origin) == (source.metadata, source.origin)
        if hit.score != source.score:
            assert len(hit.receipts) > len(source.receipts), f"the score of {hit.id} changed without a receipt"
            assert hit.receipts[-1].after == hit.score
    check_hits(found)


@every_stage
def test_empty_in_empty_out(stage, library):
    assert stage.apply([], Query("ferry")) == []
    assert stage.apply((), Query(""), library) == []


@every_stage
@pytest.mark.parametrize("score", [math.nan, math.inf, -math.inf])
def test_a_score_that_is_no_number_is_an_error_that_names_the_hit(stage, score):
    with pytest.raises(InvalidScore, match="hit 'odd' has score"):
        stage.apply([Hit("even", 1.0, "text"), Hit("odd", score, "text")], Query("ferry"))
