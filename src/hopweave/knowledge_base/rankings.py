"""Rankings of the documents of a file: all, those that pass filters, and by vectors blended with their neighbours.

Blended vectors are never stored: that of a document would keep a trace of a neighbour that was deleted.
"""

from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from hopweave.concurrency.once import LRUCache
from hopweave.graph.documents import graph_of, passage_numbers
from hopweave.hit import Hit, Vector
from hopweave.knowledge import Capability, Knowledge, Ranking
from hopweave.knowledge_base.conditions import Rows, Tenant
from hopweave.knowledge_base.locks import ForkAware, watch_forks
from hopweave.knowledge_base.snapshot import Snapshot, View
from hopweave.text.analyzers import analyzer as analyze_with
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


class SnapshotRankings(Knowledge):
    """Ranks documents by the indexes of a file; derived classes say which rows."""

    _snapshot: Snapshot
    _smoothed: SmoothedVectors

    @property
    @abstractmethod
    def _own_model(self) -> str:
        """The model whose vectors the file holds."""

    @abstractmethod
    def _rows(self, view: View, tenant: Tenant | None) -> Rows | None:
        """The rows to rank, sorted; None for all."""

    @abstractmethod
    def _condition(self, tenant: Tenant | None) -> tuple[str, Sequence[Any]]:
        """The same as an SQL condition on `documents`, and the values to bind."""

    def rank_text(
        self, terms: Mapping[str, float], *, analyzer: str, top_k: int, tenant: Tenant | None = None
    ) -> Ranking:
        """Documents by BM25 over weighted, analysed query terms."""

        def rank(view: View) -> Ranking:
            return view.ranking(*view.text(analyzer).search(terms, top_k, self._rows(view, tenant)), top_k)

        return self._snapshot.at_one_version(rank)

    def rank_words(self, text: str, *, analyzer: str, top_k: int, tenant: Tenant | None = None) -> Ranking:
        """Documents by BM25 over the words of a text."""
        counts = Counter(analyze_with(analyzer)(text))
        return self.rank_text(counts, analyzer=analyzer, top_k=top_k, tenant=tenant)

    def rank_full_text(self, expression: str, *, top_k: int, tenant: Tenant | None = None) -> Ranking:
        """Documents that match an FTS5 expression, by SQLite's own BM25, larger is better."""
        condition, values = self._condition(tenant)
        return self._snapshot.at_one_version(lambda view: view.by_full_text(expression, top_k, condition, values))

    def rank_vectors(
        self, vector: Vector, *, model: str | None = None, top_k: int, tenant: Tenant | None = None
    ) -> Ranking:
        """Documents by cosine to a vector of the named embedding model, which is the file's own when not given."""
        name = model or self._own_model
        own = name == self._own_model

        def rank(view: View) -> Ranking:
            return view.nearest(vector, name, top_k, self._rows(view, tenant), own)

        return self._snapshot.at_one_version(rank)

    def rank_smoothed(
        self,
        vector: Vector,
        *,
        own_share: float,
        model: str | None = None,
        top_k: int,
        tenant: Tenant | None = None,
        among: Rows | None = None,
    ) -> Ranking:
        """Documents by the cosine of their vector blended with those of their neighbours in the graph."""
        return self._smoothed.nearest(self, vector, model or self._own_model, own_share, top_k, tenant, among)


class FilteredRankings(SnapshotRankings):
    """Ranks the documents of some rows only, with the scores that they have among all; all else is as in the file."""

    def __init__(self, file: SnapshotRankings, snapshot: Snapshot, model: str, rows: Rows) -> None:
        self._file = file
        self._snapshot = snapshot
        self._model = model
        self._ranked = rows

    @property
    def capabilities(self) -> frozenset[Capability]:
        """Those of the file."""
        return self._file.capabilities

    @property
    def version(self) -> int:
        """That of the file."""
        return self._file.version

    def get(self, ids: Iterable[str], *, tenant: Tenant | None = None) -> dict[str, Hit]:
        """The documents with these ids."""
        return self._file.get(ids, tenant=tenant)

    def embed(self, text: str) -> tuple[str, Vector]:
        """The vector of a text and the name of the embedding model that made it."""
        return self._file.embed(text)

    @property
    def own_share(self) -> float:
        """That of the file."""
        return self._file.own_share

    def rank_smoothed(self, vector: Vector, **options: Any) -> Ranking:
        """Documents by the cosine of their vector blended with those of their neighbours in the graph."""
        return self._file.rank_smoothed(vector, **options, among=self._ranked)

    @property
    def _own_model(self) -> str:
        return self._model

    def _rows(self, view: View, tenant: Tenant | None) -> Rows:  # noqa: ARG002
        return self._ranked

    def _condition(self, tenant: Tenant | None) -> tuple[str, list[str]]:  # noqa: ARG002
        return "documents.row IN (SELECT value FROM json_each(?))", [f"[{','.join(map(str, self._ranked.tolist()))}]"]
