"""Documents along the edges that suit what the question is after."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from haystack import component
from haystack.document_stores.types import DocumentStore, FilterPolicy

from haystack_integrations.common.hopweave.graph_location import Graph
from haystack_integrations.components.retrievers.hopweave.seeded_retriever import SeededRetriever
from hopweave.sources.intent_edges import IntentEdges

_CORE = IntentEdges()


@component
class IntentEdgesRetriever(SeededRetriever):
    """
    Documents that the best ones reach over the edge types the question's intent prefers: 1.0 along, 0.7 against.

    Each name in `seeds_from` is an input: connect any retriever to it. Without an intent (the input `intent`, from an
    `IntentRouter`), or with one that prefers no edges, there are no documents.

    ```python
    from haystack import Document
    from haystack_integrations.components.retrievers.hopweave import IntentEdgesRetriever

    retriever = IntentEdgesRetriever(knowledge_base="hopweave.db", seeds_from=["text"])
    documents = retriever.run(query="Who built MV Skua?", text=[Document(id="skua", score=1.0)])["documents"]
    ```
    """

    def __init__(
        self,
        *,
        knowledge_base: str | Path | None = None,
        document_store: DocumentStore | None = None,
        graph: Graph | None = None,
        graph_schema: str = "hopweave",
        seeds_from: Sequence[str] = _CORE.seeds_from,
        seeds_per_source: int = _CORE.seeds_per_source,
        top_k: int = _CORE.top_k,
        optional: bool = _CORE.optional,
        deadline_seconds: float | None = _CORE.deadline_seconds,
        filters: dict[str, Any] | None = None,
        filter_policy: str | FilterPolicy = FilterPolicy.REPLACE,
        tenant: dict[str, Any] | None = None,
    ) -> None:
        """
        Create the retriever; file and graph are opened on first use.

        :param knowledge_base: Path of the knowledge base file that has the graph.
        :param document_store: Where the documents live, if not in the knowledge base; they go by the same ids.
        :param graph: Path of a graph file, or URL of a PostgreSQL database (one with a password as a secret), as
            `GraphWriter` writes them, in the place of a knowledge base; then `document_store` is needed.
        :param graph_schema: Schema of the database in which the tables of the graph lie.
        :param seeds_from: Names of inputs for what other retrievers found.
        :param seeds_per_source: How many of the best documents of each are seeds.
        :param top_k: How many documents to return.
        :param optional: Carry on without this source when it fails or is too slow.
        :param deadline_seconds: Give up on this source after so many seconds.
        :param filters: Haystack metadata filters.
        :param filter_policy: Whether filters given to `run` replace these (`replace`), are merged in (`merge`), or are
            left to a later component (`defer`): fetch until `top_k` documents pass, and hand out the others too.
        :param tenant: Metadata values a document must have to be seen at all.
        """
        source = IntentEdges(
            seeds_from=seeds_from,
            seeds_per_source=seeds_per_source,
            top_k=top_k,
            optional=optional,
            deadline_seconds=deadline_seconds,
        )
        SeededRetriever.__init__(
            self,
            source,
            knowledge_base=knowledge_base,
            document_store=document_store,
            graph=graph,
            graph_schema=graph_schema,
            filters=filters,
            filter_policy=filter_policy,
            tenant=tenant,
        )
