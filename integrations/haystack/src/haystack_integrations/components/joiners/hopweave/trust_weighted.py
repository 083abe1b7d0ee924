"""A weighted sum of retrievers, with weights that follow how much each can be trusted for this question."""

from collections.abc import Sequence
from typing import Any

from haystack import Document, component

from haystack_integrations.components.joiners.hopweave.fuser_joiner import FuserJoiner
from hopweave.fusion.trust_weighted import TrustWeighted

_CORE = TrustWeighted()


@component
class TrustWeightedJoiner(FuserJoiner):
    """
    Score = sum over sources of weight · strength, where the weights follow the evidence of the rankings themselves.

    The trust in a ranking is above_chance^`exponent` · √contrast, where contrast = (first score - score at `depth`)
    / first score and above_chance says how far its best hit is above what chance gives; contrast² where retrievers
    of other packages do not state that. A source that states its own trust (`PageRankRetriever`, from how well the
    names in the question were linked) gets `max_stated_share` · trust of the whole; the others share the rest in
    proportion to their trust.

    ```python
    from haystack import Document
    from haystack_integrations.components.joiners.hopweave import TrustWeightedJoiner

    joiner = TrustWeightedJoiner(sources=["text", "vector"])
    skua = Document(id="skua", content="A ferry.", score=7.5)
    documents = joiner.run(text=[skua], vector=[Document(id="tern", content="A bird.", score=0.7)])["documents"]
    ```
    """

    def __init__(
        self,
        *,
        sources: Sequence[str],
        weights: dict[str, float] = _CORE.weights,
        depth: int = _CORE.depth,
        exponent: float = _CORE.exponent,
        max_stated_share: float = _CORE.max_stated_share,
        top_k: int | None = None,
    ) -> None:
        """
        Create the joiner.

        :param sources: The names of the inputs, one per source.
        :param weights: What the trust in a source is multiplied by, by source name; 1 if not given.
        :param depth: The rank whose score is compared with the first.
        :param exponent: How strongly it counts how far above chance a source is.
        :param max_stated_share: Weight of a source whose stated trust is 1.
        :param top_k: How many documents to return, all of them when not given.
        """
        fuser = TrustWeighted(weights=weights, depth=depth, exponent=exponent, max_stated_share=max_stated_share)
        FuserJoiner.__init__(self, fuser, sources=sources, top_k=top_k)

    @component.output_types(documents=list[Document])
    def run(
        self,
        query: str = "",
        filters: dict[str, Any] | None = None,
        top_k: int | None = None,
        weights: dict[str, float] | None = None,
        overrides: dict[str, Any] | None = None,
        **documents: list[Document] | None,
    ) -> dict[str, list[Document]]:
        """
        Merge the documents of several sources into one ranking.

        :param query: The question.
        :param filters: Haystack metadata filters, applied to what was merged.
        :param top_k: How many documents to return, instead of the number given at construction.
        :param weights: What the trust in a source is multiplied by, instead of what was given at construction.
        :param overrides: Other values for parameters of the constructor, by name, for this run.
        :param documents: The documents of each source under its name.
        :returns: `documents`, best first, with receipts under `meta["hopweave"]`.
        """
        return self._join(query, filters, top_k, overrides, documents, weights=weights)
