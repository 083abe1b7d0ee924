"""What was marked as important counts more."""

from haystack import component

from haystack_integrations.components.rankers.hopweave.stage_ranker import StageRanker
from hopweave.stages.adjust.importance import Importance

_CORE = Importance()


@component
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

    def __init__(
        self,
        *,
        floor: float = _CORE.floor,
        importance_field: str = _CORE.importance_field,
        optional: bool = False,
        top_k: int | None = None,
    ) -> None:
        """
        Create the ranker.

        :param floor: Factor for a document of importance 0.
        :param importance_field: Metadata field with the importance, from 0 to 1.
        :param optional: Go on with the documents as they were if this stage fails.
        :param top_k: How many documents to return, all of them when not given.
        """
        stage = Importance(
            optional=optional,
            floor=floor,
            importance_field=importance_field,
        )
        StageRanker.__init__(self, stage, top_k=top_k)
