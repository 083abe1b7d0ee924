import math

import pytest

from hopweave.hit import Hit
from hopweave.stages.adjust.adjusted import unit_scores


def test_empty():
    assert unit_scores([]) == []


def test_probabilities_stay():
    assert unit_scores([Hit("a", 0.5, scale="unit"), Hit("b", 0.02, scale="unit")]) == [0.5, 0.02]


def test_unknown_scores_within_one_stay():
    assert unit_scores([Hit("a", 0.5), Hit("b", 0.0), Hit("c", None)]) == [0.5, 0.0, None]


def test_unknown_scores_beyond_one_are_divided_by_the_largest():
    assert unit_scores([Hit("a", 4.0), Hit("b", 1.0)]) == [1.0, 0.25]


def test_positive_scores_are_always_divided_by_the_largest():
    # reciprocal ranks 1/61 and 1/62: 61/62 of the best
    assert unit_scores([Hit("a", 1 / 61, scale="positive"), Hit("b", 1 / 62, scale="positive")]) == [
        1.0,
        pytest.approx(61 / 62),
    ]


def test_positive_zeros_stay_zero():
    assert unit_scores([Hit("a", 0.0, scale="positive")]) == [0.0]


def test_logits_and_cosines_are_converted():
    assert unit_scores([Hit("a", -4.0, scale="logit"), Hit("b", -0.5, scale="cosine")]) == [
        pytest.approx(1 / (1 + math.exp(4))),
        0.25,
    ]


def test_each_scale_by_itself():
    assert unit_scores([Hit("a", 8.0, scale="positive"), Hit("b", 0.9, scale="unit")]) == [1.0, 0.9]
