"""Only documents of the right type, corpus, service or repository."""

from collections.abc import Mapping
from typing import Any

from haystack import Document
from haystack.utils.filters import document_matches_filter

from haystack_integrations.common.hopweave.derived import derived
from haystack_integrations.common.hopweave.documents import check_documents
from haystack_integrations.common.hopweave.settings import OWN_FILTERS
from haystack_integrations.components.rankers.hopweave.stage_ranker import StageRanker
from hopweave import Hit, KnowledgeBase, Query
from hopweave.component import Stage
from hopweave.stages.filter.metadata_filter import MetadataFilter


@derived(MetadataFilter)
class MetadataFilterRanker(StageRanker):
    """
    Keeps the documents whose metadata has one of the allowed values; scores and order stay.

    None allows everything, an empty list nothing. `filters` takes Haystack's filters, `where` those of recipes
    (`hopweave.metadata.filters`): values by field. All that is given must hold.

    ```python
    from haystack import Document
    from haystack_integrations.components.rankers.hopweave import MetadataFilterRanker

    ranker = MetadataFilterRanker(types=["notice"])
    documents = [Document(content="The Skua sails hourly.", score=0.8, meta={"type": "notice"})]
    result = ranker.run(documents=documents, query="Why is the ferry down?")["documents"]
    ```
    """

    settings = (OWN_FILTERS, *StageRanker.settings)

    filters: dict[str, Any] | None

    def _hold(self, stage: Stage) -> None:
        """Create the ranker."""
        _check_where(stage.model_dump().get("where"))
        StageRanker._hold(self, stage)

    def _hits(self, documents: list[Document]) -> list[Hit]:
        check_documents(documents)
        filters = self.filters
        admitted = [one for one in documents if not filters or document_matches_filter(filters, one)]
        return StageRanker._hits(self, admitted)

    def _prepare(
        self, query: str, top_k: int | None, overrides: dict[str, Any] | None, **question: Any
    ) -> tuple[Stage, Query, KnowledgeBase | None, int | None]:
        _check_where((overrides or {}).get("where"))
        return StageRanker._prepare(self, query, top_k, overrides, **question)


def _check_where(where: Any) -> None:
    if isinstance(where, Mapping) and "operator" in where and ("conditions" in where or "field" in where):
        raise ValueError(
            f"where: {where!r} is a Haystack filter, which goes into `filters`; `where` has values by field, as in "
            '{"type": "notice"}'
        )
