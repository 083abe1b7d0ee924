# Written by `make fix`.
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from haystack.dataclasses.document import Document
from haystack.utils.auth import Secret

from haystack_integrations.components.rankers.hopweave.stage_ranker import KnowledgeRanker, StageRanker
from hopweave.stages.adjust.corpus_boost import CorpusRule
from hopweave.stages.filter.noise import NoiseRule

class CommunitySpreadRanker(KnowledgeRanker):
    r"""
    Score = score * multiplier for the best document of each community; the others of the community stay.

    Nothing happens unless there are at least `min_hits` documents. The community is read from the metadata, else asked
    of the knowledge base. Documents without a community or without a score stay as they are.

    ```python
    from haystack import Document
    from haystack_integrations.components.rankers.hopweave import CommunitySpreadRanker

    ranker = CommunitySpreadRanker(multiplier=1.1)
    documents = [Document(content="The Skua sails hourly.", score=0.8, meta={"community": "ferries"})]
    result = ranker.run(documents=documents, query="Why is the ferry down?")["documents"]
    ```
    """

    def __init__(
        self,
        *,
        knowledge_base: str | Path | None = None,
        multiplier: float = 1.05,
        min_hits: int = 4,
        field: str = "community",
        clamp: bool = False,
        optional: bool = False,
        top_k: int | None = None,
    ) -> None:
        r"""
        Create the ranker; a knowledge base is opened on first use.

        :param knowledge_base: Path of a knowledge base file, for what the documents do not carry themselves.
        :param multiplier: Factor for the best document of each community.
        :param min_hits: With fewer documents than this nothing is changed.
        :param field: Metadata field that names the community.
        :param clamp: Whether to keep scores within [0, 1].
        :param optional: Go on with the documents as they were if this stage fails.
        :param top_k: How many documents to return, all of them when not given.
        """
    def run(
        self,
        documents: list[Document],
        query: str = "",
        top_k: int | None = None,
        overrides: dict[str, Any] | None = None,
        skip: list[str] | Callable[[], list[str]] | None = None,
    ) -> dict[str, Any]:
        r"""
        Rescore, reorder or drop documents.

        :param documents: What was retrieved, best first.
        :param query: The question.
        :param top_k: How many documents to return, instead of the number given at construction.
        :param overrides: Other values for parameters of the constructor, by name, for this run.
        :param skip: What to leave out for this run: rerank, graph, freshness, or the kind of a source or stage.
        :returns: `documents`, as new objects, with receipts under `meta["hopweave"]`, and, if the stage failed and
            is optional or has something to fall back on, `failures` with the reason.
        """
    async def run_async(
        self,
        documents: list[Document],
        query: str = "",
        top_k: int | None = None,
        overrides: dict[str, Any] | None = None,
        skip: list[str] | Callable[[], list[str]] | None = None,
    ) -> dict[str, Any]:
        r"""
        Rescore, reorder or drop documents, without blocking the event loop.

        :param documents: What was retrieved, best first.
        :param query: The question.
        :param top_k: How many documents to return, instead of the number given at construction.
        :param overrides: Other values for parameters of the constructor, by name, for this run.
        :param skip: What to leave out for this run: rerank, graph, freshness, or the kind of a source or stage.
        :returns: `documents`, as new objects, with receipts under `meta["hopweave"]`, and, if the stage failed and
            is optional or has something to fall back on, `failures` with the reason.
        """

class ConfidenceThresholdRanker(StageRanker):
    r"""
    Returns all documents or none: none if the answer is probably not among them.

    The probability follows from how much of the question the first documents cover, how far the best stands out, how
    far words and vectors agree, and how well names were linked. Place it right after a joiner or retriever of hopweave,
    whose receipts it reads. A branch on `confidence` can then say that there is no result.

    ```python
    from haystack import Document
    from haystack_integrations.components.rankers.hopweave import ConfidenceThresholdRanker

    ranker = ConfidenceThresholdRanker(min_confidence=0.2)
    documents = [Document(content="The Skua sails hourly.", score=0.8)]
    result = ranker.run(documents=documents, query="What is the capital of Mongolia?")
    assert result["documents"] == [] and result["confidence"] < 0.2
    ```
    """

    def __init__(
        self,
        *,
        min_confidence: float = 0.15,
        min_cosine: float | None = None,
        optional: bool = False,
        top_k: int | None = None,
    ) -> None:
        r"""
        Create the ranker; a knowledge base is opened on first use.

        :param min_confidence: The lowest probability with which documents are returned.
        :param min_cosine: A cosine of the best document by vectors that is enough by itself; None for none.
        :param optional: Go on with the documents as they were if this stage fails.
        :param top_k: How many documents to return, all of them when not given.
        """
    def run(
        self,
        documents: list[Document],
        query: str = "",
        top_k: int | None = None,
        overrides: dict[str, Any] | None = None,
        skip: list[str] | Callable[[], list[str]] | None = None,
    ) -> dict[str, Any]:
        r"""
        Return all documents or none.

        :param documents: What was retrieved, best first.
        :param query: The question.
        :param top_k: How many documents to return, instead of the number given at construction.
        :param overrides: Other values for parameters of the constructor, by name, for this run.
        :param skip: What to leave out for this run: rerank, graph, freshness, or the kind of a source or stage.
        :returns: `documents`, as new objects, with receipts under `meta["hopweave"]`, and `confidence`.
        """
    async def run_async(
        self,
        documents: list[Document],
        query: str = "",
        top_k: int | None = None,
        overrides: dict[str, Any] | None = None,
        skip: list[str] | Callable[[], list[str]] | None = None,
    ) -> dict[str, Any]:
        r"""
        Return all documents or none, without blocking the event loop.

        :param documents: What was retrieved, best first.
        :param query: The question.
        :param top_k: How many documents to return, instead of the number given at construction.
        :param overrides: Other values for parameters of the constructor, by name, for this run.
        :param skip: What to leave out for this run: rerank, graph, freshness, or the kind of a source or stage.
        :returns: `documents`, as new objects, with receipts under `meta["hopweave"]`, and `confidence`.
        """

