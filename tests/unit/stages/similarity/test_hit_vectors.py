import numpy as np
import pytest

from hopweave.hit import Hit
from hopweave.stages.similarity.hit_vectors import unit_vectors
from hopweave.stages.similarity.vector_finder import VectorFinder


def vector(*values):
    return np.array(values, np.float32)


class Library(VectorFinder):
    def __init__(self, **stored):
        super().__init__(lexical=False)
        self.stored, self.asked = stored, []

    def vectors(self, ids):
        self.asked = list(ids)
        return {key: self.stored[key] for key in self.asked if key in self.stored}


def test_empty():
    assert unit_vectors([]).rows.shape == (0, 0)


def test_length_one():
    found = unit_vectors([Hit("a", vector=vector(3, 4)), Hit("b", vector=vector(0, 2))])
    assert found.rows == pytest.approx(np.array([[0.6, 0.8], [0, 1]]))
    assert found.origins == ("hit", "hit")


def test_the_hit_comes_before_the_knowledge_base():
    library = Library(a=vector(0, 1), b=vector(0, 5))
    found = unit_vectors([Hit("a", vector=vector(1, 0)), Hit("b"), Hit("c")], library)
    assert found.rows.tolist() == [[1, 0], [0, 1], [0, 0]]
    assert found.origins == ("hit", "knowledge", None)
    assert library.asked == ["b", "c"]


@pytest.mark.parametrize("useless", [vector(0, 0), vector(np.nan, 1), vector(np.inf, 1), vector(1, 2, 3)])
def test_useless_vectors_count_as_missing(useless):
    found = unit_vectors([Hit("a", vector=vector(1, 0)), Hit("b", vector=useless)])
    assert found.rows[1].tolist() == [0, 0]
    assert found.origins == ("hit", None)
    assert found.known.tolist() == [True, False]


def test_the_dimension_asked_for():
    found = unit_vectors([Hit("a", vector=vector(1, 0)), Hit("b", vector=vector(1, 0, 0))], dimension=3)
    assert found.origins == (None, "hit")


def test_vectors_are_not_changed():
    mine = vector(3, 4)
    unit_vectors([Hit("a", vector=mine)])
    assert mine.tolist() == [3, 4]


def test_what_is_not_kept_is_made_in_one_call_or_else_from_words():
    calls = []

    def embed(texts):
        calls.append(texts)
        return [[0, 2] for _ in texts]

    hits = [Hit("a", vector=vector(1, 0)), Hit("b"), Hit("c", text="tide gate"), Hit("d", text="ferry"), Hit("e")]
    finder = VectorFinder(lambda ids: {"b": [3, 4]}, embed)
    found = unit_vectors(hits, finder, lexical=True)
    assert calls == [["tide gate", "ferry"]]
    assert found.origins == ("hit", "knowledge", "embedder", "embedder", None)
    assert found.rows[:, :2] == pytest.approx(np.array([[1, 0], [0.6, 0.8], [0, 1], [0, 1], [0, 0]]))


def test_words_are_compared_with_words_alone():
    hits = [Hit("a", text="tide gate", vector=vector(1, 0)), Hit("b", text="tide gate"), Hit("c", text="Gate, tide!")]
    found = unit_vectors(hits, VectorFinder(), lexical=True)
    assert found.origins == ("hit", "lexical", "lexical")
    assert found.rows @ found.rows.T == pytest.approx(np.array([[1, 0, 0], [0, 1, 1], [0, 1, 1]]))
    assert unit_vectors(hits, VectorFinder(lexical=False), lexical=True).origins == ("hit", None, None)
    assert unit_vectors(hits, VectorFinder()).origins == ("hit", None, None)


def test_an_embedder_of_another_dimension_counts_as_missing():
    finder = VectorFinder(embed_texts=lambda texts: [[1, 2, 3] for _ in texts], lexical=False)
    assert unit_vectors([Hit("a", vector=vector(1, 0)), Hit("b", text="x")], finder).origins == ("hit", None)
