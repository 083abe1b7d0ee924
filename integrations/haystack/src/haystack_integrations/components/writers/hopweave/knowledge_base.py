"""Indexing: documents into a knowledge base file, with everything that is needed to find them."""

from collections.abc import Sequence
from typing import Any

from haystack import Document, component, default_to_dict

from haystack_integrations.common.hopweave.documents import to_passage
from haystack_integrations.common.hopweave.knowledge_settings import Described, open_for_writing


@component
class KnowledgeBaseWriter:
    """
    Writes documents, their vectors, terms and graph to a knowledge base file.

    Writing what has not changed costs next to nothing, and writing a document again replaces all that was derived from
    it. Who finds the entities in a text can be exchanged: register spaCy, GLiNER, an LLM or any function with
    `hopweave.graph.build.mentions.register_extractor` and name it in `graph`, as in
    `graph=[{"kind": "mentions", "extractor": "my extractor"}]`. What an extractor in front of this component puts
    into a document's meta becomes nodes and edges through the builder `metadata`.

    ```python
    from haystack import Document
    from haystack_integrations.components.writers.hopweave import KnowledgeBaseWriter

    writer = KnowledgeBaseWriter(knowledge_base="hopweave.db")
    writer.run(documents=[Document(content="The Skua was built at Sørvåg.", meta={"title": "MV Skua"})])
    ```
    """

    def __init__(
        self,
        *,
        knowledge_base: str,
        embedder: Described | None = "static",
        analyzers: Sequence[str] | None = None,
        graph: Sequence[Described] | None = None,
        on_conflict: str = "replace",
        batch_size: int = 256,
    ) -> None:
        """
        Create the writer. Embedder, analyzers and graph matter only when the file is new.

        :param knowledge_base: Path of the knowledge base file.
        :param embedder: What makes the vectors of documents that come without an embedding, by kind or as a mapping
            with kind and parameters; None leaves them without.
        :param analyzers: How text becomes terms: nlp, nlp:<language>, code, light.
        :param graph: What connects documents, by kind or as mappings; None for the usual builders, an empty list for no
            graph.
        :param on_conflict: What to do about ids that are taken: replace, skip or fail.
        :param batch_size: How many documents make a transaction.
        """
        self.knowledge_base = knowledge_base
        self.embedder = embedder
        self.analyzers = None if analyzers is None else list(analyzers)
        self.graph = None if graph is None else list(graph)
        self.on_conflict = on_conflict
        self.batch_size = batch_size

    def to_dict(self) -> dict[str, Any]:
        """
        The component as serialised data.

        :returns: Its type and the parameters of its constructor.
        """
        return default_to_dict(
            self,
            knowledge_base=self.knowledge_base,
            embedder=self.embedder,
            analyzers=self.analyzers,
            graph=self.graph,
            on_conflict=self.on_conflict,
            batch_size=self.batch_size,
        )

    @component.output_types(documents_written=int, unchanged=int)
    def run(self, documents: list[Document], on_conflict: str | None = None) -> dict[str, int]:
        """
        Write documents.

        :param documents: The documents.
        :param on_conflict: What to do about ids that are taken, instead of what was given at construction.
        :returns: `documents_written`, those added or replaced, and `unchanged`.
        """
        policy = self.on_conflict if on_conflict is None else on_conflict
        with open_for_writing(self.knowledge_base, self.embedder, self.analyzers, self.graph) as file:
            added = file.add((to_passage(one) for one in documents), on_conflict=policy, batch_size=self.batch_size)
        return {"documents_written": added.added + added.updated, "unchanged": added.unchanged}
