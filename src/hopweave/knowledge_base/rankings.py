"""Rankings of the documents of a file: all, those that pass filters, and by vectors blended with their neighbours.

Blended vectors are never stored: that of a document would keep a trace of a neighbour that was deleted.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt

from hopweave.component import Embedder
from hopweave.concurrency.once import LRUCache
from hopweave.errors import EmbeddingError
from hopweave.graph.documents import graph_of, passage_numbers
from hopweave.hit import Vector
from hopweave.knowledge import Evidence, Knowledge, Ranking
from hopweave.knowledge_base.conditions import Rows, Tenant, tenant_condition
from hopweave.knowledge_base.locks import ForkAware, watch_forks
from hopweave.knowledge_base.settings import Settings
from hopweave.knowledge_base.snapshot import Snapshot, View
from hopweave.scores import ScoreDistribution
from hopweave.storage.strings import string_hash
from hopweave.text.analyzers import analyzer as analyze_with
from hopweave.text.document_bm25 import Wholes, document_scores
from hopweave.vector.latent_index import LatentIndex
from hopweave.vector.latent_space import LatentVectors
from hopweave.vector.smoothing import smoothed
from hopweave.vector.vector_index import VectorIndex


class QuestionVectors:
    """Embeds questions and keeps the latest vectors, unless another embedder of a cascade has answered.

    Then the one that was meant has failed, and may answer the next time.

    >>> from hopweave.vector.embedders import StaticEmbedder
    >>> QuestionVectors(StaticEmbedder(), "wordllama-l2-supercat-256").of("ferry")[0]
    'wordllama-l2-supercat-256'
    """

    def __init__(self, embedder: Embedder | None, model: str, kept: int = 256) -> None:
        self._embedder = embedder
        self._model = model
        self._latest = LRUCache[str, tuple[str, Vector]](kept)

    def of(self, question: str) -> tuple[str, Vector]:
        """The name of the model that answered, and the vector."""
        try:
            return self._latest.get_or_make(question, partial(self._embed, question))
        except _NotKept as other:
            return other.found

    def _embed(self, question: str) -> tuple[str, Vector]:
        if self._embedder is None:
            raise EmbeddingError("there is no embedder")
        name, matrix = self._embedder.embed_named([question], queries=True)
        if name != self._model:
            raise _NotKept(name, matrix[0])  # what is raised is not kept
        return name, matrix[0]


class _NotKept(Exception):
    def __init__(self, name: str, vector: Vector) -> None:
        self.found = name, vector


_KEPT = 4

Floats = npt.NDArray[np.float64]


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
        vectors = self._snapshot.vectors(model)
        with knowledge.one_version(), self._snapshot.view(vectors) as view:  # vectors and graph of one version
            key = view.version, model, own_share, repr(None if tenant is None else sorted(tenant.items()))
            stored = view.vectors(model)
            index = self._made.get_or_make(key, lambda: _smoothed(knowledge, view, stored, own_share, tenant))
            return view.nearest(index, vector, model, top_k, among)


def _smoothed(
    knowledge: Knowledge, view: View, plain: VectorIndex | None, own_share: float, tenant: Tenant | None
) -> VectorIndex | None:
    if plain is None:
        return None
    rows, matrix = plain.by_row()
    allowed = view.allowed(tenant)
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
    """Ranks documents by the indexes of a file: all that a tenant may see, or those of some rows."""

    settings: Settings
    _snapshot: Snapshot
    _smoothed: SmoothedVectors
    _ranked: Rows | None = None

    def _restricted_to(self, rows: Rows) -> Self:
        """The same file, but only the documents of these rows are ranked, with the scores that they have among all."""
        restricted = object.__new__(type(self))
        restricted.__dict__.update(vars(self), _ranked=rows)
        return restricted

    def rank_text(
        self, terms: Mapping[str, float], *, analyzer: str, top_k: int, tenant: Tenant | None = None
    ) -> Ranking:
        """Documents by BM25 over weighted, analysed query terms."""
        with self._snapshot.view(self._snapshot.text(analyzer)) as view:
            return view.ranking(*view.text(analyzer).search(terms, top_k, self._rows(view, tenant)), top_k)

    def rank_words(self, text: str, *, analyzer: str, top_k: int, tenant: Tenant | None = None) -> Ranking:
        """Documents by BM25 over the words of a text."""
        counts = Counter(analyze_with(analyzer)(text))
        return self.rank_text(counts, analyzer=analyzer, top_k=top_k, tenant=tenant)

    def rank_full_text(self, expression: str, *, top_k: int, tenant: Tenant | None = None) -> Ranking:
        """Documents that match an FTS5 expression, by SQLite's own BM25, larger is better."""
        condition, values = tenant_condition(tenant or {})
        if self._ranked is not None:
            condition = "documents.row IN (SELECT value FROM json_each(?))"
            values = [f"[{','.join(map(str, self._ranked.tolist()))}]"]
        with self._snapshot.view() as view:
            return view.by_full_text(expression, top_k, condition, values)

    def rank_vectors(
        self, vector: Vector, *, model: str | None = None, top_k: int, tenant: Tenant | None = None
    ) -> Ranking:
        """Documents by cosine to a vector of the named embedding model, which is the file's own when not given."""
        name = model or self.settings.model
        with self._snapshot.view(self._snapshot.vectors(name)) as view:
            index = view.vectors(name)
            if index is not None and name != self.settings.model:
                view.warn_of_missing(index.size, name)
            return view.nearest(index, vector, name, top_k, self._rows(view, tenant))

    def score_text(
        self,
        terms: Mapping[str, float],
        ids: Collection[str],
        *,
        analyzer: str,
        tenant: Tenant | None = None,
        best: int = 0,
    ) -> Mapping[str, float]:
        """The BM25 scores of these documents, 0 without a term, and of the `best` of all; hidden ones are left out."""
        with self._snapshot.view(self._snapshot.text(analyzer)) as view:
            return text_scores(view, terms, ids, analyzer, self._rows(view, tenant), best)

    def score_vectors(
        self, vector: Vector, ids: Collection[str], *, model: str | None = None, tenant: Tenant | None = None
    ) -> Mapping[str, float]:
        """The cosines of these documents to a vector of the named model; those without a vector are left out."""
        name = model or self.settings.model
        with self._snapshot.view(self._snapshot.vectors(name)) as view:
            return vector_scores(view, vector, ids, name, self._rows(view, tenant))

    def score_documents(
        self, terms: Mapping[str, float], ids: Collection[str], *, analyzer: str, tenant: Tenant | None = None
    ) -> Mapping[str, Evidence]:
        """What the documents that these passages are parts of, and the corpus, say of them, by kind of evidence."""
        with self._snapshot.view(self._snapshot.text(analyzer), self._snapshot.latent(analyzer)) as view:
            return document_evidence(view, terms, ids, analyzer, tenant)

    def rank_smoothed(
        self,
        vector: Vector,
        *,
        own_share: float,
        model: str | None = None,
        top_k: int,
        tenant: Tenant | None = None,
    ) -> Ranking:
        """Documents by the cosine of their vector blended with those of their neighbours in the graph."""
        name = model or self.settings.model
        return self._smoothed.nearest(self, vector, name, own_share, top_k, tenant, self._ranked)

    def _rows(self, view: View, tenant: Tenant | None) -> Rows | None:
        """The rows to rank, sorted; None for all."""
        return view.allowed(tenant) if self._ranked is None else self._ranked


