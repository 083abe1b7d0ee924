"""Rankings of those documents of a file that pass filters, with the scores that they have among all."""

# ruff: noqa: ARG002 - the rows are those of the tenant already

from collections.abc import Iterable
from typing import Any

from hopweave.hit import Hit, Vector
from hopweave.knowledge import Capability, Ranking
from hopweave.knowledge_base.indexes.rankings import SnapshotRankings
from hopweave.knowledge_base.indexes.snapshot import Rows, Snapshot, Tenant, View


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

    def _rows(self, view: View, tenant: Tenant | None) -> Rows:
        return self._ranked

    def _condition(self, tenant: Tenant | None) -> tuple[str, list[str]]:
        return "documents.row IN (SELECT value FROM json_each(?))", [f"[{','.join(map(str, self._ranked.tolist()))}]"]