class CorpusBoostRanker(StageRanker):
    r"""
    Score = score · multiplier, for each rule that the question fires and that lists the document's corpus type.

    Words are whole words: "download" does not say "down". Logits become probabilities first, so that a boost always
    raises a score.

    ```python
    from haystack import Document
    from haystack_integrations.components.rankers.hopweave import CorpusBoostRanker

    ranker = CorpusBoostRanker(rules=[{"phrases": ["ferry"], "corpus_types": ["NOTICE"], "multiplier": 1.2}])
    documents = [Document(content="The Skua sails hourly.", score=0.8, meta={"corpus_type": "NOTICE"})]
    result = ranker.run(documents=documents, query="Why is the ferry down?")["documents"]
    ```
    """

    def __init__(
        self,
        *,
        rules: Sequence[CorpusRule | dict[str, Any]] = ...,
        corpus_type_field: str = "corpus_type",
        clamp: bool = False,
        optional: bool = False,
        top_k: int | None = None,
    ) -> None:
        r"""
        Create the ranker; a knowledge base is opened on first use.

        :param rules: Which phrases boost which corpus types, and by how much.
        :param corpus_type_field: Metadata field with the corpus type.
        :param clamp: Whether to keep scores within [0, 1].
        :param optional: Go on with the documents as they were if this stage fails.
        :param top_k: How many documents to return, all of them when not given.
        """
    def run(
        self,
        documents: list[Document],
        query: str = "",
        top_k: int | None = None,
        overrides: dict[str, Any] | None = None,
        skip: list[str] | Callable[[], list[str]] | None = None,
    ) -> dict[str, Any]:
        r"""
        Rescore, reorder or drop documents.

        :param documents: What was retrieved, best first.
        :param query: The question.
        :param top_k: How many documents to return, instead of the number given at construction.
        :param overrides: Other values for parameters of the constructor, by name, for this run.
        :param skip: What to leave out for this run: rerank, graph, freshness, or the kind of a source or stage.
        :returns: `documents`, as new objects, with receipts under `meta["hopweave"]`, and, if the stage failed and
            is optional or has something to fall back on, `failures` with the reason.
        """
    async def run_async(
        self,
        documents: list[Document],
        query: str = "",
        top_k: int | None = None,
        overrides: dict[str, Any] | None = None,
        skip: list[str] | Callable[[], list[str]] | None = None,
    ) -> dict[str, Any]:
        r"""
        Rescore, reorder or drop documents, without blocking the event loop.

        :param documents: What was retrieved, best first.
        :param query: The question.
        :param top_k: How many documents to return, instead of the number given at construction.
        :param overrides: Other values for parameters of the constructor, by name, for this run.
        :param skip: What to leave out for this run: rerank, graph, freshness, or the kind of a source or stage.
        :returns: `documents`, as new objects, with receipts under `meta["hopweave"]`, and, if the stage failed and
            is optional or has something to fall back on, `failures` with the reason.
        """

class CosineRerankRanker(KnowledgeRanker):
    r"""
    Score = (1 - blend) * original + blend * cosine(question, document), within [0, 1].

    The question's vector is the input `query_embedding`, to be connected to any text embedder, or the knowledge base
    makes it. Documents carry their embeddings, or the knowledge base has them, and must be of the same model. If there
    is no vector at all, the order stays, and log and receipts have the reason.

    ```python
    from haystack import Document
    from haystack_integrations.components.rankers.hopweave import CosineRerankRanker

    ranker = CosineRerankRanker(blend=0.5)
    documents = [Document(content="The Skua sails hourly.", score=0.8, embedding=[0.6, 0.8])]
    result = ranker.run(documents=documents, query_embedding=[0.8, 0.6])["documents"]
    ```
    """

    def __init__(
        self,
        *,
        knowledge_base: str | Path | None = None,
        blend: float = 0.3,
        optional: bool = False,
        top_k: int | None = None,
    ) -> None:
        r"""
        Create the ranker; a knowledge base is opened on first use.

        :param knowledge_base: Path of a knowledge base file, for what the documents do not carry themselves.
        :param blend: Share of the cosine; the rest is the original score.
        :param optional: Go on with the documents as they were if this stage fails.
        :param top_k: How many documents to return, all of them when not given.
        """
    def run(
        self,
        documents: list[Document],
        query: str = "",
        top_k: int | None = None,
        overrides: dict[str, Any] | None = None,
        skip: list[str] | Callable[[], list[str]] | None = None,
        query_embedding: list[float] | None = None,
    ) -> dict[str, Any]:
        r"""
        Rescore, reorder or drop documents.

        :param documents: What was retrieved, best first.
        :param query: The question.
        :param top_k: How many documents to return, instead of the number given at construction.
        :param overrides: Other values for parameters of the constructor, by name, for this run.
        :param skip: What to leave out for this run: rerank, graph, freshness, or the kind of a source or stage.
        :param query_embedding: The question's vector; if None, the knowledge base's embedder makes it.
        :returns: `documents`, as new objects, with receipts under `meta["hopweave"]`, and, if the stage failed and
            is optional or has something to fall back on, `failures` with the reason.
        """
    async def run_async(
        self,
        documents: list[Document],
        query: str = "",
        top_k: int | None = None,
        overrides: dict[str, Any] | None = None,
        skip: list[str] | Callable[[], list[str]] | None = None,
        query_embedding: list[float] | None = None,
    ) -> dict[str, Any]:
        r"""
        Rescore, reorder or drop documents, without blocking the event loop.

        :param documents: What was retrieved, best first.
        :param query: The question.
        :param top_k: How many documents to return, instead of the number given at construction.
        :param overrides: Other values for parameters of the constructor, by name, for this run.
        :param skip: What to leave out for this run: rerank, graph, freshness, or the kind of a source or stage.
        :param query_embedding: The question's vector; if None, the knowledge base's embedder makes it.
        :returns: `documents`, as new objects, with receipts under `meta["hopweave"]`, and, if the stage failed and
            is optional or has something to fall back on, `failures` with the reason.
        """

