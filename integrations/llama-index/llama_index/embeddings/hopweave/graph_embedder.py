"""The embedder that was trained on the graph of a knowledge base: vectors without any other model."""

from typing import Any

from llama_index.core.bridge.pydantic import ConfigDict, Field, model_validator
from llama_index.embeddings.hopweave.embedders import CoreEmbedding

from hopweave.knowledge_base.train_embedder import load_embedder


class GraphEmbedding(CoreEmbedding):
    """
    The embedder that `hopweave train-embedder` trained on the graph of a knowledge base file.

    Examples:
        ```python
        from llama_index.core import Settings
        from llama_index.embeddings.hopweave import GraphEmbedding

        Settings.embed_model = GraphEmbedding(knowledge_base="trained.db")
        ```

    """

    model_config = ConfigDict(extra="forbid")

    model_name: str = Field(default="", description="The name of the embedding model; the embedder's own.")
    knowledge_base: str = Field(description="Path of the knowledge base file that the embedder was trained on.")

    @model_validator(mode="before")
    @classmethod
    def _read_embedder(cls, data: Any) -> Any:
        return {**data, "embedder": load_embedder(data["knowledge_base"])} if "knowledge_base" in data else data

    @classmethod
    def class_name(cls) -> str:
        """The name under which it is written."""
        return "HopweaveGraphEmbedding"
