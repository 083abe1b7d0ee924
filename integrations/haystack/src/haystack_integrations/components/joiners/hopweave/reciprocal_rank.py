"""Reciprocal rank fusion: agreement between rankings, whatever their scores mean."""

from collections.abc import Sequence

from haystack import component

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
        :param k: Flattens the curve: a larger k makes the top ranks stand out less.
        :param weights: Weight by source name; 1 where not given.
        :param top_k: How many documents to return, all of them when not given.
        """
        FuserJoiner.__init__(self, ReciprocalRank(k=k, weights=weights), sources=sources, top_k=top_k)