class CrossEncoderRanker(StageRanker):
    r"""
    Rescores the first documents with a sentence-transformers cross-encoder; the rest follow behind them.

    score = blend * sigmoid(logit) + (1 - blend) * original, or the logit itself with `output="logit"`. A document
    without an original score takes the model's alone. The rest keep their order and get at most the lowest score
    of those that were read. The model is loaded at the first use, once per process, and shared by all threads.
    Needs the extra `hopweave[sentence-transformers]`.

    ```python
    from haystack import Document
    from haystack_integrations.components.rankers.hopweave import CrossEncoderRanker

    ranker = CrossEncoderRanker(candidates=20)
    documents = [Document(content="The Skua sails hourly.", score=0.8)]
    result = ranker.run(documents=documents, query="Why is the ferry down?")["documents"]
    ```
    """

    def __init__(
        self,
        *,
        model: str = "cross-encoder/ms-marco-MiniLM-L-6-v2",
        device: str | None = None,
        candidates: int = 50,
        batch_size: int = 32,
        output: Literal["unit", "logit"] = "unit",
        blend: float = 1.0,
        include_title: bool = True,
        optional: bool = False,
        top_k: int | None = None,
    ) -> None:
        r"""
        Create the ranker; a knowledge base is opened on first use.

        :param model: Model name or folder.
        :param device: cpu, cuda, mps ...; chosen automatically if not given.
        :param candidates: Number of documents, from the top, that the model scores.
        :param batch_size: Pairs per forward pass.
        :param output: unit: a probability; logit: the model's raw score.
        :param blend: Share of the model's score; the rest is the original score.
        :param include_title: Whether the model reads the title in the metadata, too.
        :param optional: Go on with the documents as they were if this stage fails.
        :param top_k: How many documents to return, all of them when not given.
        """
    def run(
        self,
        documents: list[Document],
        query: str = "",
        top_k: int | None = None,
        overrides: dict[str, Any] | None = None,
        skip: list[str] | Callable[[], list[str]] | None = None,
    ) -> dict[str, Any]:
        r"""
        Rescore, reorder or drop documents.

        :param documents: What was retrieved, best first.
        :param query: The question.
        :param top_k: How many documents to return, instead of the number given at construction.
        :param overrides: Other values for parameters of the constructor, by name, for this run.
        :param skip: What to leave out for this run: rerank, graph, freshness, or the kind of a source or stage.
        :returns: `documents`, as new objects, with receipts under `meta["hopweave"]`, and, if the stage failed and
            is optional or has something to fall back on, `failures` with the reason.
        """
    async def run_async(
        self,
        documents: list[Document],
        query: str = "",
        top_k: int | None = None,
        overrides: dict[str, Any] | None = None,
        skip: list[str] | Callable[[], list[str]] | None = None,
    ) -> dict[str, Any]:
        r"""
        Rescore, reorder or drop documents, without blocking the event loop.

        :param documents: What was retrieved, best first.
        :param query: The question.
        :param top_k: How many documents to return, instead of the number given at construction.
        :param overrides: Other values for parameters of the constructor, by name, for this run.
        :param skip: What to leave out for this run: rerank, graph, freshness, or the kind of a source or stage.
        :returns: `documents`, as new objects, with receipts under `meta["hopweave"]`, and, if the stage failed and
            is optional or has something to fall back on, `failures` with the reason.
        """

class DeferralRanker(KnowledgeRanker):
    r"""
    A document more similar than `max_similarity` to one already chosen moves to the end. Nothing is dropped.

    Documents are taken in the order given. A document without a vector is similar to none. Scores stay as they are.

    ```python
    from haystack import Document
    from haystack_integrations.components.rankers.hopweave import DeferralRanker

    ranker = DeferralRanker(max_similarity=0.9)
    documents = [Document(content="The Skua sails hourly.", score=0.8, embedding=[0.6, 0.8])]
    result = ranker.run(documents=documents, query="Why is the ferry down?")["documents"]
    ```
    """

    def __init__(
        self,
        *,
        knowledge_base: str | Path | None = None,
        max_similarity: float = 0.85,
        candidates: int = 500,
        optional: bool = False,
        top_k: int | None = None,
    ) -> None:
        r"""
        Create the ranker; a knowledge base is opened on first use.

        :param knowledge_base: Path of a knowledge base file, for what the documents do not carry themselves.
        :param max_similarity: Cosine above which a document repeats a chosen one.
        :param candidates: Number of documents, from the top, to compare; the others follow in their order.
        :param optional: Go on with the documents as they were if this stage fails.
        :param top_k: How many documents to return, all of them when not given.
        """
    def run(
        self,
        documents: list[Document],
        query: str = "",
        top_k: int | None = None,
        overrides: dict[str, Any] | None = None,
        skip: list[str] | Callable[[], list[str]] | None = None,
    ) -> dict[str, Any]:
        r"""
        Rescore, reorder or drop documents.

        :param documents: What was retrieved, best first.
        :param query: The question.
        :param top_k: How many documents to return, instead of the number given at construction.
        :param overrides: Other values for parameters of the constructor, by name, for this run.
        :param skip: What to leave out for this run: rerank, graph, freshness, or the kind of a source or stage.
        :returns: `documents`, as new objects, with receipts under `meta["hopweave"]`, and, if the stage failed and
            is optional or has something to fall back on, `failures` with the reason.
        """
    async def run_async(
        self,
        documents: list[Document],
        query: str = "",
        top_k: int | None = None,
        overrides: dict[str, Any] | None = None,
        skip: list[str] | Callable[[], list[str]] | None = None,
    ) -> dict[str, Any]:
        r"""
        Rescore, reorder or drop documents, without blocking the event loop.

        :param documents: What was retrieved, best first.
        :param query: The question.
        :param top_k: How many documents to return, instead of the number given at construction.
        :param overrides: Other values for parameters of the constructor, by name, for this run.
        :param skip: What to leave out for this run: rerank, graph, freshness, or the kind of a source or stage.
        :returns: `documents`, as new objects, with receipts under `meta["hopweave"]`, and, if the stage failed and
            is optional or has something to fall back on, `failures` with the reason.
        """

