"""Vectors of hits whose documents are not in a knowledge base."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from hopweave.errors import EmbeddingError
from hopweave.hit import Hit, Vector
from hopweave.knowledge import Capability, Knowledge

Lookup = Callable[[list[str]], Mapping[str, Any]]
"""A function from ids to their stored vectors."""

Embed = Callable[[list[str]], Any]
"""A function from texts to one row of numbers per text."""


class VectorFinder(Knowledge):
    """Takes the place of a knowledge base in stages that compare hits by their vectors.

    `stored` looks up vectors, `embed_texts` computes those that are not stored, in one call, and with `lexical` hits
    that still have none are compared by their words. `embed_queries` embeds questions, if that is done differently.
    Receipts record the origin of each vector.

    >>> finder = VectorFinder(stored=lambda ids: {"a": [1.0, 0.0]}, embed_texts=lambda texts: [[0.0, 1.0]] * len(texts))
    >>> finder.vectors(["a", "b"])["a"].tolist(), finder.embed_texts(["some text"])[0].tolist()
    ([1.0, 0.0], [0.0, 1.0])
    """

    def __init__(
        self,
        stored: Lookup | None = None,
        embed_texts: Embed | None = None,
        embed_queries: Embed | None = None,
        *,
        lexical: bool = True,
    ) -> None:
        self._lexical = lexical
        self._embed_queries = embed_queries or embed_texts
        self._stored = stored
        self._embed_texts = embed_texts

    version = 0  # it holds nothing that could change

    @property
    def capabilities(self) -> frozenset[Capability]:
        """Vectors for texts if there is an embedder, words in their place if that is allowed."""
        embedders = {Capability.EMBEDDER, Capability.TEXT_EMBEDDER} if self._embed_texts else set()
        return frozenset(embedders | ({Capability.WORD_VECTORS} if self._lexical else set()))

    def get(self, ids: Iterable[str], *, tenant: Mapping[str, Any] | None = None) -> dict[str, Hit]:  # noqa: ARG002
        """Nothing: it holds no documents."""
        return {}

    def vectors(self, ids: Iterable[str], *, model: str | None = None) -> dict[str, Vector]:  # noqa: ARG002
        """The stored vectors of these ids, as far as there are any."""
        found = self._stored(list(ids)) if self._stored else {}
        return {key: np.asarray(vector, np.float32) for key, vector in found.items() if vector is not None}

    def embed_texts(self, texts: Sequence[str]) -> list[Vector]:
        """One vector per text."""
        if self._embed_texts is None:
            raise EmbeddingError("there is no embedder to make vectors of texts")
        return [np.asarray(vector, np.float32) for vector in self._embed_texts(list(texts))]

    def embed(self, text: str) -> tuple[str, Vector]:
        """The vector of a question, and the name that receipts use for its origin."""
        if self._embed_queries is None:
            raise EmbeddingError("there is no embedder for the vector of the question")
        return "embedder", np.asarray(self._embed_queries([text])[0], np.float32)
