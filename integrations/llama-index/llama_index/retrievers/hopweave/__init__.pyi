# Written by `make fix`.
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.callbacks.base import CallbackManager
from llama_index.core.graph_stores.types import LabelledNode, PropertyGraphStore, Relation
from llama_index.core.indices.property_graph.sub_retrievers.base import BasePGRetriever
from llama_index.core.schema import IndexNode, NodeWithScore, QueryBundle
from llama_index.core.vector_stores.types import MetadataFilters
from llama_index.retrievers.hopweave.gate import GateRetriever
from llama_index.retrievers.hopweave.graph import GraphRetriever
from llama_index.retrievers.hopweave.pipeline import PipelineRetriever
from llama_index.retrievers.hopweave.source import SourceRetriever

from hopweave.component import Fuser
from hopweave.graph.flow_pruning import FlowPruning
from hopweave.graph.link.linker import Linker
from hopweave.knowledge import Knowledge
from hopweave.recipe import Recipe
from hopweave.routing.intent import IntentClassifier
from hopweave.routing.plan import Planner

class BM25Retriever(SourceRetriever):
    r"""
    Ranks by BM25 over the terms of the question. Never returns a node that says none of them.

    Takes the parameters of `hopweave.sources.bm25.BM25` beside those of `SourceRetriever`.

    Examples:
        ```python
        from llama_index.retrievers.hopweave import BM25Retriever

        nodes = BM25Retriever("hopweave.db", similarity_top_k=5).retrieve("When does the tide gate open?")
        ```

    """

    def __init__(
        self,
        knowledge_base: Knowledge | str | Path,
        *,
        similarity_top_k: int | None = None,
        filters: MetadataFilters | None = None,
        tenant: Mapping[str, Any] | None = None,
        tenant_required: Collection[str] = ...,
        embed_model: BaseEmbedding | None = None,
        intent: IntentClassifier | None = None,
        upstream: Mapping[str, BaseRetriever] | None = None,
        callback_manager: CallbackManager | None = None,
        verbose: bool = False,
        analyzer: str = "nlp",
        keyword_weight: float = 5.0,
        optional: bool = False,
        deadline_seconds: float | None = None,
    ) -> None:
        r"""Set the source up; it checks its parameters."""

class EvidenceSumRetriever(GraphRetriever):
    r"""
    Ranks what other retrievers have found by the sum of the evidence for each node, on one scale.

    Takes the parameters of `hopweave.sources.evidence_sum.EvidenceSum` beside those of `GraphRetriever`.

    Examples:
        ```python
        from llama_index.retrievers.hopweave import EvidenceSumRetriever

        nodes = EvidenceSumRetriever("hopweave.db", similarity_top_k=5).retrieve("When does the tide gate open?")
        ```

    """

    def __init__(
        self,
        knowledge_base: Knowledge | str | Path,
        *,
        similarity_top_k: int | None = None,
        filters: MetadataFilters | None = None,
        tenant: Mapping[str, Any] | None = None,
        tenant_required: Collection[str] = ...,
        embed_model: BaseEmbedding | None = None,
        intent: IntentClassifier | None = None,
        upstream: Mapping[str, BaseRetriever] | None = None,
        callback_manager: CallbackManager | None = None,
        verbose: bool = False,
        candidates_from: Sequence[str] = ...,
        without: Sequence[str] = ...,
        by_words: int = 200,
        optional: bool = False,
        deadline_seconds: float | None = None,
    ) -> None:
        r"""Set the source up; with upstream retrievers, `seeds_from` are their names."""

class FullTextRetriever(SourceRetriever):
    r"""
    Ranks by SQLite FTS5. Text in double quotes must occur as written; other words may.

    Takes the parameters of `hopweave.sources.full_text.FullText` beside those of `SourceRetriever`.

    Examples:
        ```python
        from llama_index.retrievers.hopweave import FullTextRetriever

        nodes = FullTextRetriever("hopweave.db", similarity_top_k=5).retrieve("When does the tide gate open?")
        ```

    """

    def __init__(
        self,
        knowledge_base: Knowledge | str | Path,
        *,
        similarity_top_k: int | None = None,
        filters: MetadataFilters | None = None,
        tenant: Mapping[str, Any] | None = None,
        tenant_required: Collection[str] = ...,
        embed_model: BaseEmbedding | None = None,
        intent: IntentClassifier | None = None,
        upstream: Mapping[str, BaseRetriever] | None = None,
        callback_manager: CallbackManager | None = None,
        verbose: bool = False,
        optional: bool = False,
        deadline_seconds: float | None = None,
    ) -> None:
        r"""Set the source up; it checks its parameters."""

