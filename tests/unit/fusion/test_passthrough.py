import pytest
from pydantic import ValidationError

from hopweave.errors import InvalidScore
from hopweave.fusion.passthrough import Passthrough
from hopweave.hit import Hit
from hopweave.query import Query


def test_one_ranking_is_left_alone():
    hits = [Hit("b", 1.0), Hit("a", 7.0), Hit("b", 0.5)]
    assert Passthrough(source="text").fuse({"text": hits, "vector": [Hit("c")]}, Query("?")) == hits[:2]


def test_a_source_that_is_absent_found_nothing():
    assert Passthrough(source="text").fuse({"vector": [Hit("c")]}, Query("?")) == []


def test_bad_input():
    with pytest.raises(ValidationError):
        Passthrough(source="")
    with pytest.raises(InvalidScore):
        Passthrough(source="text").fuse({"text": [Hit("a", float("inf"))]}, Query("?"))
