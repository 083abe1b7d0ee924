"""The vectors of questions, kept for when they are asked again."""

from functools import partial

from hopweave.component import Embedder
from hopweave.concurrency.once import LRUCache
from hopweave.errors import EmbeddingError
from hopweave.hit import Vector


class QuestionVectors:
    """Embeds questions and keeps the latest vectors, unless another embedder of a cascade has answered.

    Then the one that was meant has failed, and may answer the next time.

    >>> from hopweave.vector.embedders import StaticEmbedder
    >>> QuestionVectors(StaticEmbedder(), "wordllama-l2-supercat-256").of("ferry")[0]
    'wordllama-l2-supercat-256'
    """

    def __init__(self, embedder: Embedder | None, model: str, kept: int = 256) -> None:
        self._embedder = embedder
        self._model = model
        self._latest = LRUCache[str, tuple[str, Vector]](kept)

    def of(self, question: str) -> tuple[str, Vector]:
        """The name of the model that answered, and the vector."""
        try:
            return self._latest.get_or_make(question, partial(self._embed, question))
        except _NotKept as other:
            return other.found

    def _embed(self, question: str) -> tuple[str, Vector]:
        if self._embedder is None:
            raise EmbeddingError("there is no embedder")
        name, matrix = self._embedder.embed_named([question], queries=True)
        if name != self._model:
            raise _NotKept(name, matrix[0])  # what is raised is not kept
        return name, matrix[0]


class _NotKept(Exception):
    def __init__(self, name: str, vector: Vector) -> None:
        self.found = name, vector
