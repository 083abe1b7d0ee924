"""A weighted sum of signals, with weights that follow the intent of the question."""

from collections.abc import Mapping, Sequence
from typing import Any

from haystack import Document, component

from haystack_integrations.components.joiners.hopweave.fuser_joiner import FuserJoiner
from hopweave.fusion.weighted import Weighted

_CORE = Weighted()


@component
class WeightedJoiner(FuserJoiner):
    """
    Score = sum over signals of weight · strength, with each signal's strengths in [0, 1] over its own documents.

    Without `weights`, the four signals (embedding, text, graph, intent_edges) weigh what the question's intent says, or
    0.40, 0.45, 0.15 and 0 if there is none. The intent comes in through the input `intent`, from an `IntentRouter`.
    The weight of a signal that is missing is shared out over the others in proportion. Two sources of one signal count
    as the stronger of the two. A source that ran and did not find a document gives it strength 0.

    ```python
    from haystack import Document
    from haystack_integrations.components.joiners.hopweave import WeightedJoiner

    joiner = WeightedJoiner(sources=["text", "vector"], weights={"text": 0.4, "vector": 0.6})
    skua = Document(id="skua", content="A ferry.", score=7.5)
    documents = joiner.run(text=[skua], vector=[Document(id="tern", content="A bird.", score=0.7)])["documents"]
    ```
    """

    def __init__(
        self,
        *,
        sources: Sequence[str],
        weights: dict[str, float] | None = _CORE.weights,
        signals: Mapping[str, str] = _CORE.signals,
        normalisation: str = _CORE.normalisation,
        top_k: int | None = None,
    ) -> None:
        """
        Create the joiner.

        :param sources: The names of the inputs, one per source.
        :param weights: Weight by source name; None: by intent. They need not sum to 1.
        :param signals: Signal by source name, for sources without one of the usual names.
        :param normalisation: How the scores of each source are scaled to [0, 1]: min_max, max, sigmoid or
            none.
        :param top_k: How many documents to return, all of them when not given.
        """
        fuser = Weighted(weights=weights, signals=signals, normalisation=normalisation)
        FuserJoiner.__init__(self, fuser, sources=sources, top_k=top_k)

    @component.output_types(documents=list[Document])
    def run(
        self,
        query: str = "",
        filters: dict[str, Any] | None = None,
        top_k: int | None = None,
        intent: dict[str, Any] | None = None,
        weights: dict[str, float] | None = None,
        overrides: dict[str, Any] | None = None,
        **documents: list[Document] | None,
    ) -> dict[str, list[Document]]:
        """
        Merge the documents of several sources into one ranking.

        :param query: The question.
        :param filters: Haystack metadata filters, applied to what was merged.
        :param top_k: How many documents to return, instead of the number given at construction.
        :param intent: What the question is after, from an `IntentRouter`.
        :param weights: Weight by source name, instead of those given at construction.
        :param overrides: Other values for parameters of the constructor, by name, for this run.
        :param documents: The documents of each source under its name.
        :returns: `documents`, best first, with receipts under `meta["hopweave"]`.
        """
        return self._join(query, filters, top_k, overrides, documents, intent=intent, weights=weights)
