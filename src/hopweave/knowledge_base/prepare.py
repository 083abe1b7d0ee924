"""What is stored beside a document: its terms, its vector and its contribution to the graph.

Each document is prepared by itself, so that several processes can share the work.
"""

import pickle
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from typing import NamedTuple, TypeVar

import numpy as np

from hopweave.component import Embedder
from hopweave.document import Document
from hopweave.errors import KnowledgeBaseError
from hopweave.graph.build.builders.builder import GraphBuilder, contribute_all
from hopweave.graph.storage import ledger
from hopweave.hit import Vector
from hopweave.knowledge_base.settings import GIVEN, Settings
from hopweave.text.analyzers import analyzer
from hopweave.text.bm25_index import term_counts
from hopweave.vector.embedders import Cascade

T = TypeVar("T")


class Prepared(NamedTuple):
    """Of one document: term keys and counts by analyzer, the vector and its model, and its entry in the ledger."""

    terms: tuple[tuple[str, bytes, bytes], ...]
    model: str
    vector: Vector | None
    contribution: ledger.Encoded


@dataclass(frozen=True, slots=True)
class Preparer:
    """Prepares documents in the way that was settled for a file."""

    path: str
    analyzers: tuple[str, ...]
    builders: tuple[GraphBuilder, ...]
    embedder: Embedder | None
    model: str

    @classmethod
    def of(cls, path: object, settings: Settings) -> "Preparer":
        """The one for a file with these settings."""
        return cls(str(path), settings.analyzers, settings.builders, settings.embedder, settings.model)

    def prepare(self, documents: Sequence[Document]) -> list[Prepared]:
        """What is stored beside these documents; embedded in one call."""
        model, vectors = self._vectors(documents)
        contributions = contribute_all(self.builders, documents)
        return [
            Prepared(
                tuple((name, *_terms(name, document)) for name in self.analyzers),
                model,
                None if vector is None else np.ascontiguousarray(vector, np.float32),
                ledger.encoded(contribution),
            )
            for document, vector, contribution in zip(documents, vectors, contributions, strict=True)
        ]

    def _vectors(self, documents: Sequence[Document]) -> tuple[str, list[Vector | None]]:
        model, vectors = self.model, [document.vector for document in documents]
        lacking = [number for number, vector in enumerate(vectors) if vector is None]
        if self.embedder and lacking:
            model, matrix = self.embedder.embed_named([documents[number].searchable for number in lacking])
            if len(lacking) < len(documents) and model != self.model:
                raise KnowledgeBaseError(f"vectors of {model!r} cannot be mixed with given ones of {self.model!r}")
            if model != self.model and not isinstance(self.embedder, Cascade):
                raise KnowledgeBaseError(
                    f"{self.path}: holds vectors of {self.model!r}, but its embedder now makes those of {model!r}: its "
                    "files have changed; restore them, or index into a new file"
                )
            for number, vector in zip(lacking, matrix, strict=True):
                vectors[number] = vector
        elif lacking and model != GIVEN:
            raise KnowledgeBaseError(
                f"{self.path}: its embedder {model!r} is not in the file; open it with embedder=... to add documents"
            )
        return model, vectors


@contextmanager
def preparing(preparer: Preparer, workers: int) -> "Iterator[Pool]":
    """Processes that prepare documents; with one worker, this process does it."""
    if workers == 1:
        yield Pool(preparer, None)
        return
    try:
        pickle.dumps(preparer)
    except Exception as error:
        raise ValueError(
            f"workers must be 1, but got {workers}: the embedder or a graph builder cannot be sent to other processes: "
            f"{error}"
        ) from error
    executor = ProcessPoolExecutor(workers, get_context("spawn"), initializer=_start, initargs=(preparer,))
    try:
        yield Pool(preparer, executor)
    finally:
        executor.shutdown(cancel_futures=True)


class Pool:
    """Prepares documents here, or in other processes while the caller goes on."""

    def __init__(self, preparer: Preparer, executor: ProcessPoolExecutor | None) -> None:
        self.prepare = preparer.prepare
        self._executor = executor

    def start(self, documents: Sequence[Document]) -> "Future[list[Prepared]]":
        """Begin to prepare documents."""
        future: Future[list[Prepared]] = Future()
        if self._executor is None or not documents:
            future.set_result(self.prepare(documents) if documents else [])
            return future
        try:
            return self._executor.submit(_prepare, documents)
        except BrokenProcessPool as error:  # raised by `finish`, after what was prepared before is stored
            future.set_exception(error)
            return future

    def finish(self, future: "Future[list[Prepared]]") -> list[Prepared]:
        """Wait until they are prepared."""
        try:
            return future.result()
        except BrokenProcessPool as error:
            raise KnowledgeBaseError(
                "a worker process ended before its documents were prepared; what was stored stays"
            ) from error


def ahead(items: Iterable[T], count: int) -> Iterator[T]:
    """The same items, taken from their source `count` earlier than they are handed out.

    >>> list(ahead([1, 2, 3], 2))
    [1, 2, 3]
    """
    waiting: list[T] = []
    for item in items:
        waiting.append(item)
        if len(waiting) > count:
            yield waiting.pop(0)
    yield from waiting


_preparer: Preparer | None = None


def _start(preparer: Preparer) -> None:
    global _preparer  # noqa: PLW0603 - one for each worker process
    _preparer = preparer


def _prepare(documents: Sequence[Document]) -> list[Prepared]:
    assert _preparer  # noqa: S101 - for the type checker
    return _preparer.prepare(documents)


def _terms(name: str, document: Document) -> tuple[bytes, bytes]:
    keys, counts = term_counts(analyzer(name)(document.searchable))
    return keys.tobytes(), counts.tobytes()
