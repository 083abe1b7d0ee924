"""The measures against a slow version written from their definitions."""

from math import log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopweave.evaluate.metrics import score_each
from hopweave.evaluate.queries import EvaluationQuery

IDS = "abcdefghij"
CUTS = (1, 2, 3, 5, 10)


def found_at(ranking, classes):
    """The rank, from 1, at which each class is first satisfied; None if it never is."""
    return [next((rank for rank, key in enumerate(ranking, 1) if key in group), None) for group in classes]


def recall(ranking, classes, cut):
    return sum(rank is not None and rank <= cut for rank in found_at(ranking, classes)) / len(classes)


def all_gold(ranking, classes, cut):
    return float(all(rank is not None and rank <= cut for rank in found_at(ranking, classes)))


def mrr(ranking, classes, cut):
    ranks = [rank for rank in found_at(ranking, classes) if rank is not None and rank <= cut]
    return 1 / min(ranks) if ranks else 0.0


def ndcg(ranking, classes, cut):
    gain = sum(1 / log2(1 + rank) for rank in found_at(ranking, classes) if rank is not None and rank <= cut)
    return gain / sum(1 / log2(1 + rank) for rank in range(1, min(cut, len(classes)) + 1))


MEASURES = {"recall": recall, "all_gold": all_gold, "mrr": mrr, "ndcg": ndcg}


@st.composite
def judgements(draw):
    ids = draw(st.permutations(IDS))[: draw(st.integers(1, 6))]
    cuts = sorted(draw(st.sets(st.integers(1, len(ids)))) - {len(ids)})
    gold = [list(ids[start:end]) for start, end in zip([0, *cuts], [*cuts, len(ids)], strict=True)]
    return gold, draw(st.permutations(IDS))[: draw(st.integers(0, len(IDS)))]


@given(st.lists(judgements(), min_size=1, max_size=4))
@pytest.mark.parametrize("judging", ["classes", "strict"])
def test_the_library_agrees_with_the_definitions(judging, cases):
    judged = [EvaluationQuery.read({"question": "?", "gold": gold}) for gold, _ in cases]
    names = [f"{name}@{cut}" for name in MEASURES for cut in CUTS]
    found = score_each(judged, [ranking for _, ranking in cases], names, judging=judging)
    for name, measure in MEASURES.items():
        for cut in CUTS:
            expected = [
                measure(ranking, gold if judging == "classes" else [group[:1] for group in gold], cut)
                for gold, ranking in cases
            ]
            assert found[f"{name}@{cut}"] == pytest.approx(tuple(expected))
