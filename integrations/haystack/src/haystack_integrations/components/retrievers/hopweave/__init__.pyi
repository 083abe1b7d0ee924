# Written by `make fix`.
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from haystack.core.pipeline.pipeline import Pipeline
from haystack.dataclasses.document import Document
from haystack.document_stores.types.filter_policy import FilterPolicy
from haystack.document_stores.types.protocol import DocumentStore
from haystack.utils.auth import Secret

from haystack_integrations.components.retrievers.hopweave.recipe import OverRecipe
from haystack_integrations.components.retrievers.hopweave.source_retriever import GraphRetriever, SourceRetriever
from hopweave.graph.flow_pruning import FlowPruning
from hopweave.graph.link.linker import Linker

class BM25Retriever(SourceRetriever):
    r"""
    Documents by BM25 over the terms of the question.

    Terms that are keywords of the question's intent (the input `intent`, from an `IntentRouter`) count `keyword_weight`
    times. Two of these with different analyzers make a dual index: one for prose, one for code.

    ```python
    from haystack_integrations.components.retrievers.hopweave import BM25Retriever

    retriever = BM25Retriever(knowledge_base="hopweave.db", analyzer="nlp")
    documents = retriever.run(query="Who built the tide gate?")["documents"]
    ```
    """

    def __init__(
        self,
        *,
        knowledge_base: str | Path | None = None,
        document_store: DocumentStore | None = None,
        analyzer: str = "nlp",
        keyword_weight: float = 5.0,
        top_k: int = 50,
        optional: bool = False,
        deadline_seconds: float | None = None,
        filters: dict[str, Any] | None = None,
        filter_policy: str | FilterPolicy = FilterPolicy.REPLACE,
        tenant: dict[str, Any] | None = None,
        tenant_required: Sequence[str] = ...,
    ) -> None:
        r"""
        Create the retriever; files are opened on first use.

        :param knowledge_base: Path of the knowledge base file.
        :param document_store: Where the documents live, if not in the file; they go by the same ids. A
            `HopweaveDocumentStore` needs no path.
        :param analyzer: How text becomes terms: nlp, nlp:<language>, code or light.
        :param keyword_weight: Weight of a keyword of the intent.
        :param top_k: How many documents to fetch.
        :param optional: Carry on without this source when it fails or is too slow.
        :param deadline_seconds: Give up on this source after so many seconds.
        :param filters: Haystack metadata filters.
        :param filter_policy: Whether filters given to `run` replace these (`replace`), are merged in (`merge`), or
            are left to a later component (`defer`): fetch until `top_k` documents pass, and hand out the others
            too.
        :param tenant: Metadata values a document must have to be seen at all.
        :param tenant_required: Metadata fields for which every run needs a tenant; one without is refused.
        """
    def run(
        self,
        query: str,
        filters: dict[str, Any] | None = None,
        top_k: int | None = None,
        tenant: dict[str, Any] | Callable[[], dict[str, Any]] | None = None,
        overrides: dict[str, Any] | None = None,
        skip: list[str] | Callable[[], list[str]] | None = None,
        intent: dict[str, Any] | None = None,
    ) -> dict[str, Any]:
        r"""
        Find documents for a question.

        :param query: The question.
        :param filters: Haystack metadata filters, instead of those given at construction.
        :param top_k: How many documents to return, instead of the number given at construction.
        :param tenant: Metadata values a document must have to be seen at all; narrows those given at construction.
        :param overrides: Other values for parameters of the constructor, by name, for this run.
        :param skip: What to leave out for this run: rerank, graph, freshness, or the kind of a source or stage.
        :param intent: What the question is after, from an `IntentRouter`.
        :returns: `documents`, best first, with receipts under `meta["hopweave"]`; if an optional source failed,
            instead `failures` with the reason.
        """
    async def run_async(
        self,
        query: str,
        filters: dict[str, Any] | None = None,
        top_k: int | None = None,
        tenant: dict[str, Any] | Callable[[], dict[str, Any]] | None = None,
        overrides: dict[str, Any] | None = None,
        skip: list[str] | Callable[[], list[str]] | None = None,
        intent: dict[str, Any] | None = None,
    ) -> dict[str, Any]:
        r"""
        Find documents for a question, without blocking the event loop.

        :param query: The question.
        :param filters: Haystack metadata filters, instead of those given at construction.
        :param top_k: How many documents to return, instead of the number given at construction.
        :param tenant: Metadata values a document must have to be seen at all; narrows those given at construction.
        :param overrides: Other values for parameters of the constructor, by name, for this run.
        :param skip: What to leave out for this run: rerank, graph, freshness, or the kind of a source or stage.
        :param intent: What the question is after, from an `IntentRouter`.
        :returns: `documents`, best first, with receipts under `meta["hopweave"]`; if an optional source failed,
            instead `failures` with the reason.
        """

