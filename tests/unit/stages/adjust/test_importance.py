import numpy as np
import pytest
from pydantic import ValidationError

from hopweave.hit import Hit
from hopweave.query import Query
from hopweave.stages.adjust.importance import Importance

QUERY = Query("ferries")


def important(name, score, importance):
    return Hit(name, score, metadata={"importance": importance})


@pytest.mark.parametrize(("importance", "factor"), [(1.0, 1.0), (0.7, 0.91), (0.5, 0.85), (0.0, 0.7), (0, 0.7), (1, 1)])
def test_the_table_of_the_memory_system(importance, factor):
    result = Importance().apply([important("a", 0.5, importance)], QUERY)
    assert result[0].score == pytest.approx(0.5 * factor)
    assert result[0].receipts[-1].details == {"importance": importance, "factor": pytest.approx(factor)}


def test_missing_counts_as_one():
    result = Importance().apply([Hit("a", 0.5)], QUERY)
    assert result[0].score == 0.5
    assert result[0].receipts[-1].details == {"importance": 1.0, "factor": 1.0, "note": "no importance given"}


@pytest.mark.parametrize("value", ["high", "0.5", True, [0.5], float("nan")])
def test_unreadable_counts_as_missing_and_says_so(value):
    result = Importance().apply([important("a", 0.5, value)], QUERY)
    assert result[0].score == 0.5
    assert result[0].receipts[-1].details["note"].startswith("cannot read importance")


@pytest.mark.parametrize(("value", "factor"), [(5, 1.0), (-3, 0.7), (float("inf"), 1.0)])
def test_outside_the_range_is_brought_to_its_end(value, factor):
    result = Importance().apply([important("a", 0.5, value)], QUERY)
    assert result[0].score == pytest.approx(0.5 * factor)
    assert "outside [0, 1]" in result[0].receipts[-1].details["note"]


def test_numpy_numbers_are_numbers():
    assert Importance().apply([important("a", 1.0, np.float32(0.5))], QUERY)[0].score == pytest.approx(0.85)


def test_floor_field_order_empty_none():
    assert Importance(floor=0).apply([important("a", 0.5, 0.5)], QUERY)[0].score == 0.25
    hit = Hit("a", 1.0, metadata={"stars": 0.5})
    assert Importance(importance_field="stars").apply([hit], QUERY)[0].score == pytest.approx(0.85)
    result = Importance().apply([important("dull", 0.5, 0), important("key", 0.45, 1)], QUERY)
    assert [hit.id for hit in result] == ["key", "dull"]
    assert Importance().apply([], QUERY) == []
    assert Importance().apply([important("a", None, 0.5)], QUERY)[0].score is None


def test_bad_configuration():
    with pytest.raises(ValidationError, match="floor"):
        Importance(floor=2)