class FreshnessRanker(StageRanker):
    r"""
    Score = (1 - weight) · score + weight · 2^(-age / half-life), for documents of the given corpus types.

    Scores are brought to [0, 1] first, those without an upper bound (of BM25, or of unknown scale and above 1) as
    shares of the best one. Other documents and undated ones keep the score that they have then.

    ```python
    from haystack import Document
    from haystack_integrations.components.rankers.hopweave import FreshnessRanker

    ranker = FreshnessRanker(half_life_days=30)
    meta = {"corpus_type": "CONVO_SLACK", "timestamp": "2026-01-01"}
    documents = [Document(content="The Skua sails hourly.", score=0.8, meta=meta)]
    result = ranker.run(documents=documents, query="Why is the ferry down?")["documents"]
    ```
    """

    def __init__(
        self,
        *,
        half_life_days: float = 90,
        weight: float = 0.1,
        corpus_types: Sequence[str] | None = ...,
        corpus_type_field: str = "corpus_type",
        clamp: bool = False,
        decay: Literal["half_life", "exponential"] = "half_life",
        timestamp_field: str = "timestamp",
        optional: bool = False,
        top_k: int | None = None,
    ) -> None:
        r"""
        Create the ranker; a knowledge base is opened on first use.

        :param half_life_days: Age at which freshness is 0.5.
        :param weight: Share of the score that freshness makes up.
        :param corpus_types: Corpus types it applies to, with * and ? as wildcards; None applies to all documents.
        :param corpus_type_field: Metadata field with the corpus type.
        :param clamp: Whether to keep scores within [0, 1].
        :param decay: half_life: 2^(-age/half-life); exponential: e^(-age/half-life).
        :param timestamp_field: Metadata field with the date.
        :param optional: Go on with the documents as they were if this stage fails.
        :param top_k: How many documents to return, all of them when not given.
        """
    def run(
        self,
        documents: list[Document],
        query: str = "",
        top_k: int | None = None,
        overrides: dict[str, Any] | None = None,
        skip: list[str] | Callable[[], list[str]] | None = None,
        now: datetime | str | None = None,
    ) -> dict[str, Any]:
        r"""
        Rescore, reorder or drop documents.

        :param documents: What was retrieved, best first.
        :param query: The question.
        :param top_k: How many documents to return, instead of the number given at construction.
        :param overrides: Other values for parameters of the constructor, by name, for this run.
        :param skip: What to leave out for this run: rerank, graph, freshness, or the kind of a source or stage.
        :param now: The time at which the question is asked; the current time if None.
        :returns: `documents`, as new objects, with receipts under `meta["hopweave"]`, and, if the stage failed and
            is optional or has something to fall back on, `failures` with the reason.
        """
    async def run_async(
        self,
        documents: list[Document],
        query: str = "",
        top_k: int | None = None,
        overrides: dict[str, Any] | None = None,
        skip: list[str] | Callable[[], list[str]] | None = None,
        now: datetime | str | None = None,
    ) -> dict[str, Any]:
        r"""
        Rescore, reorder or drop documents, without blocking the event loop.

        :param documents: What was retrieved, best first.
        :param query: The question.
        :param top_k: How many documents to return, instead of the number given at construction.
        :param overrides: Other values for parameters of the constructor, by name, for this run.
        :param skip: What to leave out for this run: rerank, graph, freshness, or the kind of a source or stage.
        :param now: The time at which the question is asked; the current time if None.
        :returns: `documents`, as new objects, with receipts under `meta["hopweave"]`, and, if the stage failed and
            is optional or has something to fall back on, `failures` with the reason.
        """

class ImportanceRanker(StageRanker):
    r"""
    Score = score · (floor + (1 - floor) · importance), with importance in [0, 1] from the metadata.

    A document without an importance that can be read counts as fully important.

    ```python
    from haystack import Document
    from haystack_integrations.components.rankers.hopweave import ImportanceRanker

    ranker = ImportanceRanker(floor=0.5)
    documents = [Document(content="The Skua sails hourly.", score=0.8, meta={"importance": 0.9})]
    result = ranker.run(documents=documents, query="Why is the ferry down?")["documents"]
    ```
    """

    def __init__(
        self,
        *,
        floor: float = 0.7,
        importance_field: str = "importance",
        optional: bool = False,
        top_k: int | None = None,
    ) -> None:
        r"""
        Create the ranker; a knowledge base is opened on first use.

        :param floor: Factor for a document of importance 0.
        :param importance_field: Metadata field with the importance, from 0 to 1.
        :param optional: Go on with the documents as they were if this stage fails.
        :param top_k: How many documents to return, all of them when not given.
        """
    def run(
        self,
        documents: list[Document],
        query: str = "",
        top_k: int | None = None,
        overrides: dict[str, Any] | None = None,
        skip: list[str] | Callable[[], list[str]] | None = None,
    ) -> dict[str, Any]:
        r"""
        Rescore, reorder or drop documents.

        :param documents: What was retrieved, best first.
        :param query: The question.
        :param top_k: How many documents to return, instead of the number given at construction.
        :param overrides: Other values for parameters of the constructor, by name, for this run.
        :param skip: What to leave out for this run: rerank, graph, freshness, or the kind of a source or stage.
        :returns: `documents`, as new objects, with receipts under `meta["hopweave"]`, and, if the stage failed and
            is optional or has something to fall back on, `failures` with the reason.
        """
    async def run_async(
        self,
        documents: list[Document],
        query: str = "",
        top_k: int | None = None,
        overrides: dict[str, Any] | None = None,
        skip: list[str] | Callable[[], list[str]] | None = None,
    ) -> dict[str, Any]:
        r"""
        Rescore, reorder or drop documents, without blocking the event loop.

        :param documents: What was retrieved, best first.
        :param query: The question.
        :param top_k: How many documents to return, instead of the number given at construction.
        :param overrides: Other values for parameters of the constructor, by name, for this run.
        :param skip: What to leave out for this run: rerank, graph, freshness, or the kind of a source or stage.
        :returns: `documents`, as new objects, with receipts under `meta["hopweave"]`, and, if the stage failed and
            is optional or has something to fall back on, `failures` with the reason.
        """

