"""The embedder that is trained on the graph of a knowledge base."""

from collections.abc import Sequence
from hashlib import blake2b
from typing import Literal

from pydantic import Field

from hopweave.component import Embedder
from hopweave.concurrency.once import once
from hopweave.errors import EmbeddingError
from hopweave.vector.contextual.contextual_model import ContextualModel
from hopweave.vector.embedders import Matrix


class GraphEmbedder(Embedder):
    """Contextual embeddings that were trained on the edges of a graph, without any other model.

    The vector of a text is the sum of its token vectors, weighted by attention (`hopweave.vector.contextual`).
    `hopweave train-embedder` and the function `train_embedder` make one; its weights are kept in the file.

    >>> model = ContextualModel.untrained(["The Skua is a ferry."], start="random")
    >>> GraphEmbedder.of(model).embed(["ferry"]).shape
    (1, 256)
    """

    kind: Literal["graph"] = "graph"
    name: str = Field(min_length=1, description="Name that identifies the vectors of this model.")
    weights: bytes = Field(default=b"", exclude=True, repr=False, description="The model, as stored in the file.")

    @classmethod
    def of(cls, model: ContextualModel) -> "GraphEmbedder":
        """The embedder of a model."""
        weights = model.to_bytes()
        return cls(name=_name(weights), weights=weights)

    @property
    def model_name(self) -> str:
        """The name that identifies the vectors of this model."""
        return self.name

    def embed(self, texts: Sequence[str]) -> Matrix:
        """One row per text."""
        if not self.weights:
            raise EmbeddingError(f"embedder {self.name!r}: its weights are in the file that it was trained on")
        return _loaded(self.name, self.weights).embed(texts)


def _name(weights: bytes) -> str:
    return f"graph-{blake2b(weights, digest_size=8).hexdigest()}"


@once(max_entries=4)
def _loaded(name: str, weights: bytes) -> ContextualModel:
    if _name(weights) != name:
        raise EmbeddingError(f"embedder {name!r}: its weights are damaged")
    return ContextualModel.from_bytes(weights)
