"""The embedded default: vectors without a download, without torch."""

from haystack import component

from haystack_integrations.components.embedders.hopweave.core_embedder import CoreDocumentEmbedder, CoreTextEmbedder
from hopweave.vector.embedders import StaticEmbedder

_CORE = StaticEmbedder()


@component
class StaticTextEmbedder(CoreTextEmbedder):
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
        CoreTextEmbedder.__init__(self, StaticEmbedder(max_characters=max_characters))


@component
class StaticDocumentEmbedder(CoreDocumentEmbedder):
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
        CoreDocumentEmbedder.__init__(self, StaticEmbedder(max_characters=max_characters))
