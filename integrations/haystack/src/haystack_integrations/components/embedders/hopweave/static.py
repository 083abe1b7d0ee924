"""The embedded default: vectors without a download, without torch."""

from dataclasses import replace
from typing import Any

from haystack import Document, component

from haystack_integrations.common.hopweave.documents import to_passage
from haystack_integrations.common.hopweave.parameters import written
from hopweave.vector.embedders import StaticEmbedder

_CORE = StaticEmbedder()


@component
class StaticTextEmbedder:
    """
    The vector of a text: the mean of static token vectors (WordLlama), whose weights arrive with the package.

    ```python
    from haystack_integrations.components.embedders.hopweave import StaticTextEmbedder

    embedding = StaticTextEmbedder().run(text="Who built the tide gate?")["embedding"]
    ```
    """

    def __init__(self, *, max_characters: int = _CORE.max_characters) -> None:
        """
        Create the embedder; the weights are loaded on first use.

        :param max_characters: Longer texts are embedded by their beginning.
        """
        self.embedder = StaticEmbedder(max_characters=max_characters)

    def warm_up(self) -> None:
        """Load the weights."""
        self.embedder.embed([""])

    def to_dict(self) -> dict[str, Any]:
        """
        The component as serialised data.

        :returns: Its type and the parameters of its constructor.
        """
        return written(self, self.embedder)

    @component.output_types(embedding=list[float], meta=dict[str, Any])
    def run(self, text: str) -> dict[str, Any]:
        """
        Embed a text.

        :param text: The text.
        :returns: `embedding`, and `meta` with the name of the model.
        """
        name, rows = self.embedder.embed_named([text])
        return {"embedding": rows[0].tolist(), "meta": {"model": name}}


@component
class StaticDocumentEmbedder:
    """
    Documents with their vectors, made of title and content by the same model as `StaticTextEmbedder`.

    ```python
    from haystack import Document
    from haystack_integrations.components.embedders.hopweave import StaticDocumentEmbedder

    document = Document(content="The tide gate opens at six.", meta={"title": "Tide gate"})
    documents = StaticDocumentEmbedder().run(documents=[document])["documents"]
    ```
    """

    def __init__(self, *, max_characters: int = _CORE.max_characters) -> None:
        """
        Create the embedder; the weights are loaded on first use.

        :param max_characters: Longer texts are embedded by their beginning.
        """
        self.embedder = StaticEmbedder(max_characters=max_characters)

    def warm_up(self) -> None:
        """Load the weights."""
        self.embedder.embed([""])

    def to_dict(self) -> dict[str, Any]:
        """
        The component as serialised data.

        :returns: Its type and the parameters of its constructor.
        """
        return written(self, self.embedder)

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
