"""How many passages of a graph say what they are about, by a title or in their first words."""

from typing import Protocol

import numpy as np

from hopweave.graph.model import Node
from hopweave.graph.port import Indices, Mask

_SAMPLED = 256


class _Nodes(Protocol):
    def nodes(self, indices: Indices) -> list[Node]: ...


def topic_share(graph: _Nodes, passages: Mask) -> float:
    """About how many of the passages have a name of their own, which is their title or topic, judged by a sample."""
    numbers = np.flatnonzero(passages)
    sample = graph.nodes(numbers[:: max(1, len(numbers) // _SAMPLED)])
    return sum(node.name != node.document_id for node in sample) / max(len(sample), 1)
