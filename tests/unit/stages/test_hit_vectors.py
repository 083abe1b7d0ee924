import numpy as np
import pytest

from hopweave.hit import Hit
from hopweave.stages.hit_vectors import unit_vectors


def vector(*values):
    return np.array(values, np.float32)


class Library:
    def __init__(self, **stored):
        self.stored, self.asked = stored, []

    def vectors(self, ids):
        self.asked = list(ids)
        return {key: self.stored[key] for key in self.asked if key in self.stored}


def test_empty():
    assert unit_vectors([]).rows.shape == (0, 0)


def test_length_one():
    found = unit_vectors([Hit("a", vector=vector(3, 4)), Hit("b", vector=vector(0, 2))])
    assert found.rows == pytest.approx(np.array([[0.6, 0.8], [0, 1]]))
    assert found.kept_by == ("hit", "hit")


def test_the_hit_comes_before_the_knowledge_base():
    library = Library(a=vector(0, 1), b=vector(0, 5))
    found = unit_vectors([Hit("a", vector=vector(1, 0)), Hit("b"), Hit("c")], library)
    assert found.rows.tolist() == [[1, 0], [0, 1], [0, 0]]
    assert found.kept_by == ("hit", "knowledge", None)
    assert library.asked == ["b", "c"]


@pytest.mark.parametrize("useless", [vector(0, 0), vector(np.nan, 1), vector(np.inf, 1), vector(1, 2, 3)])
def test_useless_vectors_count_as_missing(useless):
    found = unit_vectors([Hit("a", vector=vector(1, 0)), Hit("b", vector=useless)])
    assert found.rows[1].tolist() == [0, 0]
    assert found.kept_by == ("hit", None)
    assert found.known.tolist() == [True, False]


def test_the_dimension_asked_for():
    found = unit_vectors([Hit("a", vector=vector(1, 0)), Hit("b", vector=vector(1, 0, 0))], dimension=3)
    assert found.kept_by == (None, "hit")


def test_vectors_are_not_changed():
    mine = vector(3, 4)
    unit_vectors([Hit("a", vector=mine)])
    assert mine.tolist() == [3, 4]
