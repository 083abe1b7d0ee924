"""BM25 of whole documents: what it sums, and that what is not there counts nothing."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopweave.text.analyzers import term_counts
from hopweave.text.bm25_index import BM25Index
from hopweave.text.document_bm25 import Wholes, document_scores

PARTS = [["tide", "gate"], ["tide", "tide", "moon"], ["ferry"], ["gate", "moon", "moon", "ferry"]]
OWNERS = np.array([0, 0, 1, 2])


def index_of(parts, batches=1):
    index = BM25Index()
    numbered = [(row, *term_counts(terms)) for row, terms in enumerate(parts)]
    for some in np.array_split(np.arange(len(parts)), batches):
        index = index.changed([numbered[row] for row in some.tolist()])
    return index


def plainly(parts, owners, terms):
    """The same by the formula, document by document."""
    documents = [[term for part, owner in zip(parts, owners, strict=True) if owner == one for term in part]
                 for one in range(max(owners) + 1)]  # fmt: skip
    mean = sum(map(len, documents)) / len(documents)
    scores = []
    for words in documents:
        score = 0.0
        for term, weight in terms.items():
            having = sum(term in other for other in documents)
            idf = math.log(1 + (len(documents) - having + 0.5) / (having + 0.5))
            tf = words.count(term)
            score += weight * idf * tf / (tf + 1.5 * len(words) / mean)
        scores.append(score)
    return scores


@pytest.mark.parametrize("batches", [1, 2, 4])
def test_a_document_scores_as_its_parts_together(batches):
    index = index_of(PARTS, batches)
    wholes = Wholes(np.arange(4), OWNERS)
    scores = document_scores(index.segments, {"tide": 1.0, "moon": 2.0}, wholes)
    assert scores == pytest.approx(plainly(PARTS, OWNERS, {"tide": 1.0, "moon": 2.0}))


def test_hidden_and_removed_parts_count_nothing():
    index = index_of([*PARTS, ["tide"] * 50, ["tide"] * 70]).changed(removed=np.array([5]))
    visible = Wholes(np.arange(4), OWNERS)
    everything = Wholes(np.arange(6), np.array([0, 0, 1, 2, 0, 0]))
    expected = plainly(PARTS, OWNERS, {"tide": 1.0})
    assert document_scores(index.segments, {"tide": 1.0}, visible) == pytest.approx(expected)
    with_one = plainly([*PARTS, ["tide"] * 50], [*OWNERS.tolist(), 0], {"tide": 1.0})
    assert document_scores(index.segments, {"tide": 1.0}, everything) == pytest.approx(with_one)


def test_nothing_there_is_no_score():
    assert document_scores([], {"tide": 1.0}, Wholes(np.empty(0, np.int64), np.empty(0, np.int64))).tolist() == []
    assert document_scores(index_of(PARTS).segments, {"oar": 1.0}, Wholes(np.arange(4), OWNERS)).tolist() == [0, 0, 0]


@given(st.permutations(range(4)))
def test_the_order_of_adding_does_not_matter(order):
    index = index_of([PARTS[place] for place in order])
    scores = document_scores(index.segments, {"tide": 1.0, "gate": 1.0}, Wholes(np.arange(4), OWNERS[list(order)]))
    assert scores == pytest.approx(plainly(PARTS, OWNERS, {"tide": 1.0, "gate": 1.0}))
