"""The knowledge base: one SQLite file with documents, vectors and full-text index."""

import json
import sqlite3
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from hopweave.component import Ranking
from hopweave.document import Document
from hopweave.errors import KnowledgeBaseError
from hopweave.graph import ledger
from hopweave.graph.build.builder import GraphBuilder, contribute_all
from hopweave.graph.community import communities
from hopweave.graph.csr import Graph
from hopweave.graph.documents import passage_numbers
from hopweave.graph.model import Contribution
from hopweave.hit import Hit, Vector
from hopweave.knowledge_base.connections import Connections, grouped
from hopweave.knowledge_base.entry import Entry, changed, digests, distinct, listed
from hopweave.knowledge_base.integrity import problems
from hopweave.knowledge_base.settings import DEFAULT, GIVEN, Settings
from hopweave.knowledge_base.snapshot import Rows, Snapshot, Tenant, tenant_condition, version_of
from hopweave.query import Query
from hopweave.text.analyzers import analyzer
from hopweave.text.bm25 import Bm25, term_counts

if TYPE_CHECKING:
    from hopweave.pipeline import Result
    from hopweave.recipe import Recipe

_BLOB_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Added:
    """What became of the documents handed in."""

    added: int = 0
    updated: int = 0
    unchanged: int = 0

    def __add__(self, other: "Added") -> "Added":
        return Added(self.added + other.added, self.updated + other.updated, self.unchanged + other.unchanged)


