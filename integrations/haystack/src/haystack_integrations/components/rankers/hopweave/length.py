"""Long texts do not win by length alone."""

from haystack_integrations.common.hopweave.derived import derived
from haystack_integrations.components.rankers.hopweave.stage_ranker import StageRanker
from hopweave.stages.adjust.length import Length


@derived(Length)
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
