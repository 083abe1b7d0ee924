"""What is stored beside a document: its terms, its vector and its contribution to the graph.

Each document is prepared by itself, so that several processes can share the work.
"""

import os
import pickle
import signal
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context, parent_process
from threading import Thread
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
    """Of one document: term keys and counts by analyzer, vectors by model, and its entry in the ledger."""

    terms: tuple[tuple[str, bytes, bytes], ...]
    vectors: dict[str, Vector]
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
        vectors = self._vectors(documents)
        contributions = contribute_all(self.builders, documents)
        return [
            Prepared(
                tuple((name, *_terms(name, document)) for name in self.analyzers),
                {model: np.ascontiguousarray(vector, np.float32) for model, vector in by_model.items()},
                ledger.encoded(contribution),
            )
            for document, by_model, contribution in zip(documents, vectors, contributions, strict=True)
        ]

    def _vectors(self, documents: Sequence[Document]) -> list[dict[str, Vector]]:
        """The vectors of each document by model: those it brings along are of the file's own."""
        given = [{} if one.vector is None else {self.model: one.vector} for one in documents]
        lacking = [number for number, known in enumerate(given) if not known]
        if self.embedder is None:
            if lacking and self.model != GIVEN:
                raise KnowledgeBaseError(
                    f"{self.path}: its embedder {self.model!r} is not in the file; "
                    "open it with embedder=... to add documents"
                )
            return given
        pending = range(len(documents)) if isinstance(self.embedder, Cascade) else lacking
        made = self.embedder.embed_every([documents[number].searchable for number in pending]) if pending else {}
        if made and self.model not in made and not isinstance(self.embedder, Cascade):
            raise KnowledgeBaseError(
                f"{self.path}: holds vectors of {self.model!r}, but its embedder now makes those of "
                f"{next(iter(made))!r}: its files have changed; restore them, or index into a new file"
            )
        for place, number in enumerate(pending):
            given[number] = {name: matrix[place] for name, matrix in made.items()} | given[number]
        return given


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
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent, which gets it too, ends its workers
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """A parent that was killed ends nothing, and a worker would wait for work without end."""
    if parent := parent_process():
        parent.join()
        os._exit(1)


def _prepare(documents: Sequence[Document]) -> list[Prepared]:
    assert _preparer  # noqa: S101 - for the type checker
    return _preparer.prepare(documents)


def _terms(name: str, document: Document) -> tuple[bytes, bytes]:
    keys, counts = term_counts(analyzer(name)(document.searchable))
    return keys.tobytes(), counts.tobytes()
