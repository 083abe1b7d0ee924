# Written by `make fix`.
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from haystack.dataclasses.document import Document

from haystack_integrations.components.joiners.hopweave.fuser_joiner import FuserJoiner

class ConfirmatoryJoiner(FuserJoiner):
    r"""
    The base source's score counts; what others found as well gets a bonus, what only others found has a minimum score.

    base and confirmed: base · (1 + bonus). base only: base. confirmed only: max(confirming score, min_score), so that
    an exact keyword match is not buried. All are clamped to [0, 1].

    ```python
    from haystack import Document
    from haystack_integrations.components.joiners.hopweave import ConfirmatoryJoiner

    joiner = ConfirmatoryJoiner(sources=["vector", "text"])
    skua = Document(id="skua", content="A ferry.", score=0.8)
    documents = joiner.run(vector=[skua], text=[skua])["documents"]
    ```
    """

    def __init__(
        self,
        *,
        sources: Sequence[str],
        base: str = "vector",
        confirming: Sequence[str] | None = None,
        bonus: float = 0.15,
        min_score: float = 0.5,
        base_normalisation: Literal["min_max", "max", "sigmoid", "none"] = "none",
        confirming_normalisation: Literal["min_max", "max", "sigmoid", "none"] = "min_max",
        top_k: int | None = None,
    ) -> None:
        r"""
        Create the joiner, with one input per source.

        :param sources: The names of the sources: inputs of a joiner, outputs of a router.
        :param base: Name of the source that gives the scores.
        :param confirming: Names of the sources that confirm; None means all but the base.
        :param bonus: Bonus for confirmation, as a share of the score.
        :param min_score: Minimum score of a document that only confirming sources found.
        :param base_normalisation: How base scores are scaled to [0, 1]; logits always become probabilities.
        :param confirming_normalisation: How the scores of each confirming source are scaled to [0, 1].
        :param top_k: How many documents to return, all of them when not given.
        """
    def run(
        self,
        query: str = "",
        filters: dict[str, Any] | None = None,
        top_k: int | None = None,
        overrides: dict[str, Any] | None = None,
        **documents: list[Document] | None,
    ) -> dict[str, Any]:
        r"""
        Merge the documents of several sources into one ranking.

        :param query: The question.
        :param filters: Haystack metadata filters, instead of those given at construction.
        :param top_k: How many documents to return, instead of the number given at construction.
        :param overrides: Other values for parameters of the constructor, by name, for this run.
        :param documents: The documents that other components found, each list under the name of its input.
        :returns: `documents`, best first, with receipts under `meta["hopweave"]`.
        """

class PassthroughJoiner(FuserJoiner):
    r"""
    The ranking of one source with its order and scores; other sources only provide rankings that it builds on.

    ```python
    from haystack import Document
    from haystack_integrations.components.joiners.hopweave import PassthroughJoiner

    joiner = PassthroughJoiner(sources=["text", "vector"], source="text")
    documents = joiner.run(text=[Document(id="skua", content="A ferry.", score=7.5)], vector=[])["documents"]
    ```
    """

    def __init__(self, *, sources: Sequence[str], source: str = "text", top_k: int | None = None) -> None:
        r"""
        Create the joiner, with one input per source.

        :param sources: The names of the sources: inputs of a joiner, outputs of a router.
        :param source: Name of the source.
        :param top_k: How many documents to return, all of them when not given.
        """
    def run(
        self,
        query: str = "",
        filters: dict[str, Any] | None = None,
        top_k: int | None = None,
        overrides: dict[str, Any] | None = None,
        **documents: list[Document] | None,
    ) -> dict[str, Any]:
        r"""
        Merge the documents of several sources into one ranking.

        :param query: The question.
        :param filters: Haystack metadata filters, instead of those given at construction.
        :param top_k: How many documents to return, instead of the number given at construction.
        :param overrides: Other values for parameters of the constructor, by name, for this run.
        :param documents: The documents that other components found, each list under the name of its input.
        :returns: `documents`, best first, with receipts under `meta["hopweave"]`.
        """

class ReciprocalRankJoiner(FuserJoiner):
    r"""
    Score = sum over sources of weight / (k + rank), with ranks from 1.

    A document found by one source only stays. A source that was skipped is simply absent. A document that stands twice
    in one list counts once.

    ```python
    from haystack import Document
    from haystack_integrations.components.joiners.hopweave import ReciprocalRankJoiner

    joiner = ReciprocalRankJoiner(sources=["text", "vector"], weights={"text": 2.0})
    skua, tern = Document(id="skua", content="A ferry."), Document(id="tern", content="A bird.")
    documents = joiner.run(text=[skua, tern], vector=[tern])["documents"]
    ```
    """

    def __init__(
        self, *, sources: Sequence[str], k: float = 60, weights: Mapping[str, float] = ..., top_k: int | None = None
    ) -> None:
        r"""
        Create the joiner, with one input per source.

        :param sources: The names of the sources: inputs of a joiner, outputs of a router.
        :param k: Rank constant: a larger k reduces the difference between top ranks.
        :param weights: Weight by source name; 1 by default.
        :param top_k: How many documents to return, all of them when not given.
        """
    def run(
        self,
        query: str = "",
        filters: dict[str, Any] | None = None,
        top_k: int | None = None,
        overrides: dict[str, Any] | None = None,
        weights: dict[str, float] | None = None,
        **documents: list[Document] | None,
    ) -> dict[str, Any]:
        r"""
        Merge the documents of several sources into one ranking.

        :param query: The question.
        :param filters: Haystack metadata filters, instead of those given at construction.
        :param top_k: How many documents to return, instead of the number given at construction.
        :param overrides: Other values for parameters of the constructor, by name, for this run.
        :param weights: Weights by source name, instead of those given at construction.
        :param documents: The documents that other components found, each list under the name of its input.
        :returns: `documents`, best first, with receipts under `meta["hopweave"]`.
        """

