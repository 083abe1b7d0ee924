"""Flags of nodes that are not in memory."""

from collections.abc import Callable

import numpy as np

from hopweave.graph_store.backend import Indices, Mask


class LookedUpFlags:
    """Flags that are looked up for the nodes asked about."""

    def __init__(self, look_up: Callable[[Indices], Mask]) -> None:
        self._look_up = look_up

    def __getitem__(self, nodes: Indices) -> Mask:
        return self._look_up(np.asarray(nodes, np.int64))