class KnowledgeBase:
    """Documents and everything needed to find them, in one file or in a temporary one.

    One process writes at a time, any number read; every search sees the latest committed state. Adding is batched:
    an interrupted `add` keeps the batches already committed, and running it again skips what has not changed.

    >>> with KnowledgeBase.open() as kb:
    ...     kb.add([Document("skua", "The Skua is a ferry."), Document("gate", "The tide gate opens at six.")])
    ...     [hit.id for hit in kb.search("ferry").hits]
    Added(added=2, updated=0, unchanged=0)
    ['skua', 'gate']
    """

    def __init__(self, connections: Connections, settings: Settings, approximate_above: int) -> None:
        self.path = connections.path
        self.settings = settings
        self._connections = connections
        self._snapshot = Snapshot(connections, settings.analyzers, approximate_above)
        self._embed = lru_cache(256)(self._embed_now)
        self._temporary: tempfile.TemporaryDirectory[str] | None = None

    @classmethod
    def open(
        cls,
        path: str | Path | None = None,
        *,
        embedder: Any = DEFAULT,
        analyzers: Sequence[str] | None = None,
        graph: Sequence[GraphBuilder] | None = None,
        approximate_above: int = 100_000,
        read_only: bool = False,
        busy_seconds: float = 30.0,
    ) -> "KnowledgeBase":
        """Open a file, or create it. Without a path the knowledge base is temporary and gone when closed.

        `embedder` is anything that embeds texts, or None for no vectors; `graph` are the builders that connect
        documents (by mentions and links; an empty list for no graph). They and `analyzers` (nlp) are settled when the
        file is new. `approximate_above` is the number of vectors from which search goes through an HNSW graph.
        """
        temporary = tempfile.TemporaryDirectory(prefix="hopweave-") if path is None else None
        file = Path(temporary.name, "temporary.db") if temporary else Path(path or "")
        connections = Connections(file, busy_seconds=busy_seconds, read_only=read_only)
        try:
            knowledge_base = cls(connections, Settings.of(connections, embedder, analyzers, graph), approximate_above)
        except BaseException:
            connections.close()
            raise
        knowledge_base._temporary = temporary
        return knowledge_base

    def close(self) -> None:
        """Close the file."""
        self._connections.close()
        if self._temporary:
            self._temporary.cleanup()

    def __enter__(self) -> "KnowledgeBase":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # Writing

    def add(
        self,
        documents: Iterable[Document],
        *,
        on_conflict: Literal["replace", "skip", "fail"] = "replace",
        batch_size: int = 256,
        progress: Callable[[int], object] | None = None,
    ) -> Added:
        """Add documents, or replace those whose id is known and whose content differs.

        Each batch is one transaction. `progress` is called with the number of documents of each committed batch.
        """
        if on_conflict not in ("replace", "skip", "fail"):
            raise ValueError(f"on_conflict must be replace, skip or fail, but got {on_conflict!r}")
        if batch_size < 1:
            raise ValueError(f"batch_size must be at least 1, but got {batch_size}")
        total = Added()
        stream = iter(documents)
        while batch := list(islice(stream, batch_size)):
            total += self._add_batch(batch, on_conflict)
            if progress:
                progress(len(batch))
        if total.added or total.updated:
            self._store_approximate_indexes()
        return total

    def update(self, documents: Iterable[Document]) -> Added:
        """Replace documents that exist; an unknown id is an error that names it, and then nothing is changed."""
        documents = list(documents)
        missing = sorted({document.id for document in documents} - self.get([d.id for d in documents]).keys())
        if missing:
            raise KnowledgeBaseError(f"cannot update what is not there: {listed(missing)}")
        return self.add(documents)

    def delete(self, ids: Iterable[str]) -> int:
        """Remove documents and all that was derived from them; unknown ids are passed over. Says how many went."""
        ids = list(ids)
        with self._connections.writing() as connection:
            count = sum(
                connection.execute(f"DELETE FROM documents WHERE id IN ({marks})", group).rowcount
                for marks, group in grouped(ids)
            )
            ledger.forget(connection, ids)
        if count:
            self._store_approximate_indexes()
        return count

    def contribute(self, contributions: Iterable[Contribution]) -> None:
        """Record what a graph from elsewhere says, under ids of your own; `delete` these ids to take it back."""
        with self._connections.writing() as connection:
            ledger.record(connection, contributions)

    # Reading

    @property
    def version(self) -> int:
        """Grows with every write; equal versions mean equal contents."""
        with self._connections.glancing() as connection:
            return version_of(connection)

    def count(self, *, tenant: Tenant | None = None) -> int:
        """How many documents there are."""
        condition, values = tenant_condition(tenant or {})
        with self._connections.reading() as connection:
            found = connection.execute(f"SELECT count(*) FROM documents WHERE {condition}", values)
            return int(found.fetchone()[0])

    def get(self, ids: Iterable[str], *, tenant: Tenant | None = None) -> dict[str, Hit]:
        """The documents with these ids as hits without a score, in the order asked; unknown ids are left out."""
        wanted = list(dict.fromkeys(ids))
        condition, values = tenant_condition(tenant or {})
        found: dict[str, Hit] = {}
        with self._connections.reading() as connection:
            for marks, group in grouped(wanted):
                query = f"SELECT id, text, metadata FROM documents WHERE id IN ({marks}) AND {condition}"
                for key, text, metadata in connection.execute(query, [*group, *values]):
                    found[key] = Hit(key, text=text, metadata=json.loads(metadata))
        return {key: found[key] for key in wanted if key in found}

    def ids(self, *, tenant: Tenant | None = None) -> list[str]:
        """The ids of all documents, or of those with these metadata values, in the order in which they were added."""
        condition, values = tenant_condition(tenant or {})
        with self._connections.reading() as connection:
            rows = connection.execute(f"SELECT id FROM documents WHERE {condition} ORDER BY row", values)
            return [key for (key,) in rows]

    def documents(self) -> Iterator[Document]:
        """All documents, in the order in which they were added."""
        with self._connections.reading() as connection:
            rows = connection.execute("SELECT id, text, metadata FROM documents ORDER BY row").fetchall()
        for key, text, metadata in rows:
            yield Document(key, text, json.loads(metadata))

    def vectors(self, ids: Iterable[str]) -> dict[str, Vector]:
        """The stored vectors of these documents, as far as there are any."""
        found: dict[str, Vector] = {}
        with self._connections.reading() as connection:
            for marks, group in grouped(ids):
                query = f"SELECT id, vector FROM documents JOIN vectors USING (row) WHERE model = ? AND id IN ({marks})"
                for key, vector in connection.execute(query, [self.settings.model, *group]):
                    found[key] = np.frombuffer(vector, np.float32)
        return found

    def search(self, query: "str | Query", *, recipe: "str | Recipe" = "hybrid", top_k: int | None = None) -> "Result":
        """Run a recipe, by name or as an object, over this knowledge base."""
        from hopweave.pipeline import Pipeline

        return Pipeline(recipe, self).run(query, top_k=top_k)

    @property
    def graph(self) -> Graph:
        """The graph that the documents make together, as it is now."""
        return self._snapshot.graph()

    def visible(self, tenant: Tenant) -> frozenset[str]:
        """The ids of the documents that a tenant may see."""
        rows, ids = self._snapshot.allowed(tenant), self._snapshot.ids()
        return frozenset(ids[row] for row in ([] if rows is None else rows.tolist()) if row in ids)

    def communities(self, ids: Iterable[str]) -> dict[str, str]:
        """The community of the graph that each of these documents belongs to, as far as there are communities."""
        graph = self.graph
        labels = communities(graph)
        numbers = passage_numbers(graph, ids)
        return {} if labels is None else {key: str(labels[number]) for key, number in numbers.items()}

    def check(self) -> list[str]:
        """Everything that is wrong with the file, in words; an empty list when it is sound."""
        with self._connections.reading() as connection:
            return problems(connection, self.settings.analyzers, embedded=self.settings.model != GIVEN)

    # What sources ask for

    def rank_text(
        self, terms: Mapping[str, float], *, analyzer: str, top_k: int, tenant: Tenant | None = None
    ) -> Ranking:
        """Documents by BM25 over weighted, analysed query terms."""
        rows, scores = self._snapshot.text(analyzer).search(terms, top_k, self._snapshot.allowed(tenant))
        return self._ranking(rows, scores, top_k)

    def rank_words(self, text: str, *, analyzer: str, top_k: int, tenant: Tenant | None = None) -> Ranking:
        """Documents by BM25 over the words of a text."""
        terms = Bm25(analyzer=analyzer).terms(Query(text))
        return self.rank_text(terms, analyzer=analyzer, top_k=top_k, tenant=tenant)

    def rank_full_text(self, expression: str, *, top_k: int, tenant: Tenant | None = None) -> Ranking:
        """Documents that match an FTS5 expression, by SQLite's own BM25, larger is better."""
        condition, values = tenant_condition(tenant or {})
        query = (
            "SELECT documents.id, -bm25(full_text) AS score FROM full_text "
            "JOIN documents ON documents.row = full_text.rowid "
            f"WHERE full_text MATCH ? AND {condition} ORDER BY score DESC, documents.id LIMIT ?"
        )
        with self._connections.reading() as connection:
            return [(key, float(score)) for key, score in connection.execute(query, [expression, *values, top_k])]

    def rank_vectors(
        self, vector: Vector, *, model: str | None = None, top_k: int, tenant: Tenant | None = None
    ) -> Ranking:
        """Documents by cosine to a vector of the named embedding model, which is the file's own when not given."""
        name = model or self.settings.model
        index = self._snapshot.vectors(name)
        if index is None:
            if self.count():
                raise KnowledgeBaseError(f"{self.path}: holds no vectors of model {name!r}")
            return []
        if np.shape(vector) != (index.dimension,) or not np.isfinite(vector).all():
            raise KnowledgeBaseError(
                f"the question's vector has shape {np.shape(vector)}, but those of model {name!r} are "
                f"{index.dimension} finite numbers"
            )
        rows, cosines = index.search(vector, top_k, self._snapshot.allowed(tenant))
        return self._ranking(rows, cosines, top_k)

    def embed(self, text: str) -> tuple[str, Vector]:
        """The vector of a text and the name of the embedding model that made it."""
        return self._embed(text)

    # Inside

    def _embed_now(self, text: str) -> tuple[str, Vector]:
        if self.settings.embedder is None:
            raise KnowledgeBaseError(f"{self.path}: has no embedder; give the question a vector, or open it with one")
        name, matrix = self.settings.embedder.embed_named([text])
        return name, matrix[0]

    def _ranking(self, rows: Rows, scores: npt.NDArray[np.floating], top_k: int) -> Ranking:
        ids = self._snapshot.ids()
        # a row may have gone between the two looks at the file
        pairs = [(ids[row], score) for row, score in zip(rows.tolist(), scores.tolist(), strict=True) if row in ids]
        return sorted(pairs, key=lambda pair: (-pair[1], pair[0]))[:top_k]

    def _add_batch(self, batch: Sequence[Document], on_conflict: str) -> Added:
        entries = distinct([Entry.of(document) for document in batch], on_conflict)
        with self._connections.reading() as connection:
            pending = changed(entries, digests(connection, entries), on_conflict)
        if not pending:
            return Added(unchanged=len(batch))
        model, vectors = self._vectors_for([entry.document for entry in pending])
        builders = self.settings.builders
        contributions = list(contribute_all(builders, [entry.document for entry in pending])) if builders else []
        with self._connections.writing() as connection:
            known = digests(connection, entries)  # again: another process may have written meanwhile
            still = {entry.document.id for entry in changed(entries, known, on_conflict)}
            for entry, vector in zip(pending, vectors, strict=True):
                if entry.document.id in still:
                    self._write(connection, entry, model, vector)
            ledger.record(connection, [one for one in contributions if one.document_id in still])
        updated = len(still & known.keys())
        return Added(len(still) - updated, updated, len(batch) - len(still))

    def _write(self, connection: sqlite3.Connection, entry: Entry, model: str, vector: Vector | None) -> None:
        document = entry.document
        connection.execute("DELETE FROM documents WHERE id = ?", (document.id,))
        row = connection.execute(
            "INSERT INTO documents (id, title, text, metadata, digest, vector_digest) VALUES (?, ?, ?, ?, ?, ?)",
            (document.id, document.title, document.text, entry.metadata, *entry.digests),
        ).lastrowid
        for name in self.settings.analyzers:
            keys, counts = term_counts(analyzer(name)(document.searchable))
            connection.execute("INSERT INTO terms VALUES (?, ?, ?, ?)", (name, row, keys.tobytes(), counts.tobytes()))
        if vector is not None:
            connection.execute("INSERT INTO vectors VALUES (?, ?, ?)", (model, row, vector.tobytes()))

    def _vectors_for(self, documents: Sequence[Document]) -> tuple[str, list[Vector | None]]:
        model, vectors = self.settings.model, [document.vector for document in documents]
        lacking = [number for number, vector in enumerate(vectors) if vector is None]
        if self.settings.embedder and lacking:
            model, matrix = self.settings.embedder.embed_named([documents[number].searchable for number in lacking])
            if len(lacking) < len(documents) and model != self.settings.model:
                raise KnowledgeBaseError(
                    f"vectors of {model!r} cannot be mixed with given ones of {self.settings.model!r}"
                )
            for number, vector in zip(lacking, matrix, strict=True):
                vectors[number] = vector
        elif lacking and model != GIVEN:
            raise KnowledgeBaseError(
                f"{self.path}: its embedder {model!r} is not in the file; open it with embedder=... to add documents"
            )
        dimension = self._dimension(model)
        checked: list[Vector | None] = []
        for document, vector in zip(documents, vectors, strict=True):
            array = None if vector is None else np.ascontiguousarray(vector, np.float32)
            if array is not None:
                dimension = dimension or len(array)
                if len(array) != dimension:
                    raise KnowledgeBaseError(
                        f"document {document.id!r}: its vector has {len(array)} numbers, but those of model {model!r} "
                        f"have {dimension}"
                    )
            checked.append(array)
        return model, checked

    def _dimension(self, model: str) -> int | None:
        with self._connections.reading() as connection:
            found = connection.execute(
                "SELECT length(vector) FROM vectors WHERE model = ? LIMIT 1", (model,)
            ).fetchone()
        return found[0] // 4 if found else None

    def _store_approximate_indexes(self) -> None:
        if self.count() <= self._snapshot.approximate_above:
            return
        with self._connections.reading() as connection:
            models = [model for (model,) in connection.execute("SELECT DISTINCT model FROM vectors ORDER BY model")]
        for model in models:
            index = self._snapshot.vectors(model)
            if index is None or not index.outdated:
                continue
            fresh = index.with_approximation()
            data = fresh.approximate_bytes() or b""
            with self._connections.writing() as connection:
                connection.execute("DELETE FROM approximate_indexes WHERE model = ?", (model,))
                for part, start in enumerate(range(0, len(data), _BLOB_BYTES)):
                    piece = data[start : start + _BLOB_BYTES]
                    connection.execute("INSERT INTO approximate_indexes VALUES (?, ?, ?)", (model, part, piece))
            self._snapshot.replace_vectors(model, index, fresh)
