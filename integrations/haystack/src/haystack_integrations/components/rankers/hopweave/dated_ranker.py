"""Rankers that go by the clock."""

from datetime import datetime
from typing import Any

from haystack import Document, component

from haystack_integrations.common.hopweave.questions import Skip
from haystack_integrations.components.rankers.hopweave.stage_ranker import StageRanker


class DatedRanker(StageRanker):
    """Base class of rankers with an input for the time at which the question is asked."""

    @component.output_types(documents=list[Document], failures=dict[str, str])
    def run(
        self,
        documents: list[Document],
        query: str = "",
        top_k: int | None = None,
        overrides: dict[str, Any] | None = None,
        skip: Skip = None,
        now: datetime | str | None = None,
    ) -> dict[str, Any]:
        """
        Rescore, reorder or drop documents.

        :param documents: What was retrieved, best first.
        :param query: The question.
        :param top_k: How many documents to return, instead of the number given at construction.
        :param overrides: Other values for parameters of the constructor, by name, for this run.
        :param skip: What to leave out for this run: rerank, graph, freshness, or the kind of a source or stage.
        :param now: The time at which the question is asked, the current one when not given.
        :returns: `documents`, as new objects, with receipts under `meta["hopweave"]`, and, if the stage failed and is
            optional or has something to fall back on, `failures` with the reason.
        """
        return self._rank(documents, query, top_k, overrides, skip=skip, now=now)

    @component.output_types(documents=list[Document], failures=dict[str, str])
    async def run_async(
        self,
        documents: list[Document],
        query: str = "",
        top_k: int | None = None,
        overrides: dict[str, Any] | None = None,
        skip: Skip = None,
        now: datetime | str | None = None,
    ) -> dict[str, Any]:
        """
        Rescore, reorder or drop documents without blocking the event loop.

        :param documents: What was retrieved, best first.
        :param query: The question.
        :param top_k: How many documents to return, instead of the number given at construction.
        :param overrides: Other values for parameters of the constructor, by name, for this run.
        :param skip: What to leave out for this run: rerank, graph, freshness, or the kind of a source or stage.
        :param now: The time at which the question is asked, the current one when not given.
        :returns: `documents`, as new objects, with receipts under `meta["hopweave"]`, and, if the stage failed and is
            optional or has something to fall back on, `failures` with the reason.
        """
        return await self._rank_async(documents, query, top_k, overrides, skip=skip, now=now)
