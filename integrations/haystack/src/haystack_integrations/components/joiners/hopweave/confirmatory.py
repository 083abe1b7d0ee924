"""One source leads, the others confirm."""

from collections.abc import Sequence
from typing import Any

from haystack import Document, component

from haystack_integrations.components.joiners.hopweave.fuser_joiner import FuserJoiner
from hopweave.fusion.confirmatory import Confirmatory

_CORE = Confirmatory()


@component
class ConfirmatoryJoiner(FuserJoiner):
    """
    The base source's score counts; what others found as well gets a bonus, what only others found has a minimum score.

    base and confirmed: base · (1 + bonus). base only: base. confirmed only: max(confirming score, min_score), so that
    an exact keyword match is not buried. All are clamped to [0, 1].

    ```python
    from haystack import Document
    from haystack_integrations.components.joiners.hopweave import ConfirmatoryJoiner

    joiner = ConfirmatoryJoiner(sources=["vector", "text"])
    skua = Document(id="skua", content="A ferry.", score=0.8)
    documents = joiner.run(vector=[skua], text=[skua])["documents"]
    ```
    """

    def __init__(
        self,
        *,
        sources: Sequence[str],
        base: str = _CORE.base,
        confirming: Sequence[str] | None = _CORE.confirming,
        bonus: float = _CORE.bonus,
        min_score: float = _CORE.min_score,
        base_normalisation: str = _CORE.base_normalisation,
        confirming_normalisation: str = _CORE.confirming_normalisation,
        top_k: int | None = None,
    ) -> None:
        """
        Create the joiner.

        :param sources: The names of the inputs, one per source.
        :param base: Name of the source that gives the scores.
        :param confirming: Names of the sources that confirm; None means all but the base.
        :param bonus: Bonus for confirmation, as a share of the score.
        :param min_score: Minimum score of a document that only confirming sources found.
        :param base_normalisation: How base scores are scaled to [0, 1]; logits always become probabilities.
            One of min_max, max, sigmoid or none.
        :param confirming_normalisation: How the scores of each confirming source are scaled to [0, 1].
        :param top_k: How many documents to return, all of them when not given.
        """
        fuser = Confirmatory(
            base=base,
            confirming=confirming,
            bonus=bonus,
            min_score=min_score,
            base_normalisation=base_normalisation,
            confirming_normalisation=confirming_normalisation,
        )
        FuserJoiner.__init__(self, fuser, sources=sources, top_k=top_k)

    @component.output_types(documents=list[Document])
    def run(
        self,
        query: str = "",
        filters: dict[str, Any] | None = None,
        top_k: int | None = None,
        overrides: dict[str, Any] | None = None,
        **documents: list[Document] | None,
    ) -> dict[str, list[Document]]:
        """
        Merge the documents of several sources into one ranking.

        :param query: The question.
        :param filters: Haystack metadata filters, applied to what was merged.
        :param top_k: How many documents to return, instead of the number given at construction.
        :param overrides: Other values for parameters of the constructor, by name, for this run.
        :param documents: The documents of each source under its name.
        :returns: `documents`, best first, with receipts under `meta["hopweave"]`.
        """
        return self._join(query, filters, top_k, overrides, documents)