def text_scores(
    view: View, terms: Mapping[str, float], ids: Collection[str], analyzer: str, allowed: Rows | None, best: int
) -> dict[str, float]:
    """The BM25 scores of those of these documents that are allowed, and of the best of all that are."""
    index = view.text(analyzer)
    found = dict(view.ranking(*index.search(terms, best, allowed), best)) if best else {}
    rows = _allowed(view.rows(key for key in ids if key not in found), allowed)
    scores = index.scores(terms, np.fromiter(rows.values(), np.int64, len(rows)))
    return found | dict(zip(rows, map(float, scores), strict=True))


def vector_scores(
    view: View, vector: Vector, ids: Collection[str], model: str, allowed: Rows | None
) -> dict[str, float]:
    """The cosines of those of these documents that are allowed and have a vector."""
    index = view.vectors(model)
    if index is None:
        return {}
    by_row = {row: key for key, row in _allowed(view.rows(ids), allowed).items()}
    rows, cosines = index.scores(vector, np.array(sorted(by_row), np.int64))
    return {by_row[row]: float(cosine) for row, cosine in zip(rows.tolist(), cosines, strict=True)}


class Seen(NamedTuple):
    """The parts and documents that an asker may see: parts by place, their documents, and the documents' directions.

    `share` is how many of all passages are parts of a document of which the asker sees another part.
    """

    parts: Rows
    wholes: Wholes
    directions: LatentVectors
    share: float


