"""The embedder that was trained on the graph of a knowledge base: vectors without any other model."""

from typing import Any

from haystack_integrations.common.hopweave.derived import derived
from haystack_integrations.common.hopweave.settings import KNOWLEDGE_BASE_FILE
from haystack_integrations.components.embedders.hopweave.core_embedder import (
    CoreDocumentEmbedder,
    CoreEmbedder,
    CoreTextEmbedder,
)
from hopweave.knowledge_base.file_path import FilePath
from hopweave.knowledge_base.train_embedder import load_embedder
from hopweave.vector.graph_embedder import GraphEmbedder


class TrainedEmbedder(CoreEmbedder):
    """Base class of embedders whose weights are in a knowledge base file."""

    settings = (KNOWLEDGE_BASE_FILE,)

    knowledge_base: str

    def _hold(self, _core: Any) -> None:
        """Create the embedder; the file is read on first use."""
        self._file = FilePath(self.knowledge_base)
        self._trained: GraphEmbedder | None = None

    @property
    def embedder(self) -> GraphEmbedder:
        """The embedder of the core, read from the file on first use."""
        if self._trained is None:
            self._trained = load_embedder(self._file.absolute())
        return self._trained


@derived()
class GraphTextEmbedder(TrainedEmbedder, CoreTextEmbedder):
    """
    The vector of a question by the embedder that `hopweave train-embedder` trained on the graph of a file.

    ```python
    from haystack_integrations.components.embedders.hopweave import GraphTextEmbedder

    embedder = GraphTextEmbedder(knowledge_base="trained.db")
    embedding = embedder.run(text="Who built the tide gate?")["embedding"]
    ```
    """


@derived()
class GraphDocumentEmbedder(TrainedEmbedder, CoreDocumentEmbedder):
    """
    Documents with their vectors, made of title and content by the same model as `GraphTextEmbedder`.

    ```python
    from haystack import Document
    from haystack_integrations.components.embedders.hopweave import GraphDocumentEmbedder

    document = Document(content="The tide gate opens at six.", meta={"title": "Tide gate"})
    documents = GraphDocumentEmbedder(knowledge_base="trained.db").run(documents=[document])["documents"]
    ```
    """
