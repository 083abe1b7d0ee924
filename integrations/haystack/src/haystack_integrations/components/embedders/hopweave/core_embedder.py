"""What all embedders share: texts or documents in, one embedder of the core, vectors out."""

from dataclasses import replace
from typing import Any, ClassVar

from haystack import Document

from haystack_integrations.common.hopweave.derived import CoreComponent
from haystack_integrations.common.hopweave.documents import check_documents, to_passage
from haystack_integrations.common.hopweave.inputs import TEXT, Input
from hopweave.component import Embedder


class CoreEmbedder(CoreComponent):
    """Base class of embedders; a component derives from one of the two below."""

    def _hold(self, embedder: Embedder) -> None:
        """Create the embedder; what it needs is loaded on first use."""
        self._embedder = embedder

    @property
    def embedder(self) -> Embedder:
        """The embedder of the core."""
        return self._embedder

    def warm_up(self) -> None:
        """Load the weights."""
        self.embedder.embed([""])


class CoreTextEmbedder(CoreEmbedder):
    """Base class of embedders of questions."""

    inputs: ClassVar[tuple[Input, ...]] = (TEXT,)
    outputs: ClassVar[dict[str, Any]] = {"embedding": list[float], "meta": dict[str, Any]}

    def _run(self, text: str) -> dict[str, Any]:
        """
        Embed a text.

        :returns: `embedding`, and `meta` with the name of the model.
        """
        name, rows = self.embedder.embed_named([text], queries=True)
        return {"embedding": rows[0].tolist(), "meta": {"model": name}}


class CoreDocumentEmbedder(CoreEmbedder):
    """Base class of embedders of documents."""

    inputs: ClassVar[tuple[Input, ...]] = (Input("documents", list[Document], "The documents."),)
    outputs: ClassVar[dict[str, Any]] = {"documents": list[Document], "meta": dict[str, Any]}

    def _run(self, documents: list[Document]) -> dict[str, Any]:
        """
        Embed documents.

        :returns: `documents` as copies with embeddings, and `meta` with the name of the model.
        """
        check_documents(documents)
        name, rows = self.embedder.embed_named([to_passage(one).searchable for one in documents])
        embedded = [replace(one, embedding=row.tolist()) for one, row in zip(documents, rows, strict=True)]
        return {"documents": embedded, "meta": {"model": name}}