class FusionRetriever(PipelineRetriever):
    r"""
    Asks several retrievers side by side and fuses their rankings, by name. No language model is involved.

    Args:
        retrievers: Retrievers by name. Weights and signals go by these names.
        fuse: How rankings become one: a fuser, or the kind of one (reciprocal_rank, weighted, confirmatory).
        similarity_top_k: How many nodes to return; everything that was found when not given. Retrievers of hopweave's
            own return at least as many, and more where filters leave too few, as in a recipe.
        filters: LlamaIndex metadata filters, applied after fusion and handed to retrievers that take them.
        tenant: Metadata values a node must have to be seen at all, whichever retriever finds it.
        tenant_required: Metadata fields for which every question needs a tenant; one without is refused.
        intent: Finds out what the question is after, for a weighted fuser that goes by it.
        plan: Chooses, by how complex the question is, which of the retrievers are asked.
        knowledge_base: An open knowledge base, or the path of its file, in whose graph the planner counts what the
            question names.
        optional: Names of retrievers that may fail without failing the query.
        callback_manager: LlamaIndex's callback manager.
        verbose: Whether LlamaIndex prints what it does.
        parameters: Parameters of the fuser, if it is given by its kind: `weights`, `k`, `base` ...

    Examples:
        ```python
        from llama_index.retrievers.hopweave import BM25Retriever, FusionRetriever

        retriever = FusionRetriever(
            {"vector": index.as_retriever(), "text": BM25Retriever("hopweave.db")}, weights={"text": 2.0}
        )
        nodes = retriever.retrieve("When does the tide gate open?")
        ```

    """

    def __init__(
        self,
        retrievers: Mapping[str, BaseRetriever],
        *,
        fuse: str | Fuser = "reciprocal_rank",
        similarity_top_k: int | None = None,
        filters: MetadataFilters | None = None,
        tenant: Mapping[str, Any] | None = None,
        tenant_required: Collection[str] = ...,
        intent: IntentClassifier | None = None,
        plan: Planner | None = None,
        knowledge_base: Knowledge | str | Path | None = None,
        optional: Collection[str] = ...,
        callback_manager: CallbackManager | None = None,
        verbose: bool = False,
        base: str = ...,
        confirming: Sequence[str] | None = ...,
        bonus: float = ...,
        min_score: float = ...,
        base_normalisation: Literal["min_max", "max", "sigmoid", "none"] = ...,
        confirming_normalisation: Literal["min_max", "max", "sigmoid", "none"] = ...,
        source: str = ...,
        k: float = ...,
        weights: Mapping[str, float] | None = ...,
        depth: int = ...,
        exponent: float = ...,
        max_stated_share: float = ...,
        signals: Mapping[str, Literal["embedding", "text", "graph", "intent_edges"]] = ...,
        normalisation: Literal["min_max", "max", "sigmoid", "none"] = ...,
    ) -> None:
        r"""Set the fuser up; it checks its parameters and whether it can fuse these names."""

class GraphBoostRetriever(GraphRetriever):
    r"""
    Nodes near the best of other retrievers, and central in the graph.

    Takes the parameters of `hopweave.sources.graph_boost.GraphBoost` beside those of `GraphRetriever`.

    Examples:
        ```python
        from llama_index.retrievers.hopweave import GraphBoostRetriever

        nodes = GraphBoostRetriever("hopweave.db", similarity_top_k=5).retrieve("Who designed the Skua?")
        ```

    """

    def __init__(
        self,
        knowledge_base: Knowledge | str | Path,
        *,
        similarity_top_k: int | None = None,
        filters: MetadataFilters | None = None,
        tenant: Mapping[str, Any] | None = None,
        tenant_required: Collection[str] = ...,
        embed_model: BaseEmbedding | None = None,
        intent: IntentClassifier | None = None,
        upstream: Mapping[str, BaseRetriever] | None = None,
        callback_manager: CallbackManager | None = None,
        verbose: bool = False,
        two_hop_intents: Sequence[str] = ...,
        edge_type_weights: Mapping[str, float] = ...,
        seeds_from: Sequence[str] = ...,
        seeds_per_source: int = 10,
        optional: bool = False,
        deadline_seconds: float | None = None,
    ) -> None:
        r"""Set the source up; with upstream retrievers, `seeds_from` are their names."""