class EmbeddingRetriever(SourceRetriever):
    r"""
    Documents by cosine between their vector and one that a Haystack embedder made of the question.

    ```python
    from haystack_integrations.components.embedders.hopweave import StaticTextEmbedder
    from haystack_integrations.components.retrievers.hopweave import EmbeddingRetriever

    embedding = StaticTextEmbedder().run(text="Who built the tide gate?")["embedding"]
    retriever = EmbeddingRetriever(knowledge_base="hopweave.db")
    documents = retriever.run(query_embedding=embedding)["documents"]
    ```
    """

    def __init__(
        self,
        *,
        knowledge_base: str | Path | None = None,
        document_store: DocumentStore | None = None,
        model: str | None = None,
        own_share: float | None = None,
        top_k: int = 50,
        optional: bool = False,
        deadline_seconds: float | None = None,
        filters: dict[str, Any] | None = None,
        filter_policy: str | FilterPolicy = FilterPolicy.REPLACE,
        tenant: dict[str, Any] | None = None,
        tenant_required: Sequence[str] = ...,
    ) -> None:
        r"""
        Create the retriever; files are opened on first use.

        :param knowledge_base: Path of the knowledge base file.
        :param document_store: Where the documents live, if not in the file; they go by the same ids. A
            `HopweaveDocumentStore` needs no path.
        :param model: Model that made the vector which comes with a question; the knowledge base's when not given.
        :param own_share: Share of a document's own vector, the rest being that of its neighbours in the graph; 1
            does not blend; as settled for the file if not given, which is 1 by default.
        :param top_k: How many documents to fetch.
        :param optional: Carry on without this source when it fails or is too slow.
        :param deadline_seconds: Give up on this source after so many seconds.
        :param filters: Haystack metadata filters.
        :param filter_policy: Whether filters given to `run` replace these (`replace`), are merged in (`merge`), or
            are left to a later component (`defer`): fetch until `top_k` documents pass, and hand out the others
            too.
        :param tenant: Metadata values a document must have to be seen at all.
        :param tenant_required: Metadata fields for which every run needs a tenant; one without is refused.
        """
    def run(
        self,
        query_embedding: list[float],
        filters: dict[str, Any] | None = None,
        top_k: int | None = None,
        tenant: dict[str, Any] | Callable[[], dict[str, Any]] | None = None,
        overrides: dict[str, Any] | None = None,
        skip: list[str] | Callable[[], list[str]] | None = None,
    ) -> dict[str, Any]:
        r"""
        Find documents for a question.

        :param query_embedding: The question's vector.
        :param filters: Haystack metadata filters, instead of those given at construction.
        :param top_k: How many documents to return, instead of the number given at construction.
        :param tenant: Metadata values a document must have to be seen at all; narrows those given at construction.
        :param overrides: Other values for parameters of the constructor, by name, for this run.
        :param skip: What to leave out for this run: rerank, graph, freshness, or the kind of a source or stage.
        :returns: `documents`, best first, with receipts under `meta["hopweave"]`; if an optional source failed,
            instead `failures` with the reason.
        """
    async def run_async(
        self,
        query_embedding: list[float],
        filters: dict[str, Any] | None = None,
        top_k: int | None = None,
        tenant: dict[str, Any] | Callable[[], dict[str, Any]] | None = None,
        overrides: dict[str, Any] | None = None,
        skip: list[str] | Callable[[], list[str]] | None = None,
    ) -> dict[str, Any]:
        r"""
        Find documents for a question, without blocking the event loop.

        :param query_embedding: The question's vector.
        :param filters: Haystack metadata filters, instead of those given at construction.
        :param top_k: How many documents to return, instead of the number given at construction.
        :param tenant: Metadata values a document must have to be seen at all; narrows those given at construction.
        :param overrides: Other values for parameters of the constructor, by name, for this run.
        :param skip: What to leave out for this run: rerank, graph, freshness, or the kind of a source or stage.
        :returns: `documents`, best first, with receipts under `meta["hopweave"]`; if an optional source failed,
            instead `failures` with the reason.
        """

class EvidenceSumRetriever(GraphRetriever):
    r"""
    Documents that other retrievers have found, by the sum of the evidence for each on one scale: weight · z.

    Each name in `candidates_from` is an input: connect any retriever to it. Words, vectors, the whole document and a
    latent space of the corpus are asked of the knowledge base; documents of other stores are fused as
    `TrustWeightedJoiner` does.

    ```python
    from haystack_integrations.components.retrievers.hopweave import BM25Retriever, EvidenceSumRetriever

    words = BM25Retriever(knowledge_base="hopweave.db").run(query="Who built the tide gate?")["documents"]
    retriever = EvidenceSumRetriever(knowledge_base="hopweave.db", candidates_from=["text"])
    documents = retriever.run(query="Who built the tide gate?", text=words)["documents"]
    ```
    """

    def __init__(
        self,
        *,
        knowledge_base: str | Path | None = None,
        document_store: DocumentStore | None = None,
        graph: str | Path | Secret | None = None,
        graph_schema: str = "hopweave",
        candidates_from: Sequence[str] = ...,
        without: Sequence[str] = ...,
        by_words: int = 200,
        top_k: int = 50,
        optional: bool = False,
        deadline_seconds: float | None = None,
        filters: dict[str, Any] | None = None,
        filter_policy: str | FilterPolicy = FilterPolicy.REPLACE,
        tenant: dict[str, Any] | None = None,
        tenant_required: Sequence[str] = ...,
    ) -> None:
        r"""
        Create the retriever; file and graph are opened on first use.

        :param knowledge_base: Path of the knowledge base file.
        :param document_store: Where the documents live, if not in the file; they go by the same ids. A
            `HopweaveDocumentStore` needs no path.
        :param graph: Path of a graph file, or URL of a PostgreSQL database (one with a password as a secret), as
            `GraphWriter` writes them. It takes the place of the graph of a knowledge base; retrievers then need
            `document_store` as well.
        :param graph_schema: Schema of the database in which the tables of the graph lie.
        :param candidates_from: Sources whose documents are candidates.
        :param without: Evidence that is left out: document, latent, latent_document, or the name of a source.
        :param by_words: How many of the best passages by words are candidates too.
        :param top_k: How many documents to fetch.
        :param optional: Carry on without this source when it fails or is too slow.
        :param deadline_seconds: Give up on this source after so many seconds.
        :param filters: Haystack metadata filters.
        :param filter_policy: Whether filters given to `run` replace these (`replace`), are merged in (`merge`), or
            are left to a later component (`defer`): fetch until `top_k` documents pass, and hand out the others
            too.
        :param tenant: Metadata values a document must have to be seen at all.
        :param tenant_required: Metadata fields for which every run needs a tenant; one without is refused.
        """
    def run(
        self,
        query: str,
        filters: dict[str, Any] | None = None,
        top_k: int | None = None,
        tenant: dict[str, Any] | Callable[[], dict[str, Any]] | None = None,
        overrides: dict[str, Any] | None = None,
        skip: list[str] | Callable[[], list[str]] | None = None,
        intent: dict[str, Any] | None = None,
        **documents: list[Document] | None,
    ) -> dict[str, Any]:
        r"""
        Find documents for a question.

        :param query: The question.
        :param filters: Haystack metadata filters, instead of those given at construction.
        :param top_k: How many documents to return, instead of the number given at construction.
        :param tenant: Metadata values a document must have to be seen at all; narrows those given at construction.
        :param overrides: Other values for parameters of the constructor, by name, for this run.
        :param skip: What to leave out for this run: rerank, graph, freshness, or the kind of a source or stage.
        :param intent: What the question is after, from an `IntentRouter`.
        :param documents: The documents that other components found, each list under the name of its input.
        :returns: `documents`, best first, with receipts under `meta["hopweave"]`; if an optional source failed,
            instead `failures` with the reason.
        """
    async def run_async(
        self,
        query: str,
        filters: dict[str, Any] | None = None,
        top_k: int | None = None,
        tenant: dict[str, Any] | Callable[[], dict[str, Any]] | None = None,
        overrides: dict[str, Any] | None = None,
        skip: list[str] | Callable[[], list[str]] | None = None,
        intent: dict[str, Any] | None = None,
        **documents: list[Document] | None,
    ) -> dict[str, Any]:
        r"""
        Find documents for a question, without blocking the event loop.

        :param query: The question.
        :param filters: Haystack metadata filters, instead of those given at construction.
        :param top_k: How many documents to return, instead of the number given at construction.
        :param tenant: Metadata values a document must have to be seen at all; narrows those given at construction.
        :param overrides: Other values for parameters of the constructor, by name, for this run.
        :param skip: What to leave out for this run: rerank, graph, freshness, or the kind of a source or stage.
        :param intent: What the question is after, from an `IntentRouter`.
        :param documents: The documents that other components found, each list under the name of its input.
        :returns: `documents`, best first, with receipts under `meta["hopweave"]`; if an optional source failed,
            instead `failures` with the reason.
        """

