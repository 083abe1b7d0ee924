"""Some of the documents of a file, ranked as among all of them."""

# ruff: noqa: ARG002 - the rows are those of the tenant already

from collections import Counter
from collections.abc import Iterable, Mapping

from hopweave.hit import Hit, Vector
from hopweave.knowledge import Capability, Knowledge, Ranking
from hopweave.knowledge_base.indexes.snapshot import Rows, Snapshot, Tenant, View
from hopweave.text.analyzers import analyzer as analyze_with


class RowsOnly(Knowledge):
    """Ranks the documents of some rows only, with the scores that they have among all; the rest is that of the file."""

    def __init__(self, file: Knowledge, snapshot: Snapshot, model: str, rows: Rows) -> None:
        self._file = file
        self._snapshot = snapshot
        self._model = model
        self._rows = rows

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

    def rank_text(
        self, terms: Mapping[str, float], *, analyzer: str, top_k: int, tenant: Tenant | None = None
    ) -> Ranking:
        """Documents by BM25 over weighted, analysed query terms."""

        def rank(view: View) -> Ranking:
            return view.ranking(*view.text(analyzer).search(terms, top_k, self._rows), top_k)

        return self._snapshot.at_one_version(rank)

    def rank_words(self, text: str, *, analyzer: str, top_k: int, tenant: Tenant | None = None) -> Ranking:
        """Documents by BM25 over the words of a text."""
        return self.rank_text(Counter(analyze_with(analyzer)(text)), analyzer=analyzer, top_k=top_k)

    def rank_full_text(self, expression: str, *, top_k: int, tenant: Tenant | None = None) -> Ranking:
        """Documents that match an FTS5 expression, by SQLite's own BM25, larger is better."""
        condition = "documents.row IN (SELECT value FROM json_each(?))"
        values = [f"[{','.join(map(str, self._rows.tolist()))}]"]
        return self._snapshot.at_one_version(lambda view: view.by_full_text(expression, top_k, condition, values))

    def rank_vectors(
        self, vector: Vector, *, model: str | None = None, top_k: int, tenant: Tenant | None = None
    ) -> Ranking:
        """Documents by cosine to a vector."""
        name = model or self._model
        return self._snapshot.at_one_version(lambda view: view.nearest(vector, name, top_k, self._rows))
