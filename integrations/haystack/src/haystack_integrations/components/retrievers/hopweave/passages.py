"""Passages that a walk over the graph finds: the second hop, which shares no word with the question."""

from collections.abc import Sequence
from typing import Any

from haystack import component
from haystack.document_stores.types import DocumentStore

from haystack_integrations.components.retrievers.hopweave.source_retriever import SourceRetriever
from hopweave.graph.passages import PageRankPassages

_CORE = PageRankPassages()


@component
class PageRankRetriever(SourceRetriever):
    """
    Walks from what the question names to the passages that tell the rest. Score = sqrt(share / best share).

    The walker starts at the entities the question names, at the passages about them, and at the best documents of the
    sources in `seeds_from`, each of which is an input of that name: connect any retriever to it. Without anything to
    start from there are no documents. The graph is that of a knowledge base file; the documents may live in any
    document store.

    ```python
    from haystack_integrations.components.retrievers.hopweave import PageRankRetriever

    retriever = PageRankRetriever(knowledge_base="hopweave.db", seeds_from=["text"])
    documents = retriever.run(query="Who built the tide gate?", text=[])["documents"]
    ```
    """

    def __init__(
        self,
        *,
        knowledge_base: str,
        document_store: DocumentStore | None = None,
        seeds_from: Sequence[str] = _CORE.seeds_from,
        word_source: str | None = _CORE.word_source,
        analyzer: str = _CORE.analyzer,
        linker: dict[str, Any] | None = None,
        restart: float = _CORE.restart,
        adaptive_restart: bool = _CORE.adaptive_restart,
        passages: int = _CORE.passages,
        passage_mass_linked: float = _CORE.passage_mass_linked,
        passage_mass_unlinked: float = _CORE.passage_mass_unlinked,
        about_weight: float = _CORE.about_weight,
        steering: float = _CORE.steering,
        floor: float = _CORE.floor,
        about_pull: float = _CORE.about_pull,
        company_pull: float = _CORE.company_pull,
        edge_type_weights: dict[str, float] = _CORE.edge_type_weights,
        backward_type_weights: dict[str, float] = _CORE.backward_type_weights,
        result_kind: str = _CORE.result_kind,
        min_share: float = _CORE.min_share,
        explained: int = _CORE.explained,
        tolerance: float = _CORE.tolerance,
        walk_seconds: float = _CORE.walk_seconds,
        top_k: int = _CORE.top_k,
        optional: bool = _CORE.optional,
        deadline_seconds: float | None = _CORE.deadline_seconds,
        filters: dict[str, Any] | None = None,
        tenant: dict[str, Any] | None = None,
    ) -> None:
        """
        Create the retriever; the file is opened on first use.

        :param knowledge_base: Path of the knowledge base file that has the graph.
        :param document_store: Where the documents live, if not in the knowledge base; they go by the same ids.
        :param seeds_from: Names of inputs for what other retrievers found, whose best passages are seeds as well.
        :param word_source: Which of these goes by words; None if none does.
        :param analyzer: Analyzer for the words outside the names.
        :param linker: How names in the question are found; the usual way when not given.
        :param restart: Probability to jump back to the seeds; higher stays nearer.
        :param adaptive_restart: Whether a specific question stays nearer than a broad one.
        :param passages: How many upstream passages are seeds.
        :param passage_mass_linked: Their share of restarts when all names are linked.
        :param passage_mass_unlinked: Their share when no name is linked for sure.
        :param about_weight: Weight of the passages about a thing, next to the thing itself.
        :param steering: How strongly the walker is drawn to passages that fit; 0 not at all.
        :param floor: What a passage counts that does not fit at all.
        :param about_pull: How much more the walker is drawn to things that a passage is about than to others.
        :param company_pull: How much it is drawn to things whose names keep company with the question's words.
        :param edge_type_weights: Weights of edge types that differ from the usual ones.
        :param backward_type_weights: The same for edges walked against their direction.
        :param result_kind: Kind of the nodes that are returned.
        :param min_share: Nodes with a smaller share of the visits are left out.
        :param explained: How many of the best documents get the strongest path to them in their receipt.
        :param tolerance: How far the walk may be off; smaller takes longer.
        :param walk_seconds: Best so far after this time, and the receipt says so.
        :param top_k: How many documents to return.
        :param optional: Carry on without this source when it fails or is too slow.
        :param deadline_seconds: Give up on this source after so many seconds.
        :param filters: Haystack metadata filters.
        :param tenant: Metadata values a document must have to be seen at all.
        """
        source = PageRankPassages(
            seeds_from=seeds_from,
            word_source=word_source,
            analyzer=analyzer,
            linker=_CORE.linker if linker is None else linker,
            restart=restart,
            adaptive_restart=adaptive_restart,
            passages=passages,
            passage_mass_linked=passage_mass_linked,
            passage_mass_unlinked=passage_mass_unlinked,
            about_weight=about_weight,
            steering=steering,
            floor=floor,
            about_pull=about_pull,
            company_pull=company_pull,
            edge_type_weights=edge_type_weights,
            backward_type_weights=backward_type_weights,
            result_kind=result_kind,
            min_share=min_share,
            explained=explained,
            tolerance=tolerance,
            walk_seconds=walk_seconds,
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