class FullTextRetriever(SourceRetriever):
    r"""
    Documents by SQLite FTS5. Text in double quotes must occur as written; other words may.

    ```python
    from haystack_integrations.components.retrievers.hopweave import FullTextRetriever

    retriever = FullTextRetriever(knowledge_base="hopweave.db")
    documents = retriever.run(query="Who built the tide gate?")["documents"]
    ```
    """

    def __init__(
        self,
        *,
        knowledge_base: str | Path | None = None,
        document_store: DocumentStore | None = None,
        top_k: int = 50,
        optional: bool = False,
        deadline_seconds: float | None = None,
        filters: dict[str, Any] | None = None,
        filter_policy: str | FilterPolicy = FilterPolicy.REPLACE,
        tenant: dict[str, Any] | None = None,
        tenant_required: Sequence[str] = ...,
    ) -> None:
        r"""
        Create the retriever; files are opened on first use.

        :param knowledge_base: Path of the knowledge base file.
        :param document_store: Where the documents live, if not in the file; they go by the same ids. A
            `HopweaveDocumentStore` needs no path.
        :param top_k: How many documents to fetch.
        :param optional: Carry on without this source when it fails or is too slow.
        :param deadline_seconds: Give up on this source after so many seconds.
        :param filters: Haystack metadata filters.
        :param filter_policy: Whether filters given to `run` replace these (`replace`), are merged in (`merge`), or
            are left to a later component (`defer`): fetch until `top_k` documents pass, and hand out the others
            too.
        :param tenant: Metadata values a document must have to be seen at all.
        :param tenant_required: Metadata fields for which every run needs a tenant; one without is refused.
        """
    def run(
        self,
        query: str,
        filters: dict[str, Any] | None = None,
        top_k: int | None = None,
        tenant: dict[str, Any] | Callable[[], dict[str, Any]] | None = None,
        overrides: dict[str, Any] | None = None,
        skip: list[str] | Callable[[], list[str]] | None = None,
    ) -> dict[str, Any]:
        r"""
        Find documents for a question.

        :param query: The question.
        :param filters: Haystack metadata filters, instead of those given at construction.
        :param top_k: How many documents to return, instead of the number given at construction.
        :param tenant: Metadata values a document must have to be seen at all; narrows those given at construction.
        :param overrides: Other values for parameters of the constructor, by name, for this run.
        :param skip: What to leave out for this run: rerank, graph, freshness, or the kind of a source or stage.
        :returns: `documents`, best first, with receipts under `meta["hopweave"]`; if an optional source failed,
            instead `failures` with the reason.
        """
    async def run_async(
        self,
        query: str,
        filters: dict[str, Any] | None = None,
        top_k: int | None = None,
        tenant: dict[str, Any] | Callable[[], dict[str, Any]] | None = None,
        overrides: dict[str, Any] | None = None,
        skip: list[str] | Callable[[], list[str]] | None = None,
    ) -> dict[str, Any]:
        r"""
        Find documents for a question, without blocking the event loop.

        :param query: The question.
        :param filters: Haystack metadata filters, instead of those given at construction.
        :param top_k: How many documents to return, instead of the number given at construction.
        :param tenant: Metadata values a document must have to be seen at all; narrows those given at construction.
        :param overrides: Other values for parameters of the constructor, by name, for this run.
        :param skip: What to leave out for this run: rerank, graph, freshness, or the kind of a source or stage.
        :returns: `documents`, best first, with receipts under `meta["hopweave"]`; if an optional source failed,
            instead `failures` with the reason.
        """

