import numpy as np
import pytest

from hopweave.stages.similarity.hit_vectors import COLUMNS, lexical_vectors


def test_empty():
    assert lexical_vectors([]).shape == (0, COLUMNS)
    assert not lexical_vectors(["?!"]).any()


def test_counts_by_hand():
    one, other = lexical_vectors(["tide tide tide tide gate", "Tide ferry"])
    assert sorted(one[one > 0].tolist()) == [1, 2]  # sqrt(1), sqrt(4)
    assert one @ other == 2  # sqrt(4) * sqrt(1)


def test_words_without_spaces():
    one, other = lexical_vectors(["渡轮开船", "渡轮停运"])
    assert one @ other / np.sqrt((one @ one) * (other @ other)) == pytest.approx(0.5)  # two of four characters