def seen(view: View, analyzer: str, tenant: Tenant | None) -> Seen:
    """What an asker may see. A document is made of its visible parts alone, so that hidden ones give nothing away."""
    index, allowed = view.latent(analyzer), view.allowed(tenant)
    if allowed is None:
        parts, numbers, directions = np.arange(len(index.rows)), index.whole_of, index.wholes
    else:
        parts = np.flatnonzero(np.isin(index.rows, allowed))
        visible, numbers = np.unique(index.whole_of[parts], return_inverse=True)
        directions = LatentVectors(_visible_directions(view, analyzer, index, visible, parts))
    wholes = Wholes(index.rows[parts], numbers)
    passages = index.passages if allowed is None else len(allowed)
    together = int(wholes.sizes[wholes.sizes > 1].sum())
    return Seen(parts, wholes, directions, together / passages if passages else 0.0)


def _visible_directions(
    view: View, analyzer: str, index: LatentIndex, visible: Rows, parts: Rows
) -> npt.NDArray[np.int8]:
    """The directions of documents; those with hidden parts are made of the others."""
    values = index.wholes.values[visible]
    size = len(index.whole_keys)
    hidden = np.bincount(index.whole_of, minlength=size) > np.bincount(index.whole_of[parts], minlength=size)
    partly = np.flatnonzero(hidden[visible])
    if len(partly):
        values = values.copy()
        values[partly] = index.projected_wholes(visible[partly], index.rows[parts], view.latent_counts(analyzer))
    return values


def document_evidence(
    view: View, terms: Mapping[str, float], ids: Collection[str], analyzer: str, tenant: Tenant | None
) -> dict[str, Evidence]:
    """What documents and corpus say of their parts among these ids, by kind of evidence."""
    index = view.latent(analyzer)
    if not len(index.rows):
        return {}
    asker = view.version, f"{analyzer} {None if tenant is None else sorted(tenant.items())}"
    known: Seen = view.snapshot.made.get_or_make(asker, lambda: seen(view, analyzer, tenant))
    if known.share <= 0:
        return {}
    by_row = {row: key for key, row in view.rows(ids).items()}
    rows = np.array(sorted(by_row), np.int64)
    wholes = known.wholes.of(rows)
    rows, wholes = rows[wholes >= 0], wholes[wholes >= 0]
    keys = [by_row[row] for row in rows.tolist()]
    found: dict[str, tuple[Floats, ScoreDistribution]] = {}
    scores = document_scores(view.text(analyzer).segments, terms, known.wholes)
    found["document"] = scores[wholes], ScoreDistribution.of(scores, known.wholes.count)
    asked = [string_hash(term) for term in terms]
    if (direction := index.part_space.question(asked)) is not None:
        places, everything = index.places(rows), len(known.parts) == len(index.rows)
        lie = index.parts.distribution(direction) if everything else _of(index.parts, direction, known.parts)
        found["latent"] = index.parts.cosines(direction, places), lie
    if (direction := index.document_space.question(asked)) is not None:
        found["latent_document"] = (
            known.directions.cosines(direction, wholes),
            known.directions.distribution(direction),
        )
    return {
        name: Evidence(dict(zip(keys, map(float, values), strict=True)), distribution, known.share)
        for name, (values, distribution) in found.items()
    }


def _of(vectors: LatentVectors, direction: Floats, places: Rows) -> ScoreDistribution:
    """How the cosines of some vectors lie, which takes a look at each."""
    return ScoreDistribution.of(vectors.cosines(direction, places), len(places))


def _allowed(rows: Mapping[str, int], allowed: Rows | None) -> dict[str, int]:
    if allowed is None:
        return dict(rows)
    visible: Sequence[bool] = np.isin(list(rows.values()), allowed).tolist()
    return {key: row for (key, row), seen in zip(rows.items(), visible, strict=True) if seen}