class GraphBoostRetriever(GraphRetriever):
    r"""
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

    def __init__(
        self,
        *,
        knowledge_base: str | Path | None = None,
        document_store: DocumentStore | None = None,
        graph: str | Path | Secret | None = None,
        graph_schema: str = "hopweave",
        two_hop_intents: Sequence[str] = ...,
        edge_type_weights: Mapping[str, float] = ...,
        seeds_from: Sequence[str] = ...,
        seeds_per_source: int = 10,
        top_k: int = 50,
        optional: bool = False,
        deadline_seconds: float | None = None,
        filters: dict[str, Any] | None = None,
        filter_policy: str | FilterPolicy = FilterPolicy.REPLACE,
        tenant: dict[str, Any] | None = None,
        tenant_required: Sequence[str] = ...,
    ) -> None:
        r"""
        Create the retriever; file and graph are opened on first use.

        :param knowledge_base: Path of the knowledge base file.
        :param document_store: Where the documents live, if not in the file; they go by the same ids. A
            `HopweaveDocumentStore` needs no path.
        :param graph: Path of a graph file, or URL of a PostgreSQL database (one with a password as a secret), as
            `GraphWriter` writes them. It takes the place of the graph of a knowledge base; retrievers then need
            `document_store` as well.
        :param graph_schema: Schema of the database in which the tables of the graph lie.
        :param two_hop_intents: Intents, or profiles of intents, for which a second hop counts.
        :param edge_type_weights: Weights of edge types that differ from the usual ones.
        :param seeds_from: Names of the inputs for documents that other retrievers found, which are seeds as well.
        :param seeds_per_source: How many of the best documents of each are seeds.
        :param top_k: How many documents to fetch.
        :param optional: Carry on without this source when it fails or is too slow.
        :param deadline_seconds: Give up on this source after so many seconds.
        :param filters: Haystack metadata filters.
        :param filter_policy: Whether filters given to `run` replace these (`replace`), are merged in (`merge`), or
            are left to a later component (`defer`): fetch until `top_k` documents pass, and hand out the others
            too.
        :param tenant: Metadata values a document must have to be seen at all.
        :param tenant_required: Metadata fields for which every run needs a tenant; one without is refused.
        """
    def run(
        self,
        query: str,
        filters: dict[str, Any] | None = None,
        top_k: int | None = None,
        tenant: dict[str, Any] | Callable[[], dict[str, Any]] | None = None,
        overrides: dict[str, Any] | None = None,
        skip: list[str] | Callable[[], list[str]] | None = None,
        intent: dict[str, Any] | None = None,
        **documents: list[Document] | None,
    ) -> dict[str, Any]:
        r"""
        Find documents for a question.

        :param query: The question.
        :param filters: Haystack metadata filters, instead of those given at construction.
        :param top_k: How many documents to return, instead of the number given at construction.
        :param tenant: Metadata values a document must have to be seen at all; narrows those given at construction.
        :param overrides: Other values for parameters of the constructor, by name, for this run.
        :param skip: What to leave out for this run: rerank, graph, freshness, or the kind of a source or stage.
        :param intent: What the question is after, from an `IntentRouter`.
        :param documents: The documents that other components found, each list under the name of its input.
        :returns: `documents`, best first, with receipts under `meta["hopweave"]`; if an optional source failed,
            instead `failures` with the reason.
        """
    async def run_async(
        self,
        query: str,
        filters: dict[str, Any] | None = None,
        top_k: int | None = None,
        tenant: dict[str, Any] | Callable[[], dict[str, Any]] | None = None,
        overrides: dict[str, Any] | None = None,
        skip: list[str] | Callable[[], list[str]] | None = None,
        intent: dict[str, Any] | None = None,
        **documents: list[Document] | None,
    ) -> dict[str, Any]:
        r"""
        Find documents for a question, without blocking the event loop.

        :param query: The question.
        :param filters: Haystack metadata filters, instead of those given at construction.
        :param top_k: How many documents to return, instead of the number given at construction.
        :param tenant: Metadata values a document must have to be seen at all; narrows those given at construction.
        :param overrides: Other values for parameters of the constructor, by name, for this run.
        :param skip: What to leave out for this run: rerank, graph, freshness, or the kind of a source or stage.
        :param intent: What the question is after, from an `IntentRouter`.
        :param documents: The documents that other components found, each list under the name of its input.
        :returns: `documents`, best first, with receipts under `meta["hopweave"]`; if an optional source failed,
            instead `failures` with the reason.
        """

class HybridGraphRetriever(OverRecipe):
    r"""
    A recipe as a super component: inside, a native Haystack pipeline with one component per source, fuser and stage.

    It takes `query`, `filters`, `top_k`, `tenant`, if a stage goes by the clock `now`, and documents under the names in
    `upstream`; it gives `documents`.
    `RecipeRetriever` does the same in one step, without the copies that Haystack makes between components.

    ```python
    from haystack_integrations.components.retrievers.hopweave import HybridGraphRetriever

    retriever = HybridGraphRetriever(knowledge_base="hopweave.db", top_k=5)
    documents = retriever.run(query="Who built the tide gate?")["documents"]
    ```
    """

    pipeline: Pipeline
    input_mapping: dict[str, list[str]]
    knowledge_base: str | None
    def run(
        self,
        query: str,
        filters: dict[str, Any] | None = None,
        top_k: int | None = None,
        tenant: dict[str, Any] | Callable[[], dict[str, Any]] | None = None,
        now: datetime | str | None = None,
        skip: list[str] | Callable[[], list[str]] | None = None,
        **documents: list[Document] | None,
    ) -> dict[str, Any]:
        r"""
        Find documents for a query.

        :param inputs: `query`, and if you like `filters`, `top_k`, `tenant`, `now`, `skip`, and documents by the
            names in `upstream`.
        :returns: `documents`, best first; none for a message that the recipe's gate does not let through.
        """
    async def run_async(
        self,
        query: str,
        filters: dict[str, Any] | None = None,
        top_k: int | None = None,
        tenant: dict[str, Any] | Callable[[], dict[str, Any]] | None = None,
        now: datetime | str | None = None,
        skip: list[str] | Callable[[], list[str]] | None = None,
        **documents: list[Document] | None,
    ) -> dict[str, Any]:
        r"""
        Find documents for a query without blocking the event loop.

        :param inputs: `query`, and if you like `filters`, `top_k`, `tenant`, `now`, `skip`, and documents by the
            names in `upstream`.
        :returns: `documents`, best first; none for a message that the recipe's gate does not let through.
        """
    def __init__(
        self,
        *,
        knowledge_base: str | Path | None = None,
        document_store: DocumentStore | None = None,
        graph: str | Path | Secret | None = None,
        graph_schema: str = "hopweave",
        recipe: str = "multihop",
        upstream: Sequence[str] = ...,
        top_k: int | None = None,
        tenant: dict[str, Any] | None = None,
        tenant_required: Sequence[str] = ...,
        flat_scores: bool = False,
    ) -> None:
        r"""
        Create the retriever; file and graph are opened on first use.

        :param knowledge_base: Path of the knowledge base file.
        :param document_store: Where the documents live, if not in the file; they go by the same ids. A
            `HopweaveDocumentStore` needs no path.
        :param graph: Path of a graph file, or URL of a PostgreSQL database (one with a password as a secret), as
            `GraphWriter` writes them. It takes the place of the graph of a knowledge base; retrievers then need
            `document_store` as well.
        :param graph_schema: Schema of the database in which the tables of the graph lie.
        :param recipe: Name of a shipped recipe, or path of a YAML file; `multihop` when not given.
        :param upstream: Names of the recipe's sources whose documents other components find: each is an input of
            that name, to which any retriever can be connected.
        :param top_k: How many documents to return; the recipe's own number when not given.
        :param tenant: Metadata values a document must have to be seen at all.
        :param tenant_required: Metadata fields for which every run needs a tenant; one without is refused.
        :param flat_scores: Whether the meta of documents has the score of every step: `dense_score`, `rrf_score` …
        """

class IntentEdgesRetriever(GraphRetriever):
    r"""
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
        graph: str | Path | Secret | None = None,
        graph_schema: str = "hopweave",
        seeds_from: Sequence[str] = ...,
        seeds_per_source: int = 10,
        top_k: int = 50,
        optional: bool = False,
        deadline_seconds: float | None = None,
        filters: dict[str, Any] | None = None,
        filter_policy: str | FilterPolicy = FilterPolicy.REPLACE,
        tenant: dict[str, Any] | None = None,
        tenant_required: Sequence[str] = ...,
    ) -> None:
        r"""
        Create the retriever; file and graph are opened on first use.

        :param knowledge_base: Path of the knowledge base file.
        :param document_store: Where the documents live, if not in the file; they go by the same ids. A
            `HopweaveDocumentStore` needs no path.
        :param graph: Path of a graph file, or URL of a PostgreSQL database (one with a password as a secret), as
            `GraphWriter` writes them. It takes the place of the graph of a knowledge base; retrievers then need
            `document_store` as well.
        :param graph_schema: Schema of the database in which the tables of the graph lie.
        :param seeds_from: Names of the inputs for documents that other retrievers found, which are seeds as well.
        :param seeds_per_source: How many of the best documents of each are seeds.
        :param top_k: How many documents to fetch.
        :param optional: Carry on without this source when it fails or is too slow.
        :param deadline_seconds: Give up on this source after so many seconds.
        :param filters: Haystack metadata filters.
        :param filter_policy: Whether filters given to `run` replace these (`replace`), are merged in (`merge`), or
            are left to a later component (`defer`): fetch until `top_k` documents pass, and hand out the others
            too.
        :param tenant: Metadata values a document must have to be seen at all.
        :param tenant_required: Metadata fields for which every run needs a tenant; one without is refused.
        """
    def run(
        self,
        query: str,
        filters: dict[str, Any] | None = None,
        top_k: int | None = None,
        tenant: dict[str, Any] | Callable[[], dict[str, Any]] | None = None,
        overrides: dict[str, Any] | None = None,
        skip: list[str] | Callable[[], list[str]] | None = None,
        intent: dict[str, Any] | None = None,
        **documents: list[Document] | None,
    ) -> dict[str, Any]:
        r"""
        Find documents for a question.

        :param query: The question.
        :param filters: Haystack metadata filters, instead of those given at construction.
        :param top_k: How many documents to return, instead of the number given at construction.
        :param tenant: Metadata values a document must have to be seen at all; narrows those given at construction.
        :param overrides: Other values for parameters of the constructor, by name, for this run.
        :param skip: What to leave out for this run: rerank, graph, freshness, or the kind of a source or stage.
        :param intent: What the question is after, from an `IntentRouter`.
        :param documents: The documents that other components found, each list under the name of its input.
        :returns: `documents`, best first, with receipts under `meta["hopweave"]`; if an optional source failed,
            instead `failures` with the reason.
        """
    async def run_async(
        self,
        query: str,
        filters: dict[str, Any] | None = None,
        top_k: int | None = None,
        tenant: dict[str, Any] | Callable[[], dict[str, Any]] | None = None,
        overrides: dict[str, Any] | None = None,
        skip: list[str] | Callable[[], list[str]] | None = None,
        intent: dict[str, Any] | None = None,
        **documents: list[Document] | None,
    ) -> dict[str, Any]:
        r"""
        Find documents for a question, without blocking the event loop.

        :param query: The question.
        :param filters: Haystack metadata filters, instead of those given at construction.
        :param top_k: How many documents to return, instead of the number given at construction.
        :param tenant: Metadata values a document must have to be seen at all; narrows those given at construction.
        :param overrides: Other values for parameters of the constructor, by name, for this run.
        :param skip: What to leave out for this run: rerank, graph, freshness, or the kind of a source or stage.
        :param intent: What the question is after, from an `IntentRouter`.
        :param documents: The documents that other components found, each list under the name of its input.
        :returns: `documents`, best first, with receipts under `meta["hopweave"]`; if an optional source failed,
            instead `failures` with the reason.
        """

class KeywordRetriever(SourceRetriever):
    r"""
    Score = max(BM25, FTS5), each brought to [0, 1] over its own documents.

    ```python
    from haystack_integrations.components.retrievers.hopweave import KeywordRetriever

    retriever = KeywordRetriever(knowledge_base="hopweave.db")
    documents = retriever.run(query="Who built the tide gate?")["documents"]
    ```
    """

    def __init__(
        self,
        *,
        knowledge_base: str | Path | None = None,
        document_store: DocumentStore | None = None,
        analyzer: str = "nlp",
        keyword_weight: float = 5.0,
        top_k: int = 50,
        optional: bool = False,
        deadline_seconds: float | None = None,
        filters: dict[str, Any] | None = None,
        filter_policy: str | FilterPolicy = FilterPolicy.REPLACE,
        tenant: dict[str, Any] | None = None,
        tenant_required: Sequence[str] = ...,
    ) -> None:
        r"""
        Create the retriever; files are opened on first use.

        :param knowledge_base: Path of the knowledge base file.
        :param document_store: Where the documents live, if not in the file; they go by the same ids. A
            `HopweaveDocumentStore` needs no path.
        :param analyzer: Analyzer of BM25.
        :param keyword_weight: Weight of a keyword of the intent in BM25.
        :param top_k: How many documents to fetch.
        :param optional: Carry on without this source when it fails or is too slow.
        :param deadline_seconds: Give up on this source after so many seconds.
        :param filters: Haystack metadata filters.
        :param filter_policy: Whether filters given to `run` replace these (`replace`), are merged in (`merge`), or
            are left to a later component (`defer`): fetch until `top_k` documents pass, and hand out the others
            too.
        :param tenant: Metadata values a document must have to be seen at all.
        :param tenant_required: Metadata fields for which every run needs a tenant; one without is refused.
        """
    def run(
        self,
        query: str,
        filters: dict[str, Any] | None = None,
        top_k: int | None = None,
        tenant: dict[str, Any] | Callable[[], dict[str, Any]] | None = None,
        overrides: dict[str, Any] | None = None,
        skip: list[str] | Callable[[], list[str]] | None = None,
        intent: dict[str, Any] | None = None,
    ) -> dict[str, Any]:
        r"""
        Find documents for a question.

        :param query: The question.
        :param filters: Haystack metadata filters, instead of those given at construction.
        :param top_k: How many documents to return, instead of the number given at construction.
        :param tenant: Metadata values a document must have to be seen at all; narrows those given at construction.
        :param overrides: Other values for parameters of the constructor, by name, for this run.
        :param skip: What to leave out for this run: rerank, graph, freshness, or the kind of a source or stage.
        :param intent: What the question is after, from an `IntentRouter`.
        :returns: `documents`, best first, with receipts under `meta["hopweave"]`; if an optional source failed,
            instead `failures` with the reason.
        """
    async def run_async(
        self,
        query: str,
        filters: dict[str, Any] | None = None,
        top_k: int | None = None,
        tenant: dict[str, Any] | Callable[[], dict[str, Any]] | None = None,
        overrides: dict[str, Any] | None = None,
        skip: list[str] | Callable[[], list[str]] | None = None,
        intent: dict[str, Any] | None = None,
    ) -> dict[str, Any]:
        r"""
        Find documents for a question, without blocking the event loop.

        :param query: The question.
        :param filters: Haystack metadata filters, instead of those given at construction.
        :param top_k: How many documents to return, instead of the number given at construction.
        :param tenant: Metadata values a document must have to be seen at all; narrows those given at construction.
        :param overrides: Other values for parameters of the constructor, by name, for this run.
        :param skip: What to leave out for this run: rerank, graph, freshness, or the kind of a source or stage.
        :param intent: What the question is after, from an `IntentRouter`.
        :returns: `documents`, best first, with receipts under `meta["hopweave"]`; if an optional source failed,
            instead `failures` with the reason.
        """

