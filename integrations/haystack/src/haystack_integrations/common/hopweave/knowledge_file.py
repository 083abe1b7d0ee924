"""The knowledge base of a component: a file that components of one process share, or that of a document store."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from haystack_integrations.common.hopweave.external_documents import documents_in
from haystack_integrations.common.hopweave.graph_location import GraphLocation
from hopweave import KnowledgeBase
from hopweave.knowledge import Knowledge
from hopweave.knowledge_base.shared import open_shared

MEMORY = ":memory:"


class KnowledgeFile:
    """
    Opens a file for reading when it is first asked for; whoever names the same file shares what is in memory.

    It can be copied and pickled: the copy is not open.
    """

    def __init__(self, path: str | Path | None, document_store: Any = None, graph: GraphLocation | None = None) -> None:
        from haystack_integrations.document_stores.hopweave import HopweaveDocumentStore

        if path is not None and not isinstance(path, str | Path):
            raise ValueError(
                f"knowledge_base: must be the path of a file, but got {path!r}; a store is given as document_store"
            )
        self.path = None if path is None else str(path)
        self.document_store = document_store
        self.graph = graph
        self._knowledge_base: KnowledgeBase | None = None
        self._file: tuple[int, int] | None = None
        if self.path == MEMORY:
            raise ValueError(
                f"knowledge_base: {MEMORY!r} is not allowed here; make a HopweaveDocumentStore({MEMORY!r}) and give it "
                "as document_store"
            )
        if graph is not None and document_store is None:
            raise ValueError("graph: document_store is needed as well, as a graph holds no documents")
        if graph is None and self.path is None and not isinstance(document_store, HopweaveDocumentStore):
            raise ValueError(
                "knowledge_base: the path of a file is needed, unless document_store is a HopweaveDocumentStore; got "
                f"document_store={document_store!r}"
            )

    def open(self) -> KnowledgeBase:
        """
        The knowledge base, opened now if nobody has done so before, or if another file has taken its place.

        :returns: A knowledge base for reading.
        """
        if self.path is None:
            store: KnowledgeBase = self.document_store.knowledge_base
            return store
        file = _file_at(self.path)
        knowledge_base = self._knowledge_base
        if knowledge_base is None or file != self._file:
            self.close()
            knowledge_base = self._knowledge_base = open_shared(expanded(self.path))
            self._file = _file_at(self.path)
        return knowledge_base

    def knowledge(self) -> Knowledge:
        """
        Where a source finds documents: the knowledge base, or a document store with the knowledge base as its index.

        :returns: What sources and stages ask.
        """
        if self.graph is not None:
            index = None if self.path is None else self.open()
            return documents_in(self.document_store, index, self.graph.open())
        knowledge_base, store = self.open(), self.document_store
        return knowledge_base if store is None or self.path is None else documents_in(store, knowledge_base)

    def close(self) -> None:
        """Let go of the file, which the last to do so closes, and of the graph."""
        if self.graph is not None:
            self.graph.close()
        knowledge_base, self._knowledge_base = self._knowledge_base, None
        if knowledge_base is not None:
            knowledge_base.close()

    def __reduce__(self) -> tuple[Callable[..., "KnowledgeFile"], tuple[Any, ...]]:
        return KnowledgeFile, (self.path, self.document_store, self.graph)


def load_embedder(knowledge_base: KnowledgeBase) -> None:
    """
    Load the model of a knowledge base's embedder, if it has one, so that the first question does not wait for it.

    :param knowledge_base: The knowledge base.
    """
    if knowledge_base.settings.embedder is not None:
        knowledge_base.embed("warm up")


def expanded(path: str | Path) -> Path:
    """
    A path with the home folder for `~`.

    :param path: The path as a user wrote it.
    :returns: The path.
    """
    return Path(path).expanduser()


def _file_at(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(expanded(path))
    except OSError:
        return None
    return found.st_dev, found.st_ino
