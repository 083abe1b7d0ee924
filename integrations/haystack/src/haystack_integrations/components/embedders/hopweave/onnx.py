"""Transformer models in ONNX format: better vectors, without torch."""

from typing import Literal

from haystack import component

from haystack_integrations.components.embedders.hopweave.core_embedder import (
    CoreDocumentEmbedder,
    CoreEmbedder,
    CoreTextEmbedder,
)
from hopweave.vector.onnx import OnnxEmbedder

_CORE = OnnxEmbedder(model="model")


class _FromFolder(CoreEmbedder):
    """An embedder whose weights are in a folder."""

    def __init__(
        self,
        *,
        model: str,
        tokenizer: str | None = _CORE.tokenizer,
        pooling: Literal["mean", "cls"] | None = _CORE.pooling,
        query_prompt: str | None = _CORE.query_prompt,
        document_prompt: str | None = _CORE.document_prompt,
        max_tokens: int | None = _CORE.max_tokens,
        batch_size: int = _CORE.batch_size,
        threads: int | None = _CORE.threads,
    ) -> None:
        """
        Create the embedder; model and tokenizer are loaded on first use.

        :param model: Folder with model and tokenizer, or the model's .onnx file.
        :param tokenizer: File tokenizer.json, or its folder; beside the model if not given.
        :param pooling: How the vectors of tokens become one: their mean, or that of the first token; as the model's
            1_Pooling/config.json says if not given, else mean.
        :param query_prompt: Put before a question, such as 'query: '; if not given, as the model's configuration says,
            or else as its family is known to need (bge, e5, nomic, mxbai, arctic).
        :param document_prompt: Put before a document, such as 'passage: '; by the same rule if not given.
        :param max_tokens: Longer texts are embedded by their beginning; the model's own limit if not given.
        :param batch_size: Texts per forward pass; texts of similar length go together.
        :param threads: Threads per forward pass; one per core if not given.
        """
        CoreEmbedder.__init__(
            self,
            OnnxEmbedder(
                model=model,
                tokenizer=tokenizer,
                pooling=pooling,
                query_prompt=query_prompt,
                document_prompt=document_prompt,
                max_tokens=max_tokens,
                batch_size=batch_size,
                threads=threads,
            ),
        )


@component
class OnnxTextEmbedder(_FromFolder, CoreTextEmbedder):
    """
    The vector of a question by a model in ONNX format, from a folder on this machine; needs `hopweave[onnx]`.

    ```python
    from haystack_integrations.components.embedders.hopweave import OnnxTextEmbedder

    embedder = OnnxTextEmbedder(model="models/multilingual-e5-small", query_prompt="query: ")
    embedding = embedder.run(text="Who built the tide gate?")["embedding"]
    ```
    """


@component
class OnnxDocumentEmbedder(_FromFolder, CoreDocumentEmbedder):
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
