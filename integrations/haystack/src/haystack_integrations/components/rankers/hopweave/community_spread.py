"""Let every community of the graph be heard."""

from pathlib import Path

from haystack import component

from haystack_integrations.components.rankers.hopweave.stage_ranker import StageRanker
from hopweave.stages.diversify.community_spread import CommunitySpread

_CORE = CommunitySpread()


@component
class CommunitySpreadRanker(StageRanker):
    """
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
        multiplier: float = _CORE.multiplier,
        min_hits: int = _CORE.min_hits,
        field: str = _CORE.field,
        clamp: bool = _CORE.clamp,
        optional: bool = False,
        top_k: int | None = None,
        knowledge_base: str | Path | None = None,
    ) -> None:
        """
        Create the ranker.

        :param multiplier: Factor for the best document of each community.
        :param min_hits: With fewer documents than this nothing is changed.
        :param field: Metadata field that names the community.
        :param clamp: Whether to keep scores within [0, 1].
        :param optional: Go on with the documents as they were if this stage fails.
        :param top_k: How many documents to return, all of them when not given.
        :param knowledge_base: Path of a knowledge base file, for what the documents do not carry themselves.
        """
        stage = CommunitySpread(
            optional=optional,
            multiplier=multiplier,
            min_hits=min_hits,
            field=field,
            clamp=clamp,
        )
        StageRanker.__init__(self, stage, top_k=top_k, knowledge_base=knowledge_base)
