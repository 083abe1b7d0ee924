"""Rankings of the documents of a file, or of some of them."""

from abc import abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from hopweave.hit import Vector
from hopweave.knowledge import Knowledge, Ranking
from hopweave.knowledge_base.indexes.smoothed_vectors import SmoothedVectors
from hopweave.knowledge_base.indexes.snapshot import Rows, Snapshot, Tenant, View
from hopweave.text.analyzers import analyzer as analyze_with


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
