"""The contrastive loss by hand, and its gradients against finite differences."""

import numpy as np
import pytest

from hopweave.vector.contextual.infonce import info_nce


def test_by_hand():
    anchors, others = np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([[0.6, 0.8], [0.0, 1.0]])
    loss, _, _ = info_nce(anchors, others, np.array([0, 1]), 0.5)
    first = -np.log(np.exp(0.6 / 0.5) / (np.exp(0.6 / 0.5) + np.exp(0.0)))
    second = -np.log(np.exp(1 / 0.5) / (np.exp(0.8 / 0.5) + np.exp(1 / 0.5)))
    assert loss == pytest.approx((first + second) / 2)


def test_a_node_is_no_negative_of_itself():
    anchors, others = np.eye(2), np.array([[0.6, 0.8], [0.6, 0.8]])
    assert info_nce(anchors, others, np.array([7, 7]), 1.0)[0] == pytest.approx(0.0)


def test_gradients_are_those_of_finite_differences():
    random = np.random.default_rng(0)
    pair = [random.normal(size=(4, 3)) for _ in range(2)]
    same = np.array([0, 1, 1, 2])
    _, *exact = info_nce(*pair, same, 0.3)
    for which in range(2):
        for place in np.ndindex(pair[which].shape):
            changed = []
            for step in (1e-6, -1e-6):
                moved = [one.copy() for one in pair]
                moved[which][place] += step
                changed.append(info_nce(*moved, same, 0.3)[0])
            assert exact[which][place] == pytest.approx((changed[0] - changed[1]) / 2e-6, abs=1e-6)
