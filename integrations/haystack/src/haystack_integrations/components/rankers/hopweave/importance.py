"""What was marked as important counts more."""

from haystack_integrations.common.hopweave.derived import derived
from haystack_integrations.components.rankers.hopweave.stage_ranker import StageRanker
from hopweave.stages.adjust.importance import Importance


@derived(Importance)
class ImportanceRanker(StageRanker):
    """
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