class LengthRanker(StageRanker):
    r"""
    Score = score / (1 + slope · log2(max(characters / anchor, 1))). Texts up to the anchor keep their score.

    ```python
    from haystack import Document
    from haystack_integrations.components.rankers.hopweave import LengthRanker

    ranker = LengthRanker(anchor_characters=1000)
    documents = [Document(content="The Skua sails hourly.", score=0.8)]
    result = ranker.run(documents=documents, query="Why is the ferry down?")["documents"]
    ```
    """

    def __init__(
        self, *, anchor_characters: int = 500, slope: float = 0.5, optional: bool = False, top_k: int | None = None
    ) -> None:
        r"""
        Create the ranker; a knowledge base is opened on first use.

        :param anchor_characters: Length up to which scores are unchanged.
        :param slope: How much each doubling of the length adds to the divisor.
        :param optional: Go on with the documents as they were if this stage fails.
        :param top_k: How many documents to return, all of them when not given.
        """
    def run(
        self,
        documents: list[Document],
        query: str = "",
        top_k: int | None = None,
        overrides: dict[str, Any] | None = None,
        skip: list[str] | Callable[[], list[str]] | None = None,
    ) -> dict[str, Any]:
        r"""
        Rescore, reorder or drop documents.

        :param documents: What was retrieved, best first.
        :param query: The question.
        :param top_k: How many documents to return, instead of the number given at construction.
        :param overrides: Other values for parameters of the constructor, by name, for this run.
        :param skip: What to leave out for this run: rerank, graph, freshness, or the kind of a source or stage.
        :returns: `documents`, as new objects, with receipts under `meta["hopweave"]`, and, if the stage failed and
            is optional or has something to fall back on, `failures` with the reason.
        """
    async def run_async(
        self,
        documents: list[Document],
        query: str = "",
        top_k: int | None = None,
        overrides: dict[str, Any] | None = None,
        skip: list[str] | Callable[[], list[str]] | None = None,
    ) -> dict[str, Any]:
        r"""
        Rescore, reorder or drop documents, without blocking the event loop.

        :param documents: What was retrieved, best first.
        :param query: The question.
        :param top_k: How many documents to return, instead of the number given at construction.
        :param overrides: Other values for parameters of the constructor, by name, for this run.
        :param skip: What to leave out for this run: rerank, graph, freshness, or the kind of a source or stage.
        :returns: `documents`, as new objects, with receipts under `meta["hopweave"]`, and, if the stage failed and
            is optional or has something to fall back on, `failures` with the reason.
        """

class MMRRanker(KnowledgeRanker):
    r"""
    Picks documents one by one, each time the one with the largest marginal relevance.

    mmr = relevance_weight * relevance - (1 - relevance_weight) * largest similarity to any document chosen so far.

    Similarity is the cosine, 0 where it is negative or a vector is missing. The other strategies are those of
    pyversity, with `relevance_weight` in the same sense. Scores stay as they are; the receipt has the rank and the
    mmr value. Nothing is dropped unless `top_k` says so. Documents without a score come last, in their order.

    ```python
    from haystack import Document
    from haystack_integrations.components.rankers.hopweave import MMRRanker

    ranker = MMRRanker(relevance_weight=0.5, top_k=5)
    documents = [Document(content="The Skua sails hourly.", score=0.8, embedding=[0.6, 0.8])]
    result = ranker.run(documents=documents, query="Why is the ferry down?")["documents"]
    ```
    """

    def __init__(
        self,
        *,
        knowledge_base: str | Path | None = None,
        strategy: Literal["mmr", "msd", "dpp", "cover", "ssd"] = "mmr",
        relevance_weight: float = 0.7,
        relevance: Literal["unit", "max", "min_max"] = "unit",
        candidates: int = 500,
        optional: bool = False,
        top_k: int | None = None,
    ) -> None:
        r"""
        Create the ranker; a knowledge base is opened on first use.

        :param knowledge_base: Path of a knowledge base file, for what the documents do not carry themselves.
        :param strategy: mmr, or one of the other strategies of pyversity.
        :param relevance_weight: 1: relevance alone; 0: diversity alone.
        :param relevance: How scores become relevance. unit: as they are if bounded, else divided by their maximum;
            max: always divided by their maximum; min_max: stretched to [0, 1].
        :param candidates: Number of documents, from the top, to select from; the others follow in their order.
        :param optional: Go on with the documents as they were if this stage fails.
        :param top_k: How many documents to return, all of them when not given.
        """
    def run(
        self,
        documents: list[Document],
        query: str = "",
        top_k: int | None = None,
        overrides: dict[str, Any] | None = None,
        skip: list[str] | Callable[[], list[str]] | None = None,
    ) -> dict[str, Any]:
        r"""
        Rescore, reorder or drop documents.

        :param documents: What was retrieved, best first.
        :param query: The question.
        :param top_k: How many documents to return, instead of the number given at construction.
        :param overrides: Other values for parameters of the constructor, by name, for this run.
        :param skip: What to leave out for this run: rerank, graph, freshness, or the kind of a source or stage.
        :returns: `documents`, as new objects, with receipts under `meta["hopweave"]`, and, if the stage failed and
            is optional or has something to fall back on, `failures` with the reason.
        """
    async def run_async(
        self,
        documents: list[Document],
        query: str = "",
        top_k: int | None = None,
        overrides: dict[str, Any] | None = None,
        skip: list[str] | Callable[[], list[str]] | None = None,
    ) -> dict[str, Any]:
        r"""
        Rescore, reorder or drop documents, without blocking the event loop.

        :param documents: What was retrieved, best first.
        :param query: The question.
        :param top_k: How many documents to return, instead of the number given at construction.
        :param overrides: Other values for parameters of the constructor, by name, for this run.
        :param skip: What to leave out for this run: rerank, graph, freshness, or the kind of a source or stage.
        :returns: `documents`, as new objects, with receipts under `meta["hopweave"]`, and, if the stage failed and
            is optional or has something to fall back on, `failures` with the reason.
        """

