"""The embedder that was trained on the graph of a knowledge base: vectors without any other model."""

from pathlib import Path
from typing import Any

from haystack import component, default_to_dict

from haystack_integrations.components.embedders.hopweave.core_embedder import CoreDocumentEmbedder, CoreTextEmbedder
from hopweave.knowledge_base.file_path import FilePath
from hopweave.knowledge_base.train_embedder import load_embedder
from hopweave.vector.graph_embedder import GraphEmbedder


class _FromFile:
    """An embedder whose weights are in a knowledge base file."""

    def __init__(self, *, knowledge_base: str | Path) -> None:
        """
        Create the embedder; the file is read on first use.

        :param knowledge_base: Path of the knowledge base file that the embedder was trained on.
        """
        self._file = FilePath(knowledge_base)
        self.knowledge_base = self._file.written
        self._trained: GraphEmbedder | None = None

    @property
    def embedder(self) -> GraphEmbedder:
        """The embedder of the core, read from the file on first use."""
        if self._trained is None:
            self._trained = load_embedder(self._file.absolute())
        return self._trained

    def to_dict(self) -> dict[str, Any]:
        """
        The component as serialised data.

        :returns: Its type and the parameters of its constructor.
        """
        return default_to_dict(self, knowledge_base=self.knowledge_base)


@component
class GraphTextEmbedder(_FromFile, CoreTextEmbedder):
    """
    The vector of a question by the embedder that `hopweave train-embedder` trained on the graph of a file.

    ```python
    from haystack_integrations.components.embedders.hopweave import GraphTextEmbedder

    embedder = GraphTextEmbedder(knowledge_base="trained.db")
    embedding = embedder.run(text="Who built the tide gate?")["embedding"]
    ```
    """


@component
class GraphDocumentEmbedder(_FromFile, CoreDocumentEmbedder):
    """
    Documents with their vectors, made of title and content by the same model as `GraphTextEmbedder`.

    ```python
    from haystack import Document
    from haystack_integrations.components.embedders.hopweave import GraphDocumentEmbedder

    document = Document(content="The tide gate opens at six.", meta={"title": "Tide gate"})
    documents = GraphDocumentEmbedder(knowledge_base="trained.db").run(documents=[document])["documents"]
    ```
    """
