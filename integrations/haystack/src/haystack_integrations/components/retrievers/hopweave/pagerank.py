"""Passages that a walk over the graph finds: the second hop, which shares no word with the question."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from haystack import Document, component
from haystack.document_stores.types import DocumentStore, FilterPolicy

from haystack_integrations.common.hopweave.graph_location import Graph
from haystack_integrations.common.hopweave.questions import Skip, Tenant
from haystack_integrations.components.retrievers.hopweave.source_retriever import SourceRetriever
from hopweave.sources.pagerank import PageRank

_CORE = PageRank()


@component
class PageRankRetriever(SourceRetriever):
    """
    Personalised PageRank from what the question names to the passages it leads to. Score = sqrt(share / best share).

    Seeds are the entities the question names, the passages about them, and the best documents of the sources in
    `seeds_from`, each of which is an input of that name: connect any retriever to it. Without any seed there are no
    documents. The graph is that of a knowledge base file, or with `graph` one that `GraphWriter` has written to a file
    or to PostgreSQL; the documents may live in any document store.

    ```python
    from haystack_integrations.components.retrievers.hopweave import PageRankRetriever

    retriever = PageRankRetriever(knowledge_base="hopweave.db", seeds_from=["text"])
    documents = retriever.run(query="Who built the tide gate?", text=[])["documents"]
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
        word_source: str | None = _CORE.word_source,
        analyzer: str = _CORE.analyzer,
        linker: dict[str, Any] | None = None,
        restart: float = _CORE.restart,
        adaptive_restart: bool = _CORE.adaptive_restart,
        max_seed_passages: int = _CORE.max_seed_passages,
        passage_mass_linked: float = _CORE.passage_mass_linked,
        passage_mass_unlinked: float = _CORE.passage_mass_unlinked,
        about_weight: float = _CORE.about_weight,
        relevance_exponent: float = _CORE.relevance_exponent,
        relevance_floor: float = _CORE.relevance_floor,
        topic_boost: float = _CORE.topic_boost,
        cooccurrence_boost: float = _CORE.cooccurrence_boost,
        edge_type_weights: dict[str, float] = _CORE.edge_type_weights,
        backward_type_weights: dict[str, float] = _CORE.backward_type_weights,
        result_kind: str = _CORE.result_kind,
        same_document_decay: float = _CORE.same_document_decay,
        min_share: float = _CORE.min_share,
        explain_top_k: int = _CORE.explain_top_k,
        prune: dict[str, Any] | None = None,
        keep_off_path: bool = _CORE.keep_off_path,
        tolerance: float = _CORE.tolerance,
        time_budget_seconds: float = _CORE.time_budget_seconds,
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
        :param seeds_from: Names of inputs for what other retrievers found, whose best passages are seeds as well.
        :param word_source: Which of these goes by words; None if none does.
        :param analyzer: Analyzer for the words outside the names.
        :param linker: How names in the question are found; the usual way when not given.
        :param restart: Probability to jump back to the seeds; higher stays nearer.
        :param adaptive_restart: Whether the entities that a question names replace `restart`: .5 for one to three, .15
            for more than five, else .3.
        :param max_seed_passages: How many upstream passages are seeds, at most.
        :param passage_mass_linked: Their share of restarts when all names are linked.
        :param passage_mass_unlinked: Their share when no name is linked for sure.
        :param about_weight: Weight of the passages about an entity, next to the entity itself.
        :param relevance_exponent: How much the relevance of a passage biases the walk; 0 not at all.
        :param relevance_floor: What a passage counts that is not relevant at all.
        :param topic_boost: What an edge to an entity that a passage is about counts, next to other entities.
        :param cooccurrence_boost: Boost of entities whose names occur next to the question's other words; 0 for none.
        :param edge_type_weights: Weights of edge types that differ from the usual ones.
        :param backward_type_weights: The same for edges followed against their direction.
        :param result_kind: Kind of the nodes that are returned.
        :param same_document_decay: Factor on the share of a passage for each better part of the same document; 1 does
            not spread.
        :param min_share: Nodes with a smaller share of the visits are left out.
        :param explain_top_k: How many documents get the strongest path to them in their receipt.
        :param prune: Flow pruning before fusion: documents on no path between the best ones are dropped, the others
            ranked by the reliability of their best path; not at all for questions that the plan does not find complex.
        :param keep_off_path: Whether pruning keeps documents on no path, after the others, in place of dropping them.
        :param tolerance: How far the walk may be off; smaller takes longer.
        :param time_budget_seconds: Best so far after this time, and the receipt says so.
        :param top_k: How many documents to return.
        :param optional: Carry on without this source when it fails or is too slow.
        :param deadline_seconds: Give up on this source after so many seconds.
        :param filters: Haystack metadata filters.
        :param filter_policy: Whether filters given to `run` replace these (`replace`), are merged in (`merge`), or are
            left to a later component (`defer`): fetch until `top_k` documents pass, and hand out the others too.
        :param tenant: Metadata values a document must have to be seen at all.
        """
        source = PageRank(
            seeds_from=seeds_from,
            word_source=word_source,
            analyzer=analyzer,
            linker=_CORE.linker if linker is None else linker,
            restart=restart,
            adaptive_restart=adaptive_restart,
            max_seed_passages=max_seed_passages,
            passage_mass_linked=passage_mass_linked,
            passage_mass_unlinked=passage_mass_unlinked,
            about_weight=about_weight,
            relevance_exponent=relevance_exponent,
            relevance_floor=relevance_floor,
            topic_boost=topic_boost,
            cooccurrence_boost=cooccurrence_boost,
            edge_type_weights=edge_type_weights,
            backward_type_weights=backward_type_weights,
            result_kind=result_kind,
            same_document_decay=same_document_decay,
            min_share=min_share,
            explain_top_k=explain_top_k,
            prune=prune,
            keep_off_path=keep_off_path,
            tolerance=tolerance,
            time_budget_seconds=time_budget_seconds,
            top_k=top_k,
            optional=optional,
            deadline_seconds=deadline_seconds,
        )
        SourceRetriever.__init__(
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

    @component.output_types(documents=list[Document], failures=dict[str, str])
    def run(
        self,
        query: str,
        filters: dict[str, Any] | None = None,
        top_k: int | None = None,
        tenant: Tenant = None,
        restart: float | None = None,
        plan: dict[str, Any] | None = None,
        overrides: dict[str, Any] | None = None,
        skip: Skip = None,
        **documents: list[Document] | None,
    ) -> dict[str, Any]:
        """
        Find documents for a question.

        :param query: The question.
        :param filters: Haystack metadata filters, instead of those given at construction.
        :param top_k: How many documents to return, instead of the number given at construction.
        :param tenant: Metadata values a document must have to be seen at all; narrows those given at construction.
        :param restart: Probability to jump back to the seeds, instead of the one given at construction.
        :param plan: The plan of the question; if it does not ask for paths, nothing is pruned.
        :param overrides: Other values for parameters of the constructor, by name, for this run.
        :param skip: What to leave out for this run: rerank, graph, freshness, or the kind of a source or stage.
        :param documents: What other retrievers found, under the names in `seeds_from`.
        :returns: `documents`, best first, with receipts under `meta["hopweave"]`; if an optional source failed, instead
            `failures` with the reason.
        """
        inputs = {"restart": restart, "plan": plan, "documents": documents}
        return self._find(query, filters, top_k, tenant, overrides, skip=skip, **inputs)

    @component.output_types(documents=list[Document], failures=dict[str, str])
    async def run_async(
        self,
        query: str,
        filters: dict[str, Any] | None = None,
        top_k: int | None = None,
        tenant: Tenant = None,
        restart: float | None = None,
        plan: dict[str, Any] | None = None,
        overrides: dict[str, Any] | None = None,
        skip: Skip = None,
        **documents: list[Document] | None,
    ) -> dict[str, Any]:
        """
        Find documents for a question without blocking the event loop.

        :param query: The question.
        :param filters: Haystack metadata filters, instead of those given at construction.
        :param top_k: How many documents to return, instead of the number given at construction.
        :param tenant: Metadata values a document must have to be seen at all; narrows those given at construction.
        :param restart: Probability to jump back to the seeds, instead of the one given at construction.
        :param plan: The plan of the question; if it does not ask for paths, nothing is pruned.
        :param overrides: Other values for parameters of the constructor, by name, for this run.
        :param skip: What to leave out for this run: rerank, graph, freshness, or the kind of a source or stage.
        :param documents: What other retrievers found, under the names in `seeds_from`.
        :returns: `documents`, best first, with receipts under `meta["hopweave"]`; if an optional source failed, instead
            `failures` with the reason.
        """
        return await self._find_async(
            query, filters, top_k, tenant, overrides, skip=skip, restart=restart, plan=plan, documents=documents
        )
