"""Where a component finds documents and graph: a file, a document store, a graph; shared within a process."""

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from haystack.document_stores.types import DocumentStore
from haystack.utils import Secret

from haystack_integrations.common.hopweave.derived import CoreComponent
from haystack_integrations.common.hopweave.external_documents import documents_in
from haystack_integrations.common.hopweave.graph_location import Graph, located
from hopweave import KnowledgeBase, Recipe
from hopweave.knowledge import Capability, Knowledge
from hopweave.knowledge_base.file_path import FilePath
from hopweave.knowledge_base.shared import open_shared

MEMORY = ":memory:"
_CONNECT_RETRIEVER = (
    "name it in upstream and connect a retriever of your store to it, or to leave it out, nothing; or give a "
    "knowledge_base that has it"
)


class KnowledgeFile:
    """
    Opens a file or a graph for reading when it is first asked for; whoever names the same shares what is in memory.

    It can be copied and pickled: the copy is not open.
    """

    def __init__(
        self,
        path: str | Path | None,
        document_store: Any = None,
        graph: Graph | None = None,
        graph_schema: str = "hopweave",
        *,
        graph_alone: bool = False,
    ) -> None:
        """
        Check what was given; nothing is opened. Raises `ValueError` if something is missing.

        With `graph_alone`, a graph is enough, without a store for its documents.
        """
        from haystack_integrations.document_stores.hopweave import HopweaveDocumentStore

        if path is not None and not isinstance(path, str | Path):
            raise ValueError(
                f"knowledge_base: must be the path of a file, but got a {type(path).__name__}; a store is given as "
                "document_store"
            )
        self._place = None if path is None else FilePath(path)
        self.path = None if self._place is None else self._place.written
        self.document_store = document_store
        self.graph = None if graph is None else located(graph, graph_schema)
        self._made_of = (path, document_store, graph, graph_schema)
        self._graph_alone = graph_alone
        self._knowledge_base: KnowledgeBase | None = None
        self._file: tuple[int, int] | None = None
        if self.path == MEMORY:
            raise ValueError(
                f"knowledge_base: {MEMORY!r} is not allowed here; make a HopweaveDocumentStore({MEMORY!r}) and give it "
                "as document_store"
            )
        if graph is not None and document_store is None and not graph_alone:
            raise ValueError("graph: document_store is needed as well, as a graph holds no documents")
        if graph is None and self.path is None and not isinstance(document_store, HopweaveDocumentStore):
            raise ValueError(
                "knowledge_base: the path of a file is needed, unless document_store is a HopweaveDocumentStore or "
                f"there is a graph; got document_store={document_store!r}"
            )

    @property
    def has_its_documents(self) -> bool:
        """Whether the documents are in the file, and not in a store of somebody else's."""
        return self.graph is None and (self.document_store is None or self.path is None)

    def open(self) -> KnowledgeBase:
        """The knowledge base, opened now if nobody has done so before, or if another file has taken its place."""
        if self._place is None:
            store: KnowledgeBase = self.document_store.knowledge_base
            return store
        path = self._place.absolute()
        file = _file_at(path)
        knowledge_base = self._knowledge_base
        if knowledge_base is None or file != self._file:
            self._close_file()
            knowledge_base = self._knowledge_base = open_shared(path)
            self._file = _file_at(path)
        return knowledge_base

    def knowledge(self) -> Knowledge:
        """Where a source finds documents: the knowledge base, or a document store with it as its index."""
        if self.graph is not None:
            return documents_in(self.document_store, None if self.path is None else self.open(), self.graph)
        knowledge_base, store = self.open(), self.document_store
        return knowledge_base if store is None or self.path is None else documents_in(store, knowledge_base)

    def warm_up(self) -> KnowledgeBase | None:
        """Open what there is to open, and return the knowledge base if there is one."""
        if self.graph is not None:
            self.graph.open()
        return None if self.graph is not None and self.path is None else self.open()

    def check_recipe(self, recipe: Recipe) -> None:
        """
        Raise `RecipeError` if a recipe searches words or vectors where there is only a graph.

        The recipe comes without the sources that others stand in for.
        """
        if self.graph is not None and self.path is None:
            recipe.check_capabilities({Capability.GRAPH, Capability.TENANTS}, _CONNECT_RETRIEVER)

    def close(self) -> None:
        """Let go of the file, which the last to do so closes, and of the graph."""
        if self.graph is not None:
            self.graph.close()
        self._close_file()

    def _close_file(self) -> None:
        knowledge_base, self._knowledge_base = self._knowledge_base, None
        if knowledge_base is not None:
            knowledge_base.close()

    def __reduce__(self) -> tuple[Callable[..., "KnowledgeFile"], tuple[Any, ...]]:
        return partial(KnowledgeFile, graph_alone=self._graph_alone), self._made_of


class OverKnowledge(CoreComponent):
    """Base class of components over a knowledge base, a document store or a graph, which are opened on first use."""

    knowledge_base: str | None = None
    document_store: DocumentStore | None = None
    graph: str | Secret | None = None
    graph_schema: str = "hopweave"
    _file: KnowledgeFile | None = None

    def _located(self, *, graph_alone: bool = False) -> KnowledgeFile:
        store, schema = self.document_store, self.graph_schema
        return KnowledgeFile(self.knowledge_base, store, self.graph, schema, graph_alone=graph_alone)

    def warm_up(self) -> None:
        """Open knowledge base and graph, if there are any."""
        if self._file:
            self._file.warm_up()

    def close(self) -> None:
        """Let go of knowledge base and graph."""
        if self._file:
            self._file.close()


def load_embedder(knowledge_base: KnowledgeBase) -> None:
    """Load the model of a knowledge base's embedder, if it has one, so that the first question does not wait."""
    if knowledge_base.settings.embedder is not None:
        knowledge_base.embed("warm up")


def _file_at(path: Path) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino
