"""Vectors blended with those of their neighbours in the graph, made from the file as it is.

They are never stored: the vector of a document would keep a trace of a neighbour that was deleted.
"""

import numpy as np

from hopweave.concurrency.lru_cache import LRUCache
from hopweave.graph.documents import graph_of, passage_numbers
from hopweave.hit import Vector
from hopweave.knowledge import Knowledge, Ranking
from hopweave.knowledge_base.file.fork import ForkAware, watch_forks
from hopweave.knowledge_base.indexes.snapshot import Rows, Snapshot, Tenant, View
from hopweave.vector.smoothing import smoothed
from hopweave.vector.vector_index import VectorIndex

_KEPT = 4


class SmoothedVectors(ForkAware):
    """The smoothed vectors of a file, kept until it changes. A tenant's are made of what it may see."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._made = LRUCache[tuple[int, str, float, str], VectorIndex | None](_KEPT)
        watch_forks(self)

    def after_fork(self, *, in_child: bool) -> None:
        """In a child, start again: another thread may have been in the middle of a change."""
        if in_child:
            self._made = LRUCache(_KEPT)

    def nearest(
        self,
        knowledge: Knowledge,
        vector: Vector,
        model: str,
        own_share: float,
        top_k: int,
        tenant: Tenant | None,
        among: Rows | None,
    ) -> Ranking:
        """Documents by the cosine of their smoothed vector, all that a tenant may see or those of some rows."""

        def rank(view: View) -> Ranking:
            index = self._index(knowledge, view, model, own_share, tenant)
            return view.nearest_in(index, vector, model, top_k, among)

        with knowledge.one_version():  # vectors and graph of one version
            return self._snapshot.at_one_version(rank)

    def _index(
        self, knowledge: Knowledge, view: View, model: str, own_share: float, tenant: Tenant | None
    ) -> VectorIndex | None:
        key = view.version, model, own_share, repr(None if tenant is None else sorted(tenant.items()))
        return self._made.get_or_make(key, lambda: _smoothed(knowledge, view, model, own_share, tenant))


def _smoothed(
    knowledge: Knowledge, view: View, model: str, own_share: float, tenant: Tenant | None
) -> VectorIndex | None:
    plain, allowed = view.vectors(model), view.allowed(tenant)
    if plain is None:
        return None
    rows, matrix = plain.by_row()
    if allowed is not None:
        seen = np.isin(rows, allowed)
        rows, matrix = rows[seen], matrix[seen]
    graph, ids = graph_of(knowledge, "vector", tenant), view.ids(rows)
    numbers = passage_numbers(graph, ids)
    nodes = np.array([numbers.get(key, -1) for key in ids], np.int64)
    there = np.flatnonzero(nodes >= 0)
    found = graph.neighbours(nodes[there], "both")
    counts = np.zeros(len(nodes), np.int64)
    counts[there] = np.diff(found.offsets)
    offsets = np.concatenate([[0], np.cumsum(counts)])
    blended = smoothed(matrix, nodes, offsets, found.targets.astype(np.int64), own_share)
    return VectorIndex(matrix.shape[1]).changed(rows, blended)
