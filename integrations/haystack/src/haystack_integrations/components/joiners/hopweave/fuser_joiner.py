"""What all joiners share: one named input per source, one fuser of the core, documents out."""

from collections.abc import Mapping, Sequence
from typing import Any

from haystack import Document

from haystack_integrations.common.hopweave.documents import to_document, to_hit
from haystack_integrations.common.hopweave.parameters import (
    NamedParameters,
    accept_documents,
    check_names,
    given_documents,
    overridden,
    written,
)
from haystack_integrations.common.hopweave.questions import to_query
from haystack_integrations.common.hopweave.tracing import tag
from hopweave.component import Fuser
from hopweave.scores import first


class FuserJoiner(NamedParameters):
    """
    Base class of joiners; a component derives from it and adds its constructor, and `run` with its inputs.

    A source has an input of its own name, so nothing depends on the order in which branches run or arrive. A branch
    that was skipped is simply absent.
    """

    def __init__(self, fuser: Fuser, *, sources: Sequence[str], top_k: int | None = None) -> None:
        """
        Hold a fuser.

        :param fuser: The fuser of the core.
        :param sources: The names of the inputs.
        :param top_k: How many documents to return, all of them when not given.
        """
        first([], top_k)
        check_names("sources", sources)
        fuser.check_sources(sources)
        self.fuser = fuser
        self.sources = list(sources)
        self.top_k = top_k
        accept_documents(self, "sources", self.sources)

    def to_dict(self) -> dict[str, Any]:
        """
        The component as serialised data.

        :returns: Its type and the parameters of its constructor.
        """
        return written(self, self.fuser, sources=self.sources, top_k=self.top_k)

    def _join(
        self,
        query: str,
        filters: dict[str, Any] | None,
        top_k: int | None,
        overrides: dict[str, Any] | None,
        documents: Mapping[str, list[Document] | None],
        *,
        intent: dict[str, Any] | None = None,
        **others: Any,
    ) -> dict[str, list[Document]]:
        fuser = overridden(self.fuser, overrides, **others)
        fuser.check_sources(self.sources)
        found = given_documents("sources", self.sources, documents)
        rankings = {source: [to_hit(one) for one in ranking] for source, ranking in found.items()}
        question = to_query(query, filters=filters, intent=intent)
        admits = question.admits()
        fused = [hit for hit in fuser.fuse(rankings, question) if admits(hit)]
        hits = first(fused, self.top_k if top_k is None else top_k)
        tag(self.fuser.kind, hits, sources=",".join(rankings), **({"intent": intent["name"]} if intent else {}))
        return {"documents": [to_document(hit) for hit in hits]}