class TrustWeightedJoiner(FuserJoiner):
    r"""
    Score = sum over sources of weight · strength, where the weights follow the evidence of the rankings themselves.

    The trust in a ranking is above_chance^`exponent` · √contrast, where contrast = (first score - score at `depth`)
    / first score and above_chance says how far its best hit is above what chance gives; contrast² where retrievers
    of other packages do not state that. A source that states its own trust (`PageRankRetriever`, from how well the
    names in the question were linked) gets `max_stated_share` · trust of the whole; the others share the rest in
    proportion to their trust.

    ```python
    from haystack import Document
    from haystack_integrations.components.joiners.hopweave import TrustWeightedJoiner

    joiner = TrustWeightedJoiner(sources=["text", "vector"])
    skua = Document(id="skua", content="A ferry.", score=7.5)
    documents = joiner.run(text=[skua], vector=[Document(id="tern", content="A bird.", score=0.7)])["documents"]
    ```
    """

    def __init__(
        self,
        *,
        sources: Sequence[str],
        weights: Mapping[str, float] = ...,
        depth: int = 10,
        exponent: float = 4.0,
        max_stated_share: float = 1.0,
        top_k: int | None = None,
    ) -> None:
        r"""
        Create the joiner, with one input per source.

        :param sources: The names of the sources: inputs of a joiner, outputs of a router.
        :param weights: What the trust in a source is multiplied by, by source name; 1 if not given.
        :param depth: The rank whose score is compared with the first.
        :param exponent: How strongly it counts how far above chance a source is.
        :param max_stated_share: Weight of a source whose stated trust is 1.
        :param top_k: How many documents to return, all of them when not given.
        """
    def run(
        self,
        query: str = "",
        filters: dict[str, Any] | None = None,
        top_k: int | None = None,
        overrides: dict[str, Any] | None = None,
        weights: dict[str, float] | None = None,
        **documents: list[Document] | None,
    ) -> dict[str, Any]:
        r"""
        Merge the documents of several sources into one ranking.

        :param query: The question.
        :param filters: Haystack metadata filters, instead of those given at construction.
        :param top_k: How many documents to return, instead of the number given at construction.
        :param overrides: Other values for parameters of the constructor, by name, for this run.
        :param weights: Weights by source name, instead of those given at construction.
        :param documents: The documents that other components found, each list under the name of its input.
        :returns: `documents`, best first, with receipts under `meta["hopweave"]`.
        """

class WeightedJoiner(FuserJoiner):
    r"""
    Score = sum over signals of weight · strength, with each signal's strengths in [0, 1] over its own documents.

    Without `weights`, the four signals (embedding, text, graph, intent_edges) weigh what the question's intent says, or
    0.40, 0.45, 0.15 and 0 if there is none. The intent comes in through the input `intent`, from an `IntentRouter`.
    The weight of a signal that is missing is shared out over the others in proportion. Two sources of one signal count
    as the stronger of the two. A source that ran and did not find a document gives it strength 0.

    ```python
    from haystack import Document
    from haystack_integrations.components.joiners.hopweave import WeightedJoiner

    joiner = WeightedJoiner(sources=["text", "vector"], weights={"text": 0.4, "vector": 0.6})
    skua = Document(id="skua", content="A ferry.", score=7.5)
    documents = joiner.run(text=[skua], vector=[Document(id="tern", content="A bird.", score=0.7)])["documents"]
    ```
    """

    def __init__(
        self,
        *,
        sources: Sequence[str],
        weights: Mapping[str, float] | None = None,
        signals: Mapping[str, Literal["embedding", "text", "graph", "intent_edges"]] = ...,
        normalisation: Literal["min_max", "max", "sigmoid", "none"] = "min_max",
        top_k: int | None = None,
    ) -> None:
        r"""
        Create the joiner, with one input per source.

        :param sources: The names of the sources: inputs of a joiner, outputs of a router.
        :param weights: Weight by source name; None: by intent. They need not sum to 1.
        :param signals: Signal by source name, for sources without one of the usual names.
        :param normalisation: How the scores of each source are scaled to [0, 1].
        :param top_k: How many documents to return, all of them when not given.
        """
    def run(
        self,
        query: str = "",
        filters: dict[str, Any] | None = None,
        top_k: int | None = None,
        overrides: dict[str, Any] | None = None,
        intent: dict[str, Any] | None = None,
        weights: dict[str, float] | None = None,
        **documents: list[Document] | None,
    ) -> dict[str, Any]:
        r"""
        Merge the documents of several sources into one ranking.

        :param query: The question.
        :param filters: Haystack metadata filters, instead of those given at construction.
        :param top_k: How many documents to return, instead of the number given at construction.
        :param overrides: Other values for parameters of the constructor, by name, for this run.
        :param intent: What the question is after, from an `IntentRouter`.
        :param weights: Weights by source name, instead of those given at construction.
        :param documents: The documents that other components found, each list under the name of its input.
        :returns: `documents`, best first, with receipts under `meta["hopweave"]`.
        """

__all__ = [
    "ConfirmatoryJoiner",
    "PassthroughJoiner",
    "ReciprocalRankJoiner",
    "TrustWeightedJoiner",
    "WeightedJoiner",
]
