"""Training: on a graph of two groups, what belongs together becomes similar."""

import numpy as np
import pytest

from hopweave.vector.contextual.encoder import Parameters, encode
from hopweave.vector.contextual.training import Training, train

WORDS = 24


@pytest.fixture
def groups():
    random = np.random.default_rng(5)
    start = Parameters(random.normal(size=(WORDS, 16)), np.zeros(WORDS), np.zeros((16, 16)))
    texts = np.arange(WORDS, dtype=np.int32)[:, None]
    group = np.arange(WORDS) % 3
    edges = np.array([(a, b) for a in range(WORDS) for b in range(a) if group[a] == group[b]])
    return start, texts, edges, group


def margin(parameters, texts, group):
    """How much more similar nodes of one group are than nodes of different groups."""
    vectors = encode(parameters, texts).vectors
    cosines, same = vectors @ vectors.T, group[:, None] == group[None, :]
    return cosines[same].mean() - cosines[~same].mean()


def test_neighbours_become_similar(groups):
    start, texts, edges, group = groups
    trained = train(start, texts, edges, Training(batch_size=16))
    assert trained.losses[trained.best_epoch] < trained.losses[0]
    assert margin(trained.parameters, texts, group) > margin(start, texts, group) + 0.3


def test_the_start_is_not_changed(groups):
    start, texts, edges, _ = groups
    before = start.copy()
    train(start, texts, edges, Training(epochs=1, batch_size=16))
    assert np.array_equal(start.tokens, before.tokens)


def test_it_stops_when_the_held_out_loss_rises(groups):
    start, texts, edges, _ = groups
    trained = train(start, texts, edges, Training(epochs=200, patience=2, batch_size=16, learning_rate=0.5))
    assert len(trained.losses) - 1 == trained.best_epoch + 2 < 200


def test_progress_is_reported_after_each_epoch(groups):
    start, texts, edges, _ = groups
    seen = []
    trained = train(start, texts, edges, Training(epochs=3, batch_size=16), lambda *one: seen.append(one))
    assert [epoch for epoch, _, _ in seen] == [1, 2, 3]
    assert tuple(held_out for _, _, held_out in seen) == trained.losses[1:]


def test_too_few_edges():
    start = Parameters(np.eye(2), np.zeros(2), np.zeros((2, 2)))
    with pytest.raises(ValueError, match="edges: 2 are too few"):
        train(start, np.array([[0], [1]], np.int32), np.array([[0, 1], [1, 0]]))