class IntentEdgesRetriever(GraphRetriever):
    r"""
    Nodes that the best of other retrievers reach over the edge types that suit what the question is after.

    Takes the parameters of `hopweave.sources.intent_edges.IntentEdges` beside those of `GraphRetriever`. It goes by the
    intent, so it needs `intent`.

    Examples:
        ```python
        from hopweave.routing.intent import IntentClassifier
        from llama_index.retrievers.hopweave import IntentEdgesRetriever

        retriever = IntentEdgesRetriever("hopweave.db", intent=IntentClassifier())
        nodes = retriever.retrieve("How do I fix the pump?")
        ```

    """

    def __init__(
        self,
        knowledge_base: Knowledge | str | Path,
        *,
        similarity_top_k: int | None = None,
        filters: MetadataFilters | None = None,
        tenant: Mapping[str, Any] | None = None,
        tenant_required: Collection[str] = ...,
        embed_model: BaseEmbedding | None = None,
        intent: IntentClassifier | None = None,
        upstream: Mapping[str, BaseRetriever] | None = None,
        callback_manager: CallbackManager | None = None,
        verbose: bool = False,
        seeds_from: Sequence[str] = ...,
        seeds_per_source: int = 10,
        optional: bool = False,
        deadline_seconds: float | None = None,
    ) -> None:
        r"""Set the source up; with upstream retrievers, `seeds_from` are their names."""

class KeywordRetriever(SourceRetriever):
    r"""
    Ranks by the better of two text scores, each brought to [0, 1] over its own hits.

    Takes the parameters of `hopweave.sources.keyword.Keyword` beside those of `SourceRetriever`.

    Examples:
        ```python
        from llama_index.retrievers.hopweave import KeywordRetriever

        nodes = KeywordRetriever("hopweave.db", similarity_top_k=5).retrieve("When does the tide gate open?")
        ```

    """

    def __init__(
        self,
        knowledge_base: Knowledge | str | Path,
        *,
        similarity_top_k: int | None = None,
        filters: MetadataFilters | None = None,
        tenant: Mapping[str, Any] | None = None,
        tenant_required: Collection[str] = ...,
        embed_model: BaseEmbedding | None = None,
        intent: IntentClassifier | None = None,
        upstream: Mapping[str, BaseRetriever] | None = None,
        callback_manager: CallbackManager | None = None,
        verbose: bool = False,
        analyzer: str = "nlp",
        keyword_weight: float = 5.0,
        optional: bool = False,
        deadline_seconds: float | None = None,
    ) -> None:
        r"""Set the source up; it checks its parameters."""

