"""What all joiners share: one named input per source, one fuser of the core, documents out."""

from collections.abc import Sequence
from typing import Any, ClassVar

from haystack import Document, component

from haystack_integrations.common.hopweave.documents import to_document, to_hit
from haystack_integrations.common.hopweave.parameters import accept_overrides, split, written
from haystack_integrations.common.hopweave.questions import to_query
from haystack_integrations.common.hopweave.tracing import tag
from hopweave.component import Fuser
from hopweave.scores import first


class FuserJoiner:
    """
    The frame of a joiner; a component derives from it and adds its constructor.

    A source has an input of its own name, so nothing depends on the order in which branches run or arrive. A branch
    that was skipped is simply absent. Every parameter of the constructor can be given to `run` as well, and then holds
    for that run.
    """

    asks: ClassVar[tuple[str, ...]] = ()

    def __init__(self, fuser: Fuser, *, sources: Sequence[str], top_k: int | None = None) -> None:
        """
        Hold a fuser.

        :param fuser: The fuser of the core.
        :param sources: The names of the inputs.
        :param top_k: How many documents to return, all of them when not given.
        """
        first([], top_k)
        fuser.check_sources(sources)
        self.fuser = fuser
        self.sources = list(sources)
        self.top_k = top_k
        accept_overrides(self, type(fuser), self.asks)
        taken = [*type(fuser).model_fields, *self.asks, "query", "filters", "top_k"]
        if clashes := sorted(set(taken).intersection(sources)):
            raise ValueError(f"sources: {clashes[0]!r} is not allowed: it is the name of another input")
        for source in self.sources:
            component.set_input_type(self, source, list[Document] | None, None)

    def to_dict(self) -> dict[str, Any]:
        """
        The component as serialised data.

        :returns: Its type and the parameters of its constructor.
        """
        return written(self, self.fuser, sources=self.sources, top_k=self.top_k)

    @component.output_types(documents=list[Document])
    def run(
        self,
        query: str = "",
        filters: dict[str, Any] | None = None,
        top_k: int | None = None,
        **inputs: Any,
    ) -> dict[str, list[Document]]:
        """
        Merge the documents of several sources into one ranking.

        :param query: The question.
        :param filters: Haystack metadata filters, applied to what was merged.
        :param top_k: How many documents to return, instead of the number given at construction.
        :param inputs: The documents of each source under its name, and other values for parameters of the constructor.
        :returns: `documents`, best first, with receipts under `meta["hopweave"]`.
        """
        rankings = {
            source: [to_hit(one) for one in inputs[source]] for source in self.sources if inputs.get(source) is not None
        }
        given, overrides = split({name: value for name, value in inputs.items() if name not in self.sources})
        question = to_query(query, filters=filters, **given)
        admits = question.admits()
        fused = [hit for hit in self.fuser.changed(**overrides).fuse(rankings, question) if admits(hit)]
        hits = first(fused, self.top_k if top_k is None else top_k)
        tag(self.fuser.kind, hits, sources=",".join(rankings), **_intent_of(given))
        return {"documents": [to_document(hit) for hit in hits]}


def _intent_of(given: dict[str, Any]) -> dict[str, str]:
    return {"intent": given["intent"]["name"]} if "intent" in given else {}
