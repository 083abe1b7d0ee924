"""Documents next to the best ones: near in the graph, or along the edges that suit the intent."""

from collections.abc import Sequence
from typing import Any, ClassVar

from haystack import component
from haystack.document_stores.types import DocumentStore

from haystack_integrations.components.retrievers.hopweave.source_retriever import SourceRetriever
from hopweave.graph.neighbours import GraphBoost, IntentEdges

_BOOST, _EDGES = GraphBoost(), IntentEdges()


@component
class GraphBoostRetriever(SourceRetriever):
    """
    Documents near the best ones of other retrievers, and central in the graph: 0.7 · proximity + 0.3 · PageRank.

    Each name in `seeds_from` is an input: connect any retriever to it. For the intents in `two_hop_intents` (the input
    `intent`, from an `IntentRouter`) a second hop counts as well.

    ```python
    from haystack import Document
    from haystack_integrations.components.retrievers.hopweave import GraphBoostRetriever

    retriever = GraphBoostRetriever(knowledge_base="hopweave.db", seeds_from=["text"])
    documents = retriever.run(query="Who built MV Skua?", text=[Document(id="skua", score=1.0)])["documents"]
    ```
    """

    asks: ClassVar[tuple[str, ...]] = ("intent",)

    def __init__(
        self,
        *,
        knowledge_base: str,
        document_store: DocumentStore | None = None,
        seeds_from: Sequence[str] = _BOOST.seeds_from,
        seeds_per_source: int = _BOOST.seeds_per_source,
        two_hop_intents: Sequence[str] = _BOOST.two_hop_intents,
        edge_type_weights: dict[str, float] = _BOOST.edge_type_weights,
        top_k: int = _BOOST.top_k,
        optional: bool = _BOOST.optional,
        deadline_seconds: float | None = _BOOST.deadline_seconds,
        filters: dict[str, Any] | None = None,
        tenant: dict[str, Any] | None = None,
    ) -> None:
        """
        Create the retriever; the file is opened on first use.

        :param knowledge_base: Path of the knowledge base file that has the graph.
        :param document_store: Where the documents live, if not in the knowledge base; they go by the same ids.
        :param seeds_from: Names of inputs for what other retrievers found.
        :param seeds_per_source: How many of the best documents of each are seeds.
        :param two_hop_intents: Intents for which a second hop counts.
        :param edge_type_weights: Weights of edge types that differ from the usual ones.
        :param top_k: How many documents to return.
        :param optional: Carry on without this source when it fails or is too slow.
        :param deadline_seconds: Give up on this source after so many seconds.
        :param filters: Haystack metadata filters.
        :param tenant: Metadata values a document must have to be seen at all.
        """
        source = GraphBoost(
            seeds_from=seeds_from,
            seeds_per_source=seeds_per_source,
            two_hop_intents=two_hop_intents,
            edge_type_weights=edge_type_weights,
            top_k=top_k,
            optional=optional,
            deadline_seconds=deadline_seconds,
        )
        SourceRetriever.__init__(
            self,
            source,
            knowledge_base=knowledge_base,
            filters=filters,
            tenant=tenant,
            document_store=document_store,
        )


@component
class IntentEdgesRetriever(SourceRetriever):
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

    asks: ClassVar[tuple[str, ...]] = ("intent",)

    def __init__(
        self,
        *,
        knowledge_base: str,
        document_store: DocumentStore | None = None,
        seeds_from: Sequence[str] = _EDGES.seeds_from,
        seeds_per_source: int = _EDGES.seeds_per_source,
        top_k: int = _EDGES.top_k,
        optional: bool = _EDGES.optional,
        deadline_seconds: float | None = _EDGES.deadline_seconds,
        filters: dict[str, Any] | None = None,
        tenant: dict[str, Any] | None = None,
    ) -> None:
        """
        Create the retriever; the file is opened on first use.

        :param knowledge_base: Path of the knowledge base file that has the graph.
        :param document_store: Where the documents live, if not in the knowledge base; they go by the same ids.
        :param seeds_from: Names of inputs for what other retrievers found.
        :param seeds_per_source: How many of the best documents of each are seeds.
        :param top_k: How many documents to return.
        :param optional: Carry on without this source when it fails or is too slow.
        :param deadline_seconds: Give up on this source after so many seconds.
        :param filters: Haystack metadata filters.
        :param tenant: Metadata values a document must have to be seen at all.
        """
        source = IntentEdges(
            seeds_from=seeds_from,
            seeds_per_source=seeds_per_source,
            top_k=top_k,
            optional=optional,
            deadline_seconds=deadline_seconds,
        )
        SourceRetriever.__init__(
            self,
            source,
            knowledge_base=knowledge_base,
            filters=filters,
            tenant=tenant,
            document_store=document_store,
        )