class MetadataFilterRanker(StageRanker):
    r"""
    Keeps the documents whose metadata has one of the allowed values; scores and order stay.

    None allows everything, an empty list nothing. `filters` takes Haystack's filters, `where` those of recipes
    (`hopweave.metadata.filters`): values by field. All that is given must hold.

    ```python
    from haystack import Document
    from haystack_integrations.components.rankers.hopweave import MetadataFilterRanker

    ranker = MetadataFilterRanker(types=["notice"])
    documents = [Document(content="The Skua sails hourly.", score=0.8, meta={"type": "notice"})]
    result = ranker.run(documents=documents, query="Why is the ferry down?")["documents"]
    ```
    """

    filters: dict[str, Any] | None
    def __init__(
        self,
        *,
        types: Sequence[str] | None = None,
        corpus_types: Sequence[str] | None = None,
        services: Sequence[str] | None = None,
        repos: Sequence[str] | None = None,
        where: Mapping[str, Any] = ...,
        field_names: Mapping[str, Sequence[str]] = ...,
        optional: bool = False,
        filters: dict[str, Any] | None = None,
        top_k: int | None = None,
    ) -> None:
        r"""
        Create the ranker.

        :param types: Allowed values of `type`.
        :param corpus_types: Allowed values of `corpus_type`.
        :param services: Allowed services.
        :param repos: Allowed repositories.
        :param where: Any other filter on metadata, by field.
        :param field_names: Other metadata fields for types, corpus_types, services or repos; a value in any of them
            counts.
        :param optional: Go on with the documents as they were if this stage fails.
        :param filters: Haystack metadata filters.
        :param top_k: How many documents to return, all of them when not given.
        """
    def run(
        self,
        documents: list[Document],
        query: str = "",
        top_k: int | None = None,
        overrides: dict[str, Any] | None = None,
        skip: list[str] | Callable[[], list[str]] | None = None,
    ) -> dict[str, Any]:
        r"""
        Rescore, reorder or drop documents.

        :param documents: What was retrieved, best first.
        :param query: The question.
        :param top_k: How many documents to return, instead of the number given at construction.
        :param overrides: Other values for parameters of the constructor, by name, for this run.
        :param skip: What to leave out for this run: rerank, graph, freshness, or the kind of a source or stage.
        :returns: `documents`, as new objects, with receipts under `meta["hopweave"]`, and, if the stage failed and
            is optional or has something to fall back on, `failures` with the reason.
        """
    async def run_async(
        self,
        documents: list[Document],
        query: str = "",
        top_k: int | None = None,
        overrides: dict[str, Any] | None = None,
        skip: list[str] | Callable[[], list[str]] | None = None,
    ) -> dict[str, Any]:
        r"""
        Rescore, reorder or drop documents, without blocking the event loop.

        :param documents: What was retrieved, best first.
        :param query: The question.
        :param top_k: How many documents to return, instead of the number given at construction.
        :param overrides: Other values for parameters of the constructor, by name, for this run.
        :param skip: What to leave out for this run: rerank, graph, freshness, or the kind of a source or stage.
        :returns: `documents`, as new objects, with receipts under `meta["hopweave"]`, and, if the stage failed and
            is optional or has something to fall back on, `failures` with the reason.
        """

class NoiseRanker(StageRanker):
    r"""
    Drops documents whose text is a non-answer, a question about memory, a greeting, boilerplate or too short.

    The order of the others stays.

    ```python
    from haystack import Document
    from haystack_integrations.components.rankers.hopweave import NoiseRanker

    ranker = NoiseRanker(min_characters=10)
    documents = [Document(content="The Skua sails hourly.", score=0.8)]
    result = ranker.run(documents=documents, query="Why is the ferry down?")["documents"]
    ```
    """

    def __init__(
        self,
        *,
        rules: Sequence[NoiseRule | dict[str, Any]] = ...,
        extra_rules: Sequence[NoiseRule | dict[str, Any]] = ...,
        min_characters: int = 5,
        min_cjk_characters: int = 2,
        optional: bool = False,
        top_k: int | None = None,
    ) -> None:
        r"""
        Create the ranker; a knowledge base is opened on first use.

        :param rules: Rules for noise; a value given here replaces the built-in rules.
        :param extra_rules: Rules in addition to `rules`; they are tried first.
        :param min_characters: Shorter texts are noise.
        :param min_cjk_characters: The same limit for texts with Chinese, Japanese or Korean characters.
        :param optional: Go on with the documents as they were if this stage fails.
        :param top_k: How many documents to return, all of them when not given.
        """
    def run(
        self,
        documents: list[Document],
        query: str = "",
        top_k: int | None = None,
        overrides: dict[str, Any] | None = None,
        skip: list[str] | Callable[[], list[str]] | None = None,
    ) -> dict[str, Any]:
        r"""
        Rescore, reorder or drop documents.

        :param documents: What was retrieved, best first.
        :param query: The question.
        :param top_k: How many documents to return, instead of the number given at construction.
        :param overrides: Other values for parameters of the constructor, by name, for this run.
        :param skip: What to leave out for this run: rerank, graph, freshness, or the kind of a source or stage.
        :returns: `documents`, as new objects, with receipts under `meta["hopweave"]`, and, if the stage failed and
            is optional or has something to fall back on, `failures` with the reason.
        """
    async def run_async(
        self,
        documents: list[Document],
        query: str = "",
        top_k: int | None = None,
        overrides: dict[str, Any] | None = None,
        skip: list[str] | Callable[[], list[str]] | None = None,
    ) -> dict[str, Any]:
        r"""
        Rescore, reorder or drop documents, without blocking the event loop.

        :param documents: What was retrieved, best first.
        :param query: The question.
        :param top_k: How many documents to return, instead of the number given at construction.
        :param overrides: Other values for parameters of the constructor, by name, for this run.
        :param skip: What to leave out for this run: rerank, graph, freshness, or the kind of a source or stage.
        :returns: `documents`, as new objects, with receipts under `meta["hopweave"]`, and, if the stage failed and
            is optional or has something to fall back on, `failures` with the reason.
        """

