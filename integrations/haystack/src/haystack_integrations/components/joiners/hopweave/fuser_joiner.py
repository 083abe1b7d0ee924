"""What all joiners share: one named input per source, one fuser of the core, documents out."""

from collections.abc import Mapping
from typing import Any, ClassVar

from haystack import Document

from haystack_integrations.common.hopweave.derived import CoreComponent
from haystack_integrations.common.hopweave.documents import to_document, to_hit
from haystack_integrations.common.hopweave.inputs import FILTERS, NAMED_DOCUMENTS, OVERRIDES, QUERY_IF_ANY, TOP_K, Input
from haystack_integrations.common.hopweave.parameters import accept_documents, given_documents, overridden
from haystack_integrations.common.hopweave.questions import to_query
from haystack_integrations.common.hopweave.settings import OWN_TOP_K, SOURCES, Setting
from haystack_integrations.common.hopweave.tracing import tag
from hopweave.component import Fuser, of_tenant
from hopweave.scores import by_order, first


class FuserJoiner(CoreComponent):
    """
    Base class of joiners.

    A source has an input of its own name, so nothing depends on the order in which branches run or arrive. A branch
    that was skipped is simply absent.
    """

    inputs: ClassVar[tuple[Input, ...]] = (QUERY_IF_ANY, FILTERS, TOP_K, OVERRIDES, NAMED_DOCUMENTS)
    outputs: ClassVar[dict[str, Any]] = {"documents": list[Document]}

    settings: ClassVar[tuple[Setting, ...]] = (
        SOURCES,
        OWN_TOP_K,
    )

    fuser: Fuser
    sources: list[str]
    top_k: int | None

    def _hold(self, fuser: Fuser) -> None:
        """Create the joiner, with one input per source."""
        fuser.check_sources(self.sources)
        self.fuser = fuser
        accept_documents(self, "sources", self.sources)

    def _run(
        self,
        query: str,
        filters: dict[str, Any] | None,
        top_k: int | None,
        overrides: dict[str, Any] | None,
        documents: Mapping[str, list[Document] | None],
        intent: dict[str, Any] | None = None,
        **others: Any,
    ) -> dict[str, list[Document]]:
        """
        Merge the documents of several sources into one ranking.

        :returns: `documents`, best first, with receipts under `meta["hopweave"]`.
        """
        fuser = overridden(self.fuser, overrides, **others)
        fuser.check_sources(self.sources)
        found = given_documents("sources", self.sources, documents)
        question = to_query(query, filters=filters, intent=intent)
        lists = {source: of_tenant(list(map(to_hit, ranking)), question) for source, ranking in found.items()}
        rankings = {source: by_order(hits) for source, hits in lists.items()}
        admits = question.admits()
        fused = [hit for hit in fuser.fuse(rankings, question) if admits(hit)]
        hits = first(fused, self.top_k if top_k is None else top_k)
        tag(self.fuser.kind, hits, sources=",".join(rankings), **({"intent": intent["name"]} if intent else {}))
        return {"documents": [to_document(hit) for hit in hits]}
