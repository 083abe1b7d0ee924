"""Long texts do not win by length alone."""

from haystack import component

from haystack_integrations.components.rankers.hopweave.stage_ranker import StageRanker
from hopweave.stages.adjust.length import Length

_CORE = Length()


@component
class LengthRanker(StageRanker):
    """
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
        self,
        *,
        anchor_characters: int = _CORE.anchor_characters,
        slope: float = _CORE.slope,
        optional: bool = False,
        top_k: int | None = None,
    ) -> None:
        """
        Create the ranker.

        :param anchor_characters: Length up to which scores are unchanged.
        :param slope: How much each doubling of the length adds to the divisor.
        :param optional: Go on with the documents as they were if this stage fails.
        :param top_k: How many documents to return, all of them when not given.
        """
        stage = Length(
            optional=optional,
            anchor_characters=anchor_characters,
            slope=slope,
        )
        StageRanker.__init__(self, stage, top_k=top_k)
