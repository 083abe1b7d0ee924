"""MMR against a slow version written straight from the formula, and against pyversity's."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hopweave.hit import Hit
from hopweave.query import Query
from hopweave.stages.diversify.mmr import MMR


def cosine(one, other):
    if one is None or other is None:
        return 0.0
    lengths = math.sqrt(sum(x * x for x in one)) * math.sqrt(sum(x * x for x in other))
    return max(sum(x * y for x, y in zip(one, other, strict=True)) / lengths, 0.0) if lengths else 0.0


def slow_mmr(relevance, vectors, weight):
    """Order and value of each pick: weight * relevance - (1 - weight) * largest similarity to any chosen one."""
    order, values = [], []
    while len(order) < len(relevance):
        gains = {
            place: weight * relevance[place]
            - (1 - weight) * max((cosine(vectors[place], vectors[chosen]) for chosen in order), default=0.0)
            for place in range(len(relevance))
            if place not in order
        }
        best = max(gains, key=lambda place: (gains[place], -place))
        order.append(best)
        values.append(gains[best])
    return order, values


coordinate = st.integers(-4, 4).map(float)
vector = st.one_of(st.none(), st.tuples(coordinate, coordinate, coordinate))
item = st.tuples(st.integers(0, 64).map(lambda n: n / 64), vector)


@settings(max_examples=300, deadline=None)
@given(items=st.lists(item, max_size=14), weight=st.integers(0, 8).map(lambda n: n / 8))
def test_same_as_the_slow_version(items, weight):
    hits = [
        Hit(str(place), score, vector=None if numbers is None else np.array(numbers, np.float32))
        for place, (score, numbers) in enumerate(items)
    ]
    picked = MMR(relevance_weight=weight).apply(hits, Query("q"))
    mine = [int(hit.id) for hit in picked]
    values = [hit.receipts[-1].details["mmr"] for hit in picked]
    relevance, vectors = [score for score, _ in items], [numbers for _, numbers in items]
    assert sorted(mine) == list(range(len(items)))
    # rounding may decide between equal gains, so follow my picks and ask that none beats them by more than that
    for rank, place in enumerate(mine):
        gains = {
            other: weight * relevance[other]
            - (1 - weight) * max((cosine(vectors[other], vectors[chosen]) for chosen in mine[:rank]), default=0.0)
            for other in mine[rank:]
        }
        assert values[rank] == pytest.approx(gains[place], abs=2e-6)
        assert gains[place] >= max(gains.values()) - 2e-6


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 10**6), weight=st.sampled_from([0.1, 0.3, 0.5, 0.7, 0.9]))
def test_same_order_where_no_two_are_alike(seed, weight):
    generator = np.random.default_rng(seed)
    rows = generator.normal(size=(12, 6))
    scores = generator.random(12)
    hits = [Hit(str(n), float(scores[n]), vector=rows[n].astype(np.float32)) for n in range(12)]
    picked = MMR(relevance_weight=weight).apply(hits, Query("q"))
    order, values = slow_mmr(scores.tolist(), rows.tolist(), weight)
    assert [int(hit.id) for hit in picked] == order
    assert [hit.receipts[-1].details["mmr"] for hit in picked] == pytest.approx(values, abs=2e-6)


def test_same_as_pyversity():
    pyversity = pytest.importorskip("pyversity")
    generator = np.random.default_rng(11)
    rows = generator.normal(size=(200, 32)).astype(np.float32)
    scores = generator.random(200)
    hits = [Hit(str(n), float(scores[n]), vector=rows[n]) for n in range(200)]
    picked = MMR(relevance_weight=0.4, top_k=40).apply(hits, Query("q"))
    expected = pyversity.mmr(rows, scores, 40, diversity=0.6)
    assert [int(hit.id) for hit in picked] == expected.indices.tolist()
    assert [hit.receipts[-1].details["mmr"] for hit in picked] == pytest.approx(
        expected.selection_scores.tolist(), abs=2e-6
    )
