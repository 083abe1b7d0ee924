"""Transformer models in ONNX format: better vectors, without torch."""

from haystack_integrations.common.hopweave.derived import derived
from haystack_integrations.components.embedders.hopweave.core_embedder import CoreDocumentEmbedder, CoreTextEmbedder
from hopweave.vector.onnx import OnnxEmbedder


@derived(OnnxEmbedder)
class OnnxTextEmbedder(CoreTextEmbedder):
    """
    The vector of a question by a model in ONNX format, from a folder on this machine; needs `hopweave[onnx]`.

    ```python
    from haystack_integrations.components.embedders.hopweave import OnnxTextEmbedder

    embedder = OnnxTextEmbedder(model="models/multilingual-e5-small", query_prompt="query: ")
    embedding = embedder.run(text="Who built the tide gate?")["embedding"]
    ```
    """


@derived(OnnxEmbedder)
class OnnxDocumentEmbedder(CoreDocumentEmbedder):
    """
    Documents with their vectors, made of title and content by the same model as `OnnxTextEmbedder`.

    ```python
    from haystack import Document
    from haystack_integrations.components.embedders.hopweave import OnnxDocumentEmbedder

    embedder = OnnxDocumentEmbedder(model="models/multilingual-e5-small", document_prompt="passage: ")
    document = Document(content="The tide gate opens at six.", meta={"title": "Tide gate"})
    documents = embedder.run(documents=[document])["documents"]
    ```
    """
