"""What all embedders share: texts or documents in, one embedder of the core, vectors out."""

from dataclasses import replace
from typing import Any

from haystack import Document, component

from haystack_integrations.common.hopweave.documents import to_passage
from haystack_integrations.common.hopweave.parameters import NamedParameters, written
from hopweave.component import Embedder


class CoreEmbedder(NamedParameters):
    """Base class of embedders; a component derives from one of the two below and adds its constructor."""

    def __init__(self, embedder: Embedder) -> None:
        """
        Hold an embedder.

        :param embedder: The embedder of the core.
        """
        self._embedder = embedder

    @property
    def embedder(self) -> Embedder:
        """The embedder of the core."""
        return self._embedder

    def warm_up(self) -> None:
        """Load the weights."""
        self.embedder.embed([""])

    def to_dict(self) -> dict[str, Any]:
        """
        The component as serialised data.

        :returns: Its type and the parameters of its constructor.
        """
        return written(self, self.embedder)


class CoreTextEmbedder(CoreEmbedder):
    """Base class of embedders of questions."""

    @component.output_types(embedding=list[float], meta=dict[str, Any])
    def run(self, text: str) -> dict[str, Any]:
        """
        Embed a text.

        :param text: The text.
        :returns: `embedding`, and `meta` with the name of the model.
        """
        name, rows = self.embedder.embed_named([text], queries=True)
        return {"embedding": rows[0].tolist(), "meta": {"model": name}}


class CoreDocumentEmbedder(CoreEmbedder):
    """Base class of embedders of documents."""

    @component.output_types(documents=list[Document], meta=dict[str, Any])
    def run(self, documents: list[Document]) -> dict[str, Any]:
        """
        Embed documents.

        :param documents: The documents.
        :returns: `documents` as copies with embeddings, and `meta` with the name of the model.
        """
        name, rows = self.embedder.embed_named([to_passage(one).searchable for one in documents])
        embedded = [replace(one, embedding=row.tolist()) for one, row in zip(documents, rows, strict=True)]
        return {"documents": embedded, "meta": {"model": name}}