class PageRankRetriever(GraphRetriever):
    r"""
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
        graph: str | Path | Secret | None = None,
        graph_schema: str = "hopweave",
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
        top_k: int = 50,
        optional: bool = False,
        deadline_seconds: float | None = None,
        filters: dict[str, Any] | None = None,
        filter_policy: str | FilterPolicy = FilterPolicy.REPLACE,
        tenant: dict[str, Any] | None = None,
        tenant_required: Sequence[str] = ...,
    ) -> None:
        r"""
        Create the retriever; file and graph are opened on first use.

        :param knowledge_base: Path of the knowledge base file.
        :param document_store: Where the documents live, if not in the file; they go by the same ids. A
            `HopweaveDocumentStore` needs no path.
        :param graph: Path of a graph file, or URL of a PostgreSQL database (one with a password as a secret), as
            `GraphWriter` writes them. It takes the place of the graph of a knowledge base; retrievers then need
            `document_store` as well.
        :param graph_schema: Schema of the database in which the tables of the graph lie.
        :param seeds_from: Names of the inputs for documents that other retrievers found, which are seeds as well.
        :param word_source: Which of these goes by words; None if none does.
        :param analyzer: Analyzer for the words outside the names.
        :param linker: How names in the question are found.
        :param restart: Probability to jump back to the seeds; higher stays nearer.
        :param adaptive_restart: Whether the entities that a question names replace `restart`: .5 for one to three,
            .15 for more than five, else .3.
        :param max_seed_passages: How many upstream passages are seeds, at most.
        :param passage_mass_linked: Their share of restarts when all names are linked.
        :param passage_mass_unlinked: Their share when no name is linked for sure.
        :param about_weight: Weight of the passages about an entity, next to the entity itself.
        :param relevance_exponent: How much the relevance of a passage biases the walk; 0 not at all.
        :param relevance_floor: What a passage counts that is not relevant at all.
        :param topic_boost: What an edge to an entity that a passage is about counts, next to other entities.
        :param cooccurrence_boost: Boost of entities whose names occur next to the question's other words; 0 for
            none.
        :param edge_type_weights: Weights of edge types that differ from the usual ones.
        :param backward_type_weights: The same for edges followed against their direction.
        :param result_kind: Kind of the nodes that are returned.
        :param same_document_decay: Factor on the share of a passage for each better part of the same document; 1
            does not spread.
        :param min_share: Nodes with a smaller share of the visits are left out.
        :param explain_top_k: How many documents get the strongest path to them in their receipt.
        :param prune: Flow pruning before fusion: documents on no path between the best ones are dropped, the others
            ranked by the reliability of their best path; not at all for questions that the plan does not find
            complex.
        :param keep_off_path: Whether pruning keeps documents on no path, after the others, in place of dropping
            them.
        :param tolerance: How far the walk may be off; smaller takes longer.
        :param time_budget_seconds: Best so far after this time, and the receipt says so.
        :param top_k: How many documents to fetch.
        :param optional: Carry on without this source when it fails or is too slow.
        :param deadline_seconds: Give up on this source after so many seconds.
        :param filters: Haystack metadata filters.
        :param filter_policy: Whether filters given to `run` replace these (`replace`), are merged in (`merge`), or
            are left to a later component (`defer`): fetch until `top_k` documents pass, and hand out the others
            too.
        :param tenant: Metadata values a document must have to be seen at all.
        :param tenant_required: Metadata fields for which every run needs a tenant; one without is refused.
        """
    def run(
        self,
        query: str,
        filters: dict[str, Any] | None = None,
        top_k: int | None = None,
        tenant: dict[str, Any] | Callable[[], dict[str, Any]] | None = None,
        overrides: dict[str, Any] | None = None,
        skip: list[str] | Callable[[], list[str]] | None = None,
        restart: float | None = None,
        plan: dict[str, Any] | None = None,
        **documents: list[Document] | None,
    ) -> dict[str, Any]:
        r"""
        Find documents for a question.

        :param query: The question.
        :param filters: Haystack metadata filters, instead of those given at construction.
        :param top_k: How many documents to return, instead of the number given at construction.
        :param tenant: Metadata values a document must have to be seen at all; narrows those given at construction.
        :param overrides: Other values for parameters of the constructor, by name, for this run.
        :param skip: What to leave out for this run: rerank, graph, freshness, or the kind of a source or stage.
        :param restart: Probability to jump back to the seeds, instead of the one given at construction.
        :param plan: The plan of the question, from a `PlanRouter`; it says whether to use paths.
        :param documents: The documents that other components found, each list under the name of its input.
        :returns: `documents`, best first, with receipts under `meta["hopweave"]`; if an optional source failed,
            instead `failures` with the reason.
        """
    async def run_async(
        self,
        query: str,
        filters: dict[str, Any] | None = None,
        top_k: int | None = None,
        tenant: dict[str, Any] | Callable[[], dict[str, Any]] | None = None,
        overrides: dict[str, Any] | None = None,
        skip: list[str] | Callable[[], list[str]] | None = None,
        restart: float | None = None,
        plan: dict[str, Any] | None = None,
        **documents: list[Document] | None,
    ) -> dict[str, Any]:
        r"""
        Find documents for a question, without blocking the event loop.

        :param query: The question.
        :param filters: Haystack metadata filters, instead of those given at construction.
        :param top_k: How many documents to return, instead of the number given at construction.
        :param tenant: Metadata values a document must have to be seen at all; narrows those given at construction.
        :param overrides: Other values for parameters of the constructor, by name, for this run.
        :param skip: What to leave out for this run: rerank, graph, freshness, or the kind of a source or stage.
        :param restart: Probability to jump back to the seeds, instead of the one given at construction.
        :param plan: The plan of the question, from a `PlanRouter`; it says whether to use paths.
        :param documents: The documents that other components found, each list under the name of its input.
        :returns: `documents`, best first, with receipts under `meta["hopweave"]`; if an optional source failed,
            instead `failures` with the reason.
        """

class RecipeRetriever(OverRecipe):
    r"""
    Answers a query by running a hopweave recipe over a knowledge base file.

    With `document_store`, the file is the index of a store of yours: what is found is fetched from there, and what the
    store no longer has is left out. With `upstream`, retrievers of yours take the place of sources of the recipe.

    ```python
    from haystack_integrations.components.retrievers.hopweave import RecipeRetriever

    retriever = RecipeRetriever(knowledge_base="hopweave.db", top_k=5)
    documents = retriever.run(query="Who built the tide gate?")["documents"]
    ```

    Several knowledge bases are searched as one: `knowledge_base={"handbook": "handbook.db", "tickets": "tickets.db"}`.
    Documents then have ids such as `tickets/17`, and their receipts name the knowledge base; the recipe's
    `fuse_knowledge_bases` has weights by name.
    """

    knowledge_base: str | dict[str, str] | None
    filters: dict[str, Any] | None
    filter_policy: FilterPolicy | Literal["defer"]
    cache_seconds: float | None
    def warm_up(self) -> None:
        r"""Open knowledge base and graph, and load the embedding model if the recipe has a source that needs it."""
    def close(self) -> None:
        r"""Let go of knowledge base and graph."""
    def __init__(
        self,
        *,
        knowledge_base: str | Path | Mapping[str, str | Path] | None = None,
        document_store: DocumentStore | None = None,
        graph: str | Path | Secret | None = None,
        graph_schema: str = "hopweave",
        recipe: str = "multihop",
        upstream: Sequence[str] = ...,
        top_k: int | None = None,
        tenant: dict[str, Any] | None = None,
        tenant_required: Sequence[str] = ...,
        flat_scores: bool = False,
        filters: dict[str, Any] | None = None,
        filter_policy: str | FilterPolicy = FilterPolicy.REPLACE,
        cache_seconds: float | None = None,
    ) -> None:
        r"""
        Create the retriever. The recipe is read now, the knowledge base is opened on first use.

        :param knowledge_base: Path of the knowledge base file, or several paths by name, which are searched as one;
            not with `document_store`, `graph` or `upstream`.
        :param document_store: Where the documents live, if not in the file; they go by the same ids. A
            `HopweaveDocumentStore` needs no path.
        :param graph: Path of a graph file, or URL of a PostgreSQL database (one with a password as a secret), as
            `GraphWriter` writes them. It takes the place of the graph of a knowledge base; retrievers then need
            `document_store` as well.
        :param graph_schema: Schema of the database in which the tables of the graph lie.
        :param recipe: Name of a shipped recipe, or path of a YAML file; `multihop` when not given.
        :param upstream: Names of the recipe's sources whose documents other components find: each is an input of
            that name, to which any retriever can be connected.
        :param top_k: How many documents to return; the recipe's own number when not given.
        :param tenant: Metadata values a document must have to be seen at all.
        :param tenant_required: Metadata fields for which every run needs a tenant; one without is refused.
        :param flat_scores: Whether the meta of documents has the score of every step: `dense_score`, `rrf_score` …
        :param filters: Haystack metadata filters.
        :param filter_policy: Whether filters given to `run` replace these (`replace`) or are merged in (`merge`).
        :param cache_seconds: How long an answer is kept for when the same is asked again; a change of the knowledge
            base makes it void. None for no cache. Not with `upstream`, `graph` or a store of yours, as nothing says
            when their documents change. With filters, nothing is kept.
        """
    def run(
        self,
        query: str,
        filters: dict[str, Any] | None = None,
        top_k: int | None = None,
        query_embedding: list[float] | None = None,
        now: datetime | str | None = None,
        tenant: dict[str, Any] | Callable[[], dict[str, Any]] | None = None,
        skip: list[str] | Callable[[], list[str]] | None = None,
        **documents: list[Document] | None,
    ) -> dict[str, Any]:
        r"""
        Find documents for a query.

        :param query: The question.
        :param filters: Haystack metadata filters, instead of those given at construction.
        :param top_k: How many documents to return, instead of the number given at construction.
        :param query_embedding: The question's vector; if None, the knowledge base's embedder makes it.
        :param now: The time at which the question is asked; the current time if None.
        :param tenant: Metadata values a document must have to be seen at all; narrows those given at construction.
        :param skip: What to leave out for this run: rerank, graph, freshness, or the kind of a source or stage.
        :param documents: The documents that other components found, each list under the name of its input.
        :returns: `documents`, best first, with receipts under `meta["hopweave"]`, `confidence`, the probability
            that the answer is among what was found (None if nothing was looked up), `intent`, with its name, rule
            and the weights of the signals (None if the recipe does not classify questions), and, if optional
            sources or stages failed or were too slow, `failures` with the reasons by source or kind of stage.
        """
    async def run_async(
        self,
        query: str,
        filters: dict[str, Any] | None = None,
        top_k: int | None = None,
        query_embedding: list[float] | None = None,
        now: datetime | str | None = None,
        tenant: dict[str, Any] | Callable[[], dict[str, Any]] | None = None,
        skip: list[str] | Callable[[], list[str]] | None = None,
        **documents: list[Document] | None,
    ) -> dict[str, Any]:
        r"""
        Find documents for a query, without blocking the event loop.

        :param query: The question.
        :param filters: Haystack metadata filters, instead of those given at construction.
        :param top_k: How many documents to return, instead of the number given at construction.
        :param query_embedding: The question's vector; if None, the knowledge base's embedder makes it.
        :param now: The time at which the question is asked; the current time if None.
        :param tenant: Metadata values a document must have to be seen at all; narrows those given at construction.
        :param skip: What to leave out for this run: rerank, graph, freshness, or the kind of a source or stage.
        :param documents: The documents that other components found, each list under the name of its input.
        :returns: `documents`, best first, with receipts under `meta["hopweave"]`, `confidence`, the probability
            that the answer is among what was found (None if nothing was looked up), `intent`, with its name, rule
            and the weights of the signals (None if the recipe does not classify questions), and, if optional
            sources or stages failed or were too slow, `failures` with the reasons by source or kind of stage.
        """

class VectorSearchRetriever(SourceRetriever):
    r"""
    Documents by cosine between their vector and that of the question, which the knowledge base's own embedder makes.

    Use `EmbeddingRetriever` if a Haystack embedder makes the question's vector.

    ```python
    from haystack_integrations.components.retrievers.hopweave import VectorSearchRetriever

    retriever = VectorSearchRetriever(knowledge_base="hopweave.db")
    documents = retriever.run(query="Who built the tide gate?")["documents"]
    ```
    """

    def warm_up(self) -> None:
        r"""Open the knowledge base and load its embedding model."""
    def __init__(
        self,
        *,
        knowledge_base: str | Path | None = None,
        document_store: DocumentStore | None = None,
        model: str | None = None,
        own_share: float | None = None,
        top_k: int = 50,
        optional: bool = False,
        deadline_seconds: float | None = None,
        filters: dict[str, Any] | None = None,
        filter_policy: str | FilterPolicy = FilterPolicy.REPLACE,
        tenant: dict[str, Any] | None = None,
        tenant_required: Sequence[str] = ...,
    ) -> None:
        r"""
        Create the retriever; files are opened on first use.

        :param knowledge_base: Path of the knowledge base file.
        :param document_store: Where the documents live, if not in the file; they go by the same ids. A
            `HopweaveDocumentStore` needs no path.
        :param model: Model that made the vector which comes with a question; the knowledge base's when not given.
        :param own_share: Share of a document's own vector, the rest being that of its neighbours in the graph; 1
            does not blend; as settled for the file if not given, which is 1 by default.
        :param top_k: How many documents to fetch.
        :param optional: Carry on without this source when it fails or is too slow.
        :param deadline_seconds: Give up on this source after so many seconds.
        :param filters: Haystack metadata filters.
        :param filter_policy: Whether filters given to `run` replace these (`replace`), are merged in (`merge`), or
            are left to a later component (`defer`): fetch until `top_k` documents pass, and hand out the others
            too.
        :param tenant: Metadata values a document must have to be seen at all.
        :param tenant_required: Metadata fields for which every run needs a tenant; one without is refused.
        """
    def run(
        self,
        query: str,
        filters: dict[str, Any] | None = None,
        top_k: int | None = None,
        tenant: dict[str, Any] | Callable[[], dict[str, Any]] | None = None,
        overrides: dict[str, Any] | None = None,
        skip: list[str] | Callable[[], list[str]] | None = None,
    ) -> dict[str, Any]:
        r"""
        Find documents for a question.

        :param query: The question.
        :param filters: Haystack metadata filters, instead of those given at construction.
        :param top_k: How many documents to return, instead of the number given at construction.
        :param tenant: Metadata values a document must have to be seen at all; narrows those given at construction.
        :param overrides: Other values for parameters of the constructor, by name, for this run.
        :param skip: What to leave out for this run: rerank, graph, freshness, or the kind of a source or stage.
        :returns: `documents`, best first, with receipts under `meta["hopweave"]`; if an optional source failed,
            instead `failures` with the reason.
        """
    async def run_async(
        self,
        query: str,
        filters: dict[str, Any] | None = None,
        top_k: int | None = None,
        tenant: dict[str, Any] | Callable[[], dict[str, Any]] | None = None,
        overrides: dict[str, Any] | None = None,
        skip: list[str] | Callable[[], list[str]] | None = None,
    ) -> dict[str, Any]:
        r"""
        Find documents for a question, without blocking the event loop.

        :param query: The question.
        :param filters: Haystack metadata filters, instead of those given at construction.
        :param top_k: How many documents to return, instead of the number given at construction.
        :param tenant: Metadata values a document must have to be seen at all; narrows those given at construction.
        :param overrides: Other values for parameters of the constructor, by name, for this run.
        :param skip: What to leave out for this run: rerank, graph, freshness, or the kind of a source or stage.
        :returns: `documents`, best first, with receipts under `meta["hopweave"]`; if an optional source failed,
            instead `failures` with the reason.
        """

__all__ = [
    "BM25Retriever",
    "EmbeddingRetriever",
    "EvidenceSumRetriever",
    "FullTextRetriever",
    "GraphBoostRetriever",
    "HybridGraphRetriever",
    "IntentEdgesRetriever",
    "KeywordRetriever",
    "PageRankRetriever",
    "RecipeRetriever",
    "VectorSearchRetriever",
]
