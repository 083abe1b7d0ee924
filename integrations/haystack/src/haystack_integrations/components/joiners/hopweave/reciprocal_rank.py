"""Reciprocal rank fusion: agreement between rankings, whatever their scores mean."""

from haystack_integrations.common.hopweave.derived import derived
from haystack_integrations.common.hopweave.inputs import WEIGHTS
from haystack_integrations.components.joiners.hopweave.fuser_joiner import FuserJoiner
from hopweave.fusion.reciprocal_rank import ReciprocalRank


@derived(ReciprocalRank)
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

    inputs = (*FuserJoiner.inputs, WEIGHTS)
