"""Embedders of the core as embedding models, and the one that needs neither download nor torch."""

import asyncio
from abc import ABC
from typing import Any

from llama_index.core.base.embeddings.base import Embedding
from llama_index.core.bridge.pydantic import ConfigDict, Field
from llama_index.core.embeddings import BaseEmbedding

from hopweave.component import Embedder
from hopweave.vector.embedders import StaticEmbedder


def _set_by_subclass() -> Embedder:
    """Never called; with a default, type checkers do not ask users of a subclass for an embedder."""
    raise NotImplementedError


class CoreEmbedding(BaseEmbedding, ABC):
    """What turns an embedder of the core into an embedding model: derive from this and set `embedder`."""

    model_config = ConfigDict(extra="forbid")

    embedder: Embedder = Field(default_factory=_set_by_subclass, exclude=True, description="What does the work.")

    def model_post_init(self, context: Any) -> None:
        """Go by the embedder's name."""
        super().model_post_init(context)
        self.model_name = self.embedder.model_name

    def _get_text_embeddings(self, texts: list[str]) -> list[Embedding]:
        rows: list[Embedding] = self.embedder.embed(texts).tolist()
        return rows

    def _get_text_embedding(self, text: str) -> Embedding:
        return self._get_text_embeddings([text])[0]

    def _get_query_embedding(self, query: str) -> Embedding:
        row: Embedding = self.embedder.embed_queries([query])[0].tolist()
        return row

    async def _aget_query_embedding(self, query: str) -> Embedding:
        return await asyncio.to_thread(self._get_query_embedding, query)

    async def _aget_text_embedding(self, text: str) -> Embedding:
        return await asyncio.to_thread(self._get_text_embedding, text)

    async def _aget_text_embeddings(self, texts: list[str]) -> list[Embedding]:
        return await asyncio.to_thread(self._get_text_embeddings, texts)


class StaticEmbedding(CoreEmbedding):
    """
    Static token vectors, averaged. The weights come with the package index.

    A knowledge base opened without naming an embedder holds vectors of this very model.

    Examples:
        ```python
        from llama_index.core import Settings
        from llama_index.embeddings.hopweave import StaticEmbedding

        Settings.embed_model = StaticEmbedding()
        ```

    """

    model_name: str = Field(default=StaticEmbedder().model_name, description="The name of the embedding model.")
    model_config = ConfigDict(extra="forbid")

    embedder: Embedder = Field(default_factory=StaticEmbedder, exclude=True, description="What does the work.")

    @classmethod
    def class_name(cls) -> str:
        """The name under which it is written."""
        return "HopweaveStaticEmbedding"
