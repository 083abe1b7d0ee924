"""Only documents of the right type, corpus, service or repository."""

from collections.abc import Sequence
from typing import Any

from haystack import component

from haystack_integrations.components.rankers.hopweave.stage_ranker import StageRanker
from hopweave.stages.metadata_filter import MetadataFilter

_CORE = MetadataFilter()


@component
class MetadataFilterRanker(StageRanker):
    """
    Keeps the documents whose metadata has one of the allowed values; scores and order stay.

    None allows everything, an empty list nothing. `where` takes any filter of `hopweave.filters`. All that is given
    must hold.

    ```python
    from haystack import Document
    from haystack_integrations.components.rankers.hopweave import MetadataFilterRanker

    ranker = MetadataFilterRanker(types=["notice"])
    documents = [Document(content="The Skua sails hourly.", score=0.8, meta={"type": "notice"})]
    result = ranker.run(documents=documents, query="Why is the ferry down?")["documents"]
    ```
    """

    def __init__(
        self,
        *,
        types: Sequence[str] | None = _CORE.types,
        corpus_types: Sequence[str] | None = _CORE.corpus_types,
        services: Sequence[str] | None = _CORE.services,
        repos: Sequence[str] | None = _CORE.repos,
        where: dict[str, Any] = _CORE.where,
        top_k: int | None = None,
    ) -> None:
        """
        Create the ranker.

        :param types: Allowed values of `type`.
        :param corpus_types: Allowed values of `corpus_type`.
        :param services: Allowed values of `service_name`.
        :param repos: Allowed values of `repo_name`.
        :param where: Any other filter on metadata, by field.
        :param top_k: How many documents to return, all of them when not given.
        """
        stage = MetadataFilter(
            types=types,
            corpus_types=corpus_types,
            services=services,
            repos=repos,
            where=where,
        )
        StageRanker.__init__(self, stage, top_k=top_k)