class PageRankPGRetriever(BasePGRetriever):
    r"""
    A sub-retriever for `PropertyGraphIndex` that finds chunks several relations away from what the question names.

    Takes the parameters of `hopweave.sources.pagerank.PageRank` beside these. The graph is read when first asked, and
    again when it has changed: a `SimplePropertyGraphStore` is looked at for every question, other stores are read again
    after `refresh_seconds`, and any store when `refresh` is called.

    Args:
        graph_store: The property graph store.
        similarity_top_k: How many nodes to return.
        include_text: Whether nodes are the chunks, their text preceded by the path that led to them and the facts that
            were extracted from them, as LlamaIndex's own sub-retrievers do it; else path and facts alone.
        include_text_preamble: What is written before path and facts.
        include_properties: Whether facts have the properties of entities and relations.
        include_facts: Whether there are path and facts; if not, nodes are the chunks as they are.
        load: Reads the relations instead, for a store that limits what it gives.
        refresh_seconds: How old what was read of a store may be; None for any age.
        clock: The time in seconds.
        callback_manager: LlamaIndex's callback manager.
        parameters: What `PageRankRetriever` takes: `upstream`, `restart`, `filters` ...

    Examples:
        ```python
        from llama_index.core.graph_stores import SimplePropertyGraphStore
        from llama_index.retrievers.hopweave import PageRankPGRetriever

        retriever = PageRankPGRetriever(SimplePropertyGraphStore(), similarity_top_k=5)
        nodes = retriever.retrieve("Where was the designer of MV Skua born?")
        ```

    """

    def __init__(
        self,
        graph_store: PropertyGraphStore,
        *,
        similarity_top_k: int | None = None,
        include_text: bool = True,
        include_text_preamble: str | None = "Here are some facts extracted from the provided text:\n\n",
        include_properties: bool = False,
        include_facts: bool = True,
        load: Callable[[PropertyGraphStore], Iterable[tuple[LabelledNode, Relation, LabelledNode]]] | None = None,
        refresh_seconds: float | None = 60.0,
        clock: Callable[[], float] = ...,
        callback_manager: Any = None,
        filters: MetadataFilters | None = None,
        tenant: Mapping[str, Any] | None = None,
        tenant_required: Collection[str] = ...,
        embed_model: BaseEmbedding | None = None,
        intent: IntentClassifier | None = None,
        upstream: Mapping[str, BaseRetriever] | None = None,
        verbose: bool = False,
        seeds_from: Sequence[str] = ...,
        word_source: str | None = "text",
        analyzer: str = "nlp",
        linker: Linker | dict[str, Any] | None = None,
        restart: float = 0.12,
        adaptive_restart: bool = False,
        max_seed_passages: int = 5,
        passage_mass_linked: float = 0.05,
        passage_mass_unlinked: float = 0.2,
        about_weight: float = 3.0,
        relevance_exponent: float = 1.5,
        relevance_floor: float = 0.3,
        topic_boost: float = 2.0,
        cooccurrence_boost: float = 5.0,
        edge_type_weights: Mapping[str, float] = ...,
        backward_type_weights: Mapping[str, float] = ...,
        result_kind: str = "passage",
        same_document_decay: float = 0.3,
        min_share: float = 0.0,
        explain_top_k: int = 8,
        prune: FlowPruning | dict[str, Any] | None = None,
        keep_off_path: bool = False,
        tolerance: float = 0.1,
        time_budget_seconds: float = 2.0,
        optional: bool = False,
        deadline_seconds: float | None = None,
    ) -> None:
        r"""Keep the store and the parameters, which are checked here."""
    def refresh(self) -> PageRankPGRetriever:
        r"""Read the graph again."""
    def retrieve_from_graph(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        r"""The chunks that the walk meets most often."""
    async def aretrieve_from_graph(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        r"""The same without blocking the event loop."""
    def add_source_text(self, nodes: list[NodeWithScore]) -> list[NodeWithScore]:
        r"""The nodes as they are: they have their text."""
    async def async_add_source_text(self, nodes: list[NodeWithScore]) -> list[NodeWithScore]:
        r"""The nodes as they are: they have their text."""

class PageRankRetriever(GraphRetriever):
    r"""
    Ranks passages by personalised PageRank from the entities that the question names.

    Takes the parameters of `hopweave.sources.pagerank.PageRank` beside those of `GraphRetriever`.

    Examples:
        ```python
        from llama_index.retrievers.hopweave import PageRankRetriever

        nodes = PageRankRetriever("hopweave.db", similarity_top_k=5).retrieve("Who designed the Skua?")
        ```

    """

    def __init__(
        self,
        knowledge_base: Knowledge | str | Path,
        *,
        similarity_top_k: int | None = None,
        filters: MetadataFilters | None = None,
        tenant: Mapping[str, Any] | None = None,
        tenant_required: Collection[str] = ...,
        embed_model: BaseEmbedding | None = None,
        intent: IntentClassifier | None = None,
        upstream: Mapping[str, BaseRetriever] | None = None,
        callback_manager: CallbackManager | None = None,
        verbose: bool = False,
        seeds_from: Sequence[str] = ...,
        word_source: str | None = "text",
        analyzer: str = "nlp",
        linker: Linker | dict[str, Any] | None = None,
        restart: float = 0.12,
        adaptive_restart: bool = False,
        max_seed_passages: int = 5,
        passage_mass_linked: float = 0.05,
        passage_mass_unlinked: float = 0.2,
        about_weight: float = 3.0,
        relevance_exponent: float = 1.5,
        relevance_floor: float = 0.3,
        topic_boost: float = 2.0,
        cooccurrence_boost: float = 5.0,
        edge_type_weights: Mapping[str, float] = ...,
        backward_type_weights: Mapping[str, float] = ...,
        result_kind: str = "passage",
        same_document_decay: float = 0.3,
        min_share: float = 0.0,
        explain_top_k: int = 8,
        prune: FlowPruning | dict[str, Any] | None = None,
        keep_off_path: bool = False,
        tolerance: float = 0.1,
        time_budget_seconds: float = 2.0,
        optional: bool = False,
        deadline_seconds: float | None = None,
    ) -> None:
        r"""Set the source up; with upstream retrievers, `seeds_from` are their names."""

class RecipeRetriever(PipelineRetriever):
    r"""
    Answers a query by running a hopweave recipe over a knowledge base.

    Args:
        knowledge_base: An open knowledge base, the path of its file, or `documents_in(store, graph)`; or several of
            these by name, which are searched as one.
        recipe: Name of a shipped recipe, path of a YAML file, or a recipe; `multihop` when not given.
        retrievers: LlamaIndex retrievers by the name of the recipe's source whose place they take; None for a source
            that is to be left out; not with several knowledge bases.
        optional: Names of those retrievers without which an answer is made if they fail; the response then says so.
            Any other that fails is an error.
        additional_retrievers: LlamaIndex retrievers as further sources, by names that no source of the recipe has; not
            with several knowledge bases.
        similarity_top_k: How many nodes to return; the recipe's own number when not given.
        embed_model: The model that embeds questions, if the file alone cannot say; see `llama_index.hopweave.opened`.
        cache_seconds: How long an answer is kept for when the same is asked again; a change of the knowledge base makes
            it void. None for no cache. Questions with filters are always run. Not with `retrievers` or `documents_in`,
            as nothing says when the nodes of other stores change.
        kwargs: What `PipelineRetriever` takes: `filters`, `tenant`, `tenant_required`, `now`, `stages` ...

    Examples:
        ```python
        from llama_index.retrievers.hopweave import RecipeRetriever

        retriever = RecipeRetriever("hopweave.db")
        nodes = retriever.retrieve("Who built the tide gate?")
        ```

        Several knowledge bases are searched as one: `RecipeRetriever({"handbook": "handbook.db", "tickets": kb})`.
        Nodes then have ids such as `tickets/17`, and their receipts name the knowledge base; the recipe's
        `fuse_knowledge_bases` has weights by name.

    """

    def __init__(
        self,
        knowledge_base: Knowledge | str | Path | Mapping[str, Knowledge | str | Path],
        *,
        recipe: str | Path | Recipe = "multihop",
        retrievers: Mapping[str, BaseRetriever | None] | None = None,
        additional_retrievers: Mapping[str, BaseRetriever] | None = None,
        optional: Collection[str] = ...,
        similarity_top_k: int | None = None,
        embed_model: BaseEmbedding | None = None,
        cache_seconds: float | None = None,
        filters: MetadataFilters | None = None,
        tenant: Mapping[str, Any] | None = None,
        tenant_required: Collection[str] = ...,
        now: datetime | None = None,
        stages: bool = True,
        flat_scores: bool = False,
        callback_manager: CallbackManager | None = None,
        object_map: dict[Any, Any] | None = None,
        objects: list[IndexNode] | None = None,
        verbose: bool = False,
    ) -> None:
        r"""Open the knowledge base and load the recipe."""

class VectorSearchRetriever(SourceRetriever):
    r"""
    Ranks by cosine between the vectors of nodes and question. The knowledge base's embedder embeds the question.

    Takes the parameters of `hopweave.sources.vector_search.VectorSearch` beside those of `SourceRetriever`.

    Examples:
        ```python
        from llama_index.retrievers.hopweave import VectorSearchRetriever

        nodes = VectorSearchRetriever("hopweave.db", similarity_top_k=5).retrieve("When does the tide gate open?")
        ```

    """

    def __init__(
        self,
        knowledge_base: Knowledge | str | Path,
        *,
        similarity_top_k: int | None = None,
        filters: MetadataFilters | None = None,
        tenant: Mapping[str, Any] | None = None,
        tenant_required: Collection[str] = ...,
        embed_model: BaseEmbedding | None = None,
        intent: IntentClassifier | None = None,
        upstream: Mapping[str, BaseRetriever] | None = None,
        callback_manager: CallbackManager | None = None,
        verbose: bool = False,
        model: str | None = None,
        own_share: float | None = None,
        optional: bool = False,
        deadline_seconds: float | None = None,
    ) -> None:
        r"""Set the source up; it checks its parameters."""

__all__ = [
    "BM25Retriever",
    "EvidenceSumRetriever",
    "FullTextRetriever",
    "FusionRetriever",
    "GateRetriever",
    "GraphBoostRetriever",
    "IntentEdgesRetriever",
    "KeywordRetriever",
    "PageRankPGRetriever",
    "PageRankRetriever",
    "RecipeRetriever",
    "VectorSearchRetriever",
]
