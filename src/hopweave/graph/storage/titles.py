"""How many passages of a graph have a title."""

from typing import Protocol

import numpy as np

from hopweave.graph.model import Node
from hopweave.graph.port import Indices, Mask

_SAMPLED = 256


class _Nodes(Protocol):
    def nodes(self, indices: Indices) -> list[Node]: ...


def titled_share(graph: _Nodes, passages: Mask) -> float:
    """About how many of the passages have a title, judged by a sample."""
    numbers = np.flatnonzero(passages)
    sample = graph.nodes(numbers[:: max(1, len(numbers) // _SAMPLED)])
    return sum(node.name != node.document_id for node in sample) / max(len(sample), 1)
