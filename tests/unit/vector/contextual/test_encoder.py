"""Attention over token vectors: by hand, and its gradients against finite differences."""

import numpy as np
import pytest

from hopweave.vector.contextual.encoder import Parameters, encode, gradients


def made(seed=0, tokens=7, size=5):
    random = np.random.default_rng(seed)
    return Parameters(random.normal(size=(tokens, size)), random.normal(size=tokens), random.normal(size=(size, size)))


TEXTS = np.array([[0, 1, 2, -1], [3, 3, 6, 5], [4, -1, -1, -1]])


def test_attention_by_hand():
    parameters = Parameters(np.array([[1.0, 0.0], [0.0, 2.0]]), np.array([0.0, np.log(3.0)]), np.zeros((2, 2)))
    (vector,) = encode(parameters, np.array([[0, 1]])).vectors
    # attention 1/4 and 3/4: (0.25, 1.5), scaled to length 1
    assert vector == pytest.approx(np.array([0.25, 1.5]) / np.hypot(0.25, 1.5))


def test_context_draws_attention_to_what_is_like_it():
    parameters = Parameters(np.array([[1.0, 0.0], [0.0, 1.0]]), np.zeros(2), 4 * np.eye(2))
    (vector,) = encode(parameters, np.array([[0, 0, 1]])).vectors
    # c = (2/3, 1/3); scores 4/sqrt(2) · 2/3 and · 1/3
    likely, other = 2 * np.exp(4 / np.sqrt(2) * 2 / 3), np.exp(4 / np.sqrt(2) / 3)
    assert vector[0] / vector[1] == pytest.approx(likely / other)


def test_padding_changes_nothing():
    parameters = made()
    alone = encode(parameters, np.array([[0, 1, 2]])).vectors
    padded = encode(parameters, np.array([[0, 1, 2, -1, -1]])).vectors
    assert padded == pytest.approx(alone)


def test_a_text_without_tokens_is_zero_and_has_no_gradient():
    parameters = made()
    found = encode(parameters, np.array([[-1, -1]]))
    assert not found.vectors.any()
    assert not gradients(parameters, found, np.ones((1, 5))).tokens.any()


@pytest.mark.parametrize("name", ["tokens", "bias", "attention"])
def test_gradients_are_those_of_finite_differences(name):
    parameters, random = made(), np.random.default_rng(1)
    direction = random.normal(size=(len(TEXTS), 5))  # the loss is the product of the vectors with it

    def loss(changed):
        return float((encode(changed, TEXTS).vectors * direction).sum())

    found = gradients(parameters, encode(parameters, TEXTS), direction)
    exact = {"attention": found.attention, "tokens": np.zeros((7, 5)), "bias": np.zeros(7)}
    present = TEXTS >= 0
    np.add.at(exact["tokens"], TEXTS[present], found.tokens[present])
    np.add.at(exact["bias"], TEXTS[present], found.bias[present])
    array = getattr(parameters, name)
    for place in np.ndindex(array.shape):
        step = 1e-6
        up, down = parameters.copy(), parameters.copy()
        getattr(up, name)[place] += step
        getattr(down, name)[place] -= step
        assert exact[name][place] == pytest.approx((loss(up) - loss(down)) / (2 * step), abs=1e-7)
