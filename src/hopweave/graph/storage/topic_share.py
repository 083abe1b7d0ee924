"""How many passages of a graph are about something that tells them apart, by a title or in their first words."""

import re
from typing import Protocol

import numpy as np

from hopweave.graph.model import Node
from hopweave.graph.port import Direction, Indices, Mask, Neighbours

FILE_NAME = r"\S\.[A-Za-z0-9]{1,5}$"
"""A regular expression for names that are those of files, which no other text mentions."""

MAX_SHARED, MIN_SHARED = 0.1, 4
"""A topic that more than this share of the passages have, and more than so many, does not tell them apart."""

_SAMPLED = 256


class _Graph(Protocol):
    @property
    def edge_types(self) -> tuple[str, ...]: ...

    def nodes(self, indices: Indices) -> list[Node]: ...

    def neighbours(self, indices: Indices, direction: Direction = "out") -> Neighbours: ...


def topic_share(graph: _Graph, passages: Mask) -> float:
    """About how many of the passages are about something that few others are about, judged by a sample.

    A title that all documents share says as little as none, and so does the name of a file.
    """
    numbers = np.flatnonzero(passages)
    sample = numbers[:: max(1, len(numbers) // _SAMPLED)]
    if not len(sample) or "about" not in graph.edge_types:
        return 0.0
    edges = graph.neighbours(sample, "out")
    is_about = edges.types == graph.edge_types.index("about")
    owners = np.repeat(np.arange(len(sample)), np.diff(edges.offsets))[is_about]
    topics, places, counts = np.unique(edges.targets[is_about], return_inverse=True, return_counts=True)
    is_file = np.array([re.search(FILE_NAME, node.name) is not None for node in graph.nodes(topics)], np.bool_)
    tells = (counts <= max(MAX_SHARED * len(sample), MIN_SHARED)) & ~is_file
    return len(np.unique(owners[tells[places]])) / len(sample)
