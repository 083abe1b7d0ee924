"""The documents of one source, unchanged."""

from collections.abc import Sequence
from typing import Any

from haystack import Document, component

from haystack_integrations.components.joiners.hopweave.fuser_joiner import FuserJoiner
from hopweave.fusion.passthrough import Passthrough

_CORE = Passthrough()


@component
class PassthroughJoiner(FuserJoiner):
    """
    The ranking of one source with its order and scores; other sources only provide rankings that it builds on.

    ```python
    from haystack import Document
    from haystack_integrations.components.joiners.hopweave import PassthroughJoiner

    joiner = PassthroughJoiner(sources=["text", "vector"], source="text")
    documents = joiner.run(text=[Document(id="skua", content="A ferry.", score=7.5)], vector=[])["documents"]
    ```
    """

    def __init__(self, *, sources: Sequence[str], source: str = _CORE.source, top_k: int | None = None) -> None:
        """
        Create the joiner.

        :param sources: The names of the inputs, one per source.
        :param source: Name of the source.
        :param top_k: How many documents to return, all of them when not given.
        """
        FuserJoiner.__init__(self, Passthrough(source=source), sources=sources, top_k=top_k)

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
        The documents of the chosen source.

        :param query: The question.
        :param filters: Haystack metadata filters, applied to these documents.
        :param top_k: How many documents to return, instead of the number given at construction.
        :param overrides: Other values for parameters of the constructor, by name, for this run.
        :param documents: The documents of each source under its name.
        :returns: `documents`, best first, with receipts under `meta["hopweave"]`.
        """
        return self._join(query, filters, top_k, overrides, documents)
