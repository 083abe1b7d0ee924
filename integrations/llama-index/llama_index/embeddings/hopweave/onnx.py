"""Transformer models in ONNX format: better vectors, without torch."""

from typing import Any, Literal

from llama_index.core.bridge.pydantic import ConfigDict, Field, model_validator
from llama_index.embeddings.hopweave.embedders import CoreEmbedding

from hopweave.vector.onnx import OnnxEmbedder


class OnnxEmbedding(CoreEmbedding):
    """
    A transformer model in ONNX format, from a folder on this machine. Needs `hopweave[onnx]`, not torch.

    Parameters are those of `hopweave.vector.onnx.OnnxEmbedder`.

    Examples:
        ```python
        from llama_index.core import Settings
        from llama_index.embeddings.hopweave import OnnxEmbedding

        Settings.embed_model = OnnxEmbedding(model="models/multilingual-e5-small", query_prompt="query: ")
        ```

    """

    model_config = ConfigDict(extra="forbid")

    model_name: str = Field(default="", description="The name of the embedding model; the embedder's own.")
    embed_batch_size: int = Field(
        default=256, gt=0, le=2048, description="Texts per call; `batch_size` of them go through the model at a time."
    )
    model: str = Field(description="Folder with model and tokenizer, or the model's .onnx file.")
    tokenizer: str | None = Field(
        default=None, description="File tokenizer.json, or its folder; beside the model if not given."
    )
    pooling: Literal["mean", "cls"] | None = Field(
        default=None,
        description="How the vectors of tokens become one: their mean, or that of the first token; as the model's "
        "1_Pooling/config.json says if not given, else mean.",
    )
    query_prompt: str | None = Field(
        default=None,
        description="Put before a question, such as 'query: '; if not given, as the model's configuration says, or "
        "else as its family is known to need (bge, e5, nomic, mxbai, arctic).",
    )
    document_prompt: str | None = Field(
        default=None, description="Put before a document, such as 'passage: '; by the same rule if not given."
    )
    max_tokens: int | None = Field(
        default=None, description="Longer texts are embedded by their beginning; the model's own limit if not given."
    )
    batch_size: int = Field(default=16, description="Texts per forward pass; texts of similar length go together.")
    threads: int | None = Field(default=None, description="Threads per forward pass; one per core if not given.")

    @model_validator(mode="before")
    @classmethod
    def _make_embedder(cls, data: Any) -> Any:
        parameters = {name: data[name] for name in OnnxEmbedder.model_fields if name in data}
        return {**data, "embedder": OnnxEmbedder.model_validate(parameters)}

    @classmethod
    def class_name(cls) -> str:
        """The name under which it is written."""
        return "HopweaveOnnxEmbedding"