class RecencyBoostRanker(StageRanker):
    r"""
    Score = score + weight · 2^(-age / half-life). Undated documents get no bonus.

    ```python
    from haystack import Document
    from haystack_integrations.components.rankers.hopweave import RecencyBoostRanker

    ranker = RecencyBoostRanker(half_life_days=7)
    documents = [Document(content="The Skua sails hourly.", score=0.8, meta={"timestamp": "2026-01-01"})]
    result = ranker.run(documents=documents, query="Why is the ferry down?")["documents"]
    ```
    """

    def __init__(
        self,
        *,
        half_life_days: float = 14,
        weight: float = 0.1,
        clamp: bool = False,
        decay: Literal["half_life", "exponential"] = "half_life",
        timestamp_field: str = "timestamp",
        optional: bool = False,
        top_k: int | None = None,
    ) -> None:
        r"""
        Create the ranker; a knowledge base is opened on first use.

        :param half_life_days: Age at which the bonus is halved.
        :param weight: Bonus of a document of age 0.
        :param clamp: Whether to keep scores within [0, 1].
        :param decay: half_life: 2^(-age/half-life); exponential: e^(-age/half-life).
        :param timestamp_field: Metadata field with the date.
        :param optional: Go on with the documents as they were if this stage fails.
        :param top_k: How many documents to return, all of them when not given.
        """
    def run(
        self,
        documents: list[Document],
        query: str = "",
        top_k: int | None = None,
        overrides: dict[str, Any] | None = None,
        skip: list[str] | Callable[[], list[str]] | None = None,
        now: datetime | str | None = None,
    ) -> dict[str, Any]:
        r"""
        Rescore, reorder or drop documents.

        :param documents: What was retrieved, best first.
        :param query: The question.
        :param top_k: How many documents to return, instead of the number given at construction.
        :param overrides: Other values for parameters of the constructor, by name, for this run.
        :param skip: What to leave out for this run: rerank, graph, freshness, or the kind of a source or stage.
        :param now: The time at which the question is asked; the current time if None.
        :returns: `documents`, as new objects, with receipts under `meta["hopweave"]`, and, if the stage failed and
            is optional or has something to fall back on, `failures` with the reason.
        """
    async def run_async(
        self,
        documents: list[Document],
        query: str = "",
        top_k: int | None = None,
        overrides: dict[str, Any] | None = None,
        skip: list[str] | Callable[[], list[str]] | None = None,
        now: datetime | str | None = None,
    ) -> dict[str, Any]:
        r"""
        Rescore, reorder or drop documents, without blocking the event loop.

        :param documents: What was retrieved, best first.
        :param query: The question.
        :param top_k: How many documents to return, instead of the number given at construction.
        :param overrides: Other values for parameters of the constructor, by name, for this run.
        :param skip: What to leave out for this run: rerank, graph, freshness, or the kind of a source or stage.
        :param now: The time at which the question is asked; the current time if None.
        :returns: `documents`, as new objects, with receipts under `meta["hopweave"]`, and, if the stage failed and
            is optional or has something to fall back on, `failures` with the reason.
        """

class RemoteRerankRanker(KnowledgeRanker):
    r"""
    Asks a rerank service and blends its scores with the original ones; without an answer, carries on.

    score = blend * reranked + (1 - blend) * original, with originals on [0, 1]. Documents the service did not return,
    or was not asked about, get `unreturned_factor` * original. If the service fails or misses the deadline:
    (1 - cosine_share) * original + cosine_share * cosine(question, document), as far as there are vectors, else the
    order and scores as they were. A document without an original score takes what there is. Receipts say what happened
    and why. Needs the extra `hopweave[remote]`.

    The key is never written, logged or shown.

    ```python
    from haystack import Document
    from haystack_integrations.components.rankers.hopweave import RemoteRerankRanker

    ranker = RemoteRerankRanker(provider="jina")
    documents = [Document(content="The Skua sails hourly.", score=0.8)]
    result = ranker.run(documents=documents, query="Why is the ferry down?")["documents"]
    ```
    """

    api_key: Secret | None
    def __init__(
        self,
        *,
        knowledge_base: str | Path | None = None,
        provider: str = "jina",
        model: str | None = None,
        url: str | None = None,
        deadline_seconds: float = 5.0,
        max_retries: int = 2,
        candidates: int = 50,
        blend: float = 0.6,
        unreturned_factor: float = 0.8,
        cosine_share: float = 0.3,
        include_title: bool = True,
        reply_scale: Literal["unit", "logit"] | None = None,
        parameters: Mapping[str, Any] = ...,
        optional: bool = False,
        top_k: int | None = None,
        api_key: Secret | None = None,
    ) -> None:
        r"""
        Create the ranker; a knowledge base is opened on first use.

        :param knowledge_base: Path of a knowledge base file, for what the documents do not carry themselves.
        :param provider: Format of request and reply: cohere, jina, pinecone, siliconflow, tei, vllm, voyage, one
            that was registered, or generic, the common /rerank format.
        :param model: Model name; the provider's default if not given.
        :param url: URL of the endpoint; the provider's own if not given.
        :param deadline_seconds: Hard limit for all attempts together.
        :param max_retries: Further attempts after 429, 5xx or a broken connection.
        :param candidates: How many documents, from the top, are sent.
        :param blend: Share of the service's score; the rest is the original score.
        :param unreturned_factor: Factor for documents that the service did not return.
        :param cosine_share: Share of the cosine when the service fails.
        :param include_title: Whether to send the title in the metadata, too.
        :param reply_scale: Scale of the scores (unit or logit); by default that of the provider.
        :param parameters: Additional fields of the request body.
        :param optional: Go on with the documents as they were if this stage fails.
        :param top_k: How many documents to return, all of them when not given.
        :param api_key: The key; that in the provider's usual environment variable if neither this nor `url` is
            given.
        """
    def run(
        self,
        documents: list[Document],
        query: str = "",
        top_k: int | None = None,
        overrides: dict[str, Any] | None = None,
        skip: list[str] | Callable[[], list[str]] | None = None,
        query_embedding: list[float] | None = None,
    ) -> dict[str, Any]:
        r"""
        Rescore, reorder or drop documents.

        :param documents: What was retrieved, best first.
        :param query: The question.
        :param top_k: How many documents to return, instead of the number given at construction.
        :param overrides: Other values for parameters of the constructor, by name, for this run.
        :param skip: What to leave out for this run: rerank, graph, freshness, or the kind of a source or stage.
        :param query_embedding: The question's vector; if None, the knowledge base's embedder makes it.
        :returns: `documents`, as new objects, with receipts under `meta["hopweave"]`, and, if the stage failed and
            is optional or has something to fall back on, `failures` with the reason.
        """
    async def run_async(
        self,
        documents: list[Document],
        query: str = "",
        top_k: int | None = None,
        overrides: dict[str, Any] | None = None,
        skip: list[str] | Callable[[], list[str]] | None = None,
        query_embedding: list[float] | None = None,
    ) -> dict[str, Any]:
        r"""
        Rescore, reorder or drop documents, without blocking the event loop.

        :param documents: What was retrieved, best first.
        :param query: The question.
        :param top_k: How many documents to return, instead of the number given at construction.
        :param overrides: Other values for parameters of the constructor, by name, for this run.
        :param skip: What to leave out for this run: rerank, graph, freshness, or the kind of a source or stage.
        :param query_embedding: The question's vector; if None, the knowledge base's embedder makes it.
        :returns: `documents`, as new objects, with receipts under `meta["hopweave"]`, and, if the stage failed and
            is optional or has something to fall back on, `failures` with the reason.
        """

