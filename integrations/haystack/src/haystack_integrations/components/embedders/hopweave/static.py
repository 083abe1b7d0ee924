"""The embedded default: vectors without a download, without torch."""

from haystack_integrations.common.hopweave.derived import derived
from haystack_integrations.components.embedders.hopweave.core_embedder import CoreDocumentEmbedder, CoreTextEmbedder
from hopweave.vector.embedders import StaticEmbedder


@derived(StaticEmbedder)
class StaticTextEmbedder(CoreTextEmbedder):
    """
    The vector of a text: the mean of static token vectors (WordLlama), whose weights arrive with the package.

    ```python
    from haystack_integrations.components.embedders.hopweave import StaticTextEmbedder

    embedding = StaticTextEmbedder().run(text="Who built the tide gate?")["embedding"]
    ```
    """


@derived(StaticEmbedder)
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
