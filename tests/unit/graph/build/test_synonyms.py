import numpy as np
import pytest

import hopweave.graph.build.synonyms as synonyms
from hopweave.graph.build.synonyms import synonym_edges


def test_nothing_and_one():
    assert synonym_edges([], np.zeros((0, 2))) == []
    assert synonym_edges(["a"], np.ones((1, 2))) == []


def test_pairs_above_the_threshold_once():
    vectors = np.array([[1.0, 0.0], [3.0, 4.0], [0.8, 0.6], [0.0, 0.0]])
    # cosines: a-b 3/5 = 0.6, a-c 0.8, b-c (3 * 0.8 + 4 * 0.6) / 5 = 0.96; d is a zero vector
    found = synonym_edges(["a", "b", "c", "d"], vectors, min_similarity=0.79)
    assert [(edge.source, edge.target, edge.type) for edge in found] == [
        ("a", "c", "similar_to"),
        ("b", "c", "similar_to"),
    ]
    assert [edge.weight for edge in found] == pytest.approx([0.8, 0.96])


def test_the_same_vectors_give_the_same_edges():
    vectors = np.random.default_rng(7).normal(size=(50, 8))
    ids = [f"entity:{number}" for number in range(50)]
    assert synonym_edges(ids, vectors, min_similarity=0.5) == synonym_edges(ids, vectors, min_similarity=0.5)


def test_max_neighbours():
    vectors = np.ones((6, 3))
    assert len(synonym_edges(list("abcdef"), vectors, max_neighbours=5)) == 15
    assert len(synonym_edges(list("abcdef"), vectors, max_neighbours=1)) < 15


def test_cells_find_what_comparing_all_finds(monkeypatch):
    generator = np.random.default_rng(3)
    centres = np.repeat(generator.normal(size=(40, 16)), 5, axis=0)
    vectors = centres + 0.05 * generator.normal(size=centres.shape)
    ids = [f"{number:03}" for number in range(len(vectors))]
    exact = synonym_edges(ids, vectors, min_similarity=0.9)
    monkeypatch.setattr(synonyms, "_MAX_EXACT", 10)
    near = synonym_edges(ids, vectors, min_similarity=0.9)
    assert len(exact) == 40 * 10  # five choose two in each of forty groups
    assert [(edge.source, edge.target) for edge in near] == [(edge.source, edge.target) for edge in exact]


@pytest.mark.parametrize(
    ("ids", "vectors", "options", "message"),
    [
        (["a"], np.ones((2, 2)), {}, "2 rows for 1"),
        (["a", "b"], np.array([[1.0, 0.0], [np.nan, 0.0]]), {}, "'b' is not finite"),
        (["a", "b"], np.ones((2, 2)), {"min_similarity": 1.5}, "min_similarity 1.5"),
        (["a", "b"], np.ones((2, 2)), {"max_neighbours": 0}, "max_neighbours 0"),
    ],
)
def test_bad_input(ids, vectors, options, message):
    with pytest.raises(ValueError, match=message):
        synonym_edges(ids, vectors, **options)