class ScoreThresholdRanker(StageRanker):
    r"""
    Drops documents whose score is under the minimum, in [0, 1]. The order stays.

    Logits become probabilities and scores without an upper end become shares of the best one, so that a minimum means
    the same whatever came before. A document without a score is neither good nor bad and stays.

    ```python
    from haystack import Document
    from haystack_integrations.components.rankers.hopweave import ScoreThresholdRanker

    ranker = ScoreThresholdRanker(min_score=0.5)
    documents = [Document(content="The Skua sails hourly.", score=0.8)]
    result = ranker.run(documents=documents, query="Why is the ferry down?")["documents"]
    ```
    """

    def __init__(self, *, min_score: float = 0.35, optional: bool = False, top_k: int | None = None) -> None:
        r"""
        Create the ranker; a knowledge base is opened on first use.

        :param min_score: The lowest score that is kept.
        :param optional: Go on with the documents as they were if this stage fails.
        :param top_k: How many documents to return, all of them when not given.
        """
    def run(
        self,
        documents: list[Document],
        query: str = "",
        top_k: int | None = None,
        overrides: dict[str, Any] | None = None,
        skip: list[str] | Callable[[], list[str]] | None = None,
    ) -> dict[str, Any]:
        r"""
        Rescore, reorder or drop documents.

        :param documents: What was retrieved, best first.
        :param query: The question.
        :param top_k: How many documents to return, instead of the number given at construction.
        :param overrides: Other values for parameters of the constructor, by name, for this run.
        :param skip: What to leave out for this run: rerank, graph, freshness, or the kind of a source or stage.
        :returns: `documents`, as new objects, with receipts under `meta["hopweave"]`, and, if the stage failed and
            is optional or has something to fall back on, `failures` with the reason.
        """
    async def run_async(
        self,
        documents: list[Document],
        query: str = "",
        top_k: int | None = None,
        overrides: dict[str, Any] | None = None,
        skip: list[str] | Callable[[], list[str]] | None = None,
    ) -> dict[str, Any]:
        r"""
        Rescore, reorder or drop documents, without blocking the event loop.

        :param documents: What was retrieved, best first.
        :param query: The question.
        :param top_k: How many documents to return, instead of the number given at construction.
        :param overrides: Other values for parameters of the constructor, by name, for this run.
        :param skip: What to leave out for this run: rerank, graph, freshness, or the kind of a source or stage.
        :returns: `documents`, as new objects, with receipts under `meta["hopweave"]`, and, if the stage failed and
            is optional or has something to fall back on, `failures` with the reason.
        """

class TimeDecayRanker(StageRanker):
    r"""
    Score = score · (floor + (1 - floor) · 2^(-age / half-life)). Undated documents keep their score.

    ```python
    from haystack import Document
    from haystack_integrations.components.rankers.hopweave import TimeDecayRanker

    ranker = TimeDecayRanker(half_life_days=30, floor=0.25)
    documents = [Document(content="The Skua sails hourly.", score=0.8, meta={"timestamp": "2026-01-01"})]
    result = ranker.run(documents=documents, query="Why is the ferry down?")["documents"]
    ```
    """

    def __init__(
        self,
        *,
        half_life_days: float = 60,
        floor: float = 0.5,
        decay: Literal["half_life", "exponential"] = "half_life",
        timestamp_field: str = "timestamp",
        optional: bool = False,
        top_k: int | None = None,
    ) -> None:
        r"""
        Create the ranker; a knowledge base is opened on first use.

        :param half_life_days: Age at which the decaying share is halved.
        :param floor: Share of the score that does not decay.
        :param decay: half_life: 2^(-age/half-life); exponential: e^(-age/half-life).
        :param timestamp_field: Metadata field with the date.
        :param optional: Go on with the documents as they were if this stage fails.
        :param top_k: How many documents to return, all of them when not given.
        """
    def run(
        self,
        documents: list[Document],
        query: str = "",
        top_k: int | None = None,
        overrides: dict[str, Any] | None = None,
        skip: list[str] | Callable[[], list[str]] | None = None,
        now: datetime | str | None = None,
    ) -> dict[str, Any]:
        r"""
        Rescore, reorder or drop documents.

        :param documents: What was retrieved, best first.
        :param query: The question.
        :param top_k: How many documents to return, instead of the number given at construction.
        :param overrides: Other values for parameters of the constructor, by name, for this run.
        :param skip: What to leave out for this run: rerank, graph, freshness, or the kind of a source or stage.
        :param now: The time at which the question is asked; the current time if None.
        :returns: `documents`, as new objects, with receipts under `meta["hopweave"]`, and, if the stage failed and
            is optional or has something to fall back on, `failures` with the reason.
        """
    async def run_async(
        self,
        documents: list[Document],
        query: str = "",
        top_k: int | None = None,
        overrides: dict[str, Any] | None = None,
        skip: list[str] | Callable[[], list[str]] | None = None,
        now: datetime | str | None = None,
    ) -> dict[str, Any]:
        r"""
        Rescore, reorder or drop documents, without blocking the event loop.

        :param documents: What was retrieved, best first.
        :param query: The question.
        :param top_k: How many documents to return, instead of the number given at construction.
        :param overrides: Other values for parameters of the constructor, by name, for this run.
        :param skip: What to leave out for this run: rerank, graph, freshness, or the kind of a source or stage.
        :param now: The time at which the question is asked; the current time if None.
        :returns: `documents`, as new objects, with receipts under `meta["hopweave"]`, and, if the stage failed and
            is optional or has something to fall back on, `failures` with the reason.
        """

__all__ = [
    "CommunitySpreadRanker",
    "ConfidenceThresholdRanker",
    "CorpusBoostRanker",
    "CosineRerankRanker",
    "CrossEncoderRanker",
    "DeferralRanker",
    "FreshnessRanker",
    "ImportanceRanker",
    "LengthRanker",
    "MMRRanker",
    "MetadataFilterRanker",
    "NoiseRanker",
    "RecencyBoostRanker",
    "RemoteRerankRanker",
    "ScoreThresholdRanker",
    "TimeDecayRanker",
]
