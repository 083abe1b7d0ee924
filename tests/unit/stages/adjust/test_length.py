import math

import pytest
from pydantic import ValidationError

from hopweave.hit import Hit
from hopweave.query import Query
from hopweave.stages.adjust.length import Length

QUERY = Query("ferries")


def long(name, score, characters):
    return Hit(name, score, text="x" * characters)


@pytest.mark.parametrize(
    ("characters", "factor", "printed"),
    [
        (0, 1.0, 1.0),
        (499, 1.0, 1.0),
        (500, 1.0, 1.0),
        (800, 1 / (1 + 0.5 * math.log2(1.6)), 0.75),
        (1000, 1 / (1 + 0.5 * 1), 0.67),
        (2000, 1 / (1 + 0.5 * 2), 0.50),
    ],
)
def test_the_table_of_the_memory_system(characters, factor, printed):
    result = Length().apply([long("a", 1.0, characters)], QUERY)
    assert result[0].score == pytest.approx(factor)
    assert result[0].score == pytest.approx(printed, abs=0.005)
    assert result[0].receipts[-1].details == {"characters": characters, "factor": pytest.approx(factor)}


def test_anchor_and_slope():
    assert Length(anchor_characters=10).apply([long("a", 0.75, 20)], QUERY)[0].score == 0.5
    assert Length(slope=1).apply([long("a", 1.0, 1000)], QUERY)[0].score == 0.5
    assert Length(slope=0).apply([long("a", 1.0, 9000)], QUERY)[0].score == 1.0


def test_a_long_logit_falls():
    result = Length().apply([Hit("a", 0.0, "x" * 1000, scale="logit")], QUERY)
    assert result[0].score == pytest.approx(0.5 / 1.5)


def test_order_empty_none():
    assert [hit.id for hit in Length().apply([long("long", 0.6, 2000), long("short", 0.5, 20)], QUERY)] == [
        "short",
        "long",
    ]
    assert Length().apply([], QUERY) == []
    assert Length().apply([long("a", None, 2000)], QUERY)[0].score is None


@pytest.mark.parametrize("fields", [{"anchor_characters": 0}, {"slope": -1}])
def test_bad_configuration(fields):
    with pytest.raises(ValidationError, match=next(iter(fields))):
        Length(**fields)
