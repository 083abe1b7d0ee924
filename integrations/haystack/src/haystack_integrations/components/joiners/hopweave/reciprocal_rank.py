"""Reciprocal rank fusion: agreement between rankings, whatever their scores mean."""

from collections.abc import Sequence
from typing import Any

from haystack import Document, component

from haystack_integrations.components.joiners.hopweave.fuser_joiner import FuserJoiner
from hopweave.fusion.reciprocal_rank import ReciprocalRank

_CORE = ReciprocalRank()


@component
class ReciprocalRankJoiner(FuserJoiner):
    """
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
        self,
        *,
        sources: Sequence[str],
        k: float = _CORE.k,
        weights: dict[str, float] = _CORE.weights,
        top_k: int | None = None,
    ) -> None:
        """
        Create the joiner.

        :param sources: The names of the inputs, one per source.
        :param k: Rank constant: a larger k reduces the difference between top ranks.
        :param weights: Weight by source name; 1 by default.
        :param top_k: How many documents to return, all of them when not given.
        """
        FuserJoiner.__init__(self, ReciprocalRank(k=k, weights=weights), sources=sources, top_k=top_k)

    @component.output_types(documents=list[Document])
    def run(
        self,
        query: str = "",
        filters: dict[str, Any] | None = None,
        top_k: int | None = None,
        weights: dict[str, float] | None = None,
        overrides: dict[str, Any] | None = None,
        **documents: list[Document] | None,
    ) -> dict[str, list[Document]]:
        """
        Merge the documents of several sources into one ranking.

        :param query: The question.
        :param filters: Haystack metadata filters, applied to what was merged.
        :param top_k: How many documents to return, instead of the number given at construction.
        :param weights: Weight by source name, instead of those given at construction.
        :param overrides: Other values for parameters of the constructor, by name, for this run.
        :param documents: The documents of each source under its name.
        :returns: `documents`, best first, with receipts under `meta["hopweave"]`.
        """
        return self._join(query, filters, top_k, overrides, documents, weights=weights)
