"""Vectors of hits that live outside a knowledge base."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from hopweave.errors import EmbeddingError
from hopweave.hit import Vector

Lookup = Callable[[list[str]], Mapping[str, Any]]
"""Ids in, the vectors that are kept for them out."""

Embed = Callable[[list[str]], Any]
"""Texts in, one row of numbers per text out."""


class VectorFinder:
    """Stands in for a knowledge base in stages that compare hits: looks vectors up, else has them made in one call.

    `stored` asks wherever the vectors are kept, `embed_texts` makes those that are not, and with `lexical` hits for
    which there is still none are compared by their words. Receipts say which it was.

    >>> finder = VectorFinder(stored=lambda ids: {"a": [1.0, 0.0]}, embed_texts=lambda texts: [[0.0, 1.0]] * len(texts))
    >>> finder.vectors(["a", "b"])["a"].tolist(), finder.embedded(["some text"])[0].tolist()
    ([1.0, 0.0], [0.0, 1.0])
    """

    def __init__(self, stored: Lookup | None = None, embed_texts: Embed | None = None, *, lexical: bool = True) -> None:
        self.lexical = lexical
        self._stored = stored
        self._embed_texts = embed_texts

    def vectors(self, ids: Iterable[str]) -> dict[str, Vector]:
        """The vectors that are kept for these ids, as far as there are any."""
        found = self._stored(list(ids)) if self._stored else {}
        return {key: np.asarray(vector, np.float32) for key, vector in found.items() if vector is not None}

    def embedded(self, texts: Sequence[str]) -> list[Vector]:
        """One vector per text; none at all if there is no embedder."""
        if self._embed_texts is None or not texts:
            return []
        return [np.asarray(vector, np.float32) for vector in self._embed_texts(list(texts))]

    def embed(self, text: str) -> tuple[str, Vector]:
        """The vector of a question, under the name that receipts use."""
        if self._embed_texts is None:
            raise EmbeddingError("there is no embedder to make the question's vector")
        return "embedder", self.embedded([text])[0]
