"""Searching a source until filters, and documents that are missing, leave enough of what it finds."""

import logging
from collections.abc import Generator, Mapping, Sequence
from threading import Lock
from typing import Any

from hopweave.component import Fetched, Source
from hopweave.hit import Hit
from hopweave.knowledge import Capability, Knowledge, Within
from hopweave.metadata.filters import in_tenant
from hopweave.query import Query

logger = logging.getLogger(__name__)

_OVER_FETCH = 3
_EVERY = 1_000_000  # hits, more than a walk reaches

Asks = Generator[tuple[Source, Knowledge], Sequence[Hit], Sequence[Hit]]
"""Yields a source and the knowledge to search with it, is sent the hits, and returns those of the source."""


def missing_in(hits: Sequence[Hit]) -> int:
    """How many documents a source has ranked that the knowledge does not have."""
    return hits.missing if isinstance(hits, Fetched) else 0


class FilteredSearch:
    """The filters of one question, for all sources that answer it. Malformed filters raise at once.

    A source hands on its first `top_k` hits, since a walk may start from one that may not be returned, and its first
    `top_k` hits that pass the filters, in the order in which it ranks them.
    """

    def __init__(self, query: Query, knowledge: Knowledge) -> None:
        self.admits = query.admits()
        self._query = query
        self._knowledge = knowledge
        self._within: Within | None = None
        self._finding = Lock()

    def asks(self, source: Source) -> Asks:
        """What to ask a source for, one search after the other, until it has no more or enough of its hits count.

        Documents that the knowledge does not have do not count, nor do hits that do not pass the filters. If three
        times as many hits hold too few that pass, knowledge with the capability `filters` is asked for those that pass
        only; a source whose scores depend on other documents is asked for more until it has no more. Of documents in a
        store of somebody else, which is handed the filters, it is asked at once for all that it ranks.
        """
        first, wanted = source, source.top_k
        hits = yield source, self._knowledge
        if self._wants_more(source, hits, wanted) and (filtered := self._knowledge_of_passing(wanted)) is not None:
            every = yield deeper(source, _EVERY), filtered
            return self._filled(hits, every, wanted)
        while self._wants_more(source, hits, wanted):
            if source is not first and self._knows_what_passes:
                within = self._documents()
                if within.size <= len(self._passing(hits)):  # there are no others
                    break
                if source.pointwise:
                    passing = yield first, within.knowledge
                    return Fetched(_with_passing(hits[:wanted], passing), missing=missing_in(hits))
            source = deeper(source, source.top_k * _OVER_FETCH)
            hits = yield source, self._knowledge
        if source is first:
            return hits
        kept = {*range(min(wanted, len(hits))), *self._passing(hits)[:wanted]}
        return Fetched([hits[place] for place in sorted(kept)], missing=missing_in(hits))

    def _knowledge_of_passing(self, count: int) -> Knowledge | None:
        """Knowledge of only the documents that pass the filters; None if there are no filters, or by other means."""
        filters, tenant = self._query.filters, self._query.tenant
        if filters is None or self._knows_what_passes:
            return None
        return self._knowledge.passing(filters, lambda hit: self.admits(hit) and in_tenant(hit.metadata, tenant), count)

    def _filled(self, hits: Sequence[Hit], every: Sequence[Hit], wanted: int) -> Fetched:
        """The first hits of a source, and behind them those that pass.

        If it has ranked fewer that pass than it was asked for, receipts say how many were `passing`.
        """
        leading = hits[:wanted]
        known, passed = {hit.id for hit in leading}, len(self._passing(leading))
        further = [hit for hit in every if hit.id not in known and self.admits(hit)][: wanted - passed]
        passed += len(further)
        said = {"passing": passed} if passed < wanted else {}
        if said:
            logger.info("%d of %d documents that pass the filters were found, and no others ranked", passed, wanted)
        return Fetched([_with_details(hit, said) for hit in (*leading, *further)], missing=missing_in(hits))

    @property
    def _knows_what_passes(self) -> bool:
        return self._query.filters is not None and Capability.FILTERS in self._knowledge.capabilities

    def _wants_more(self, source: Source, hits: Sequence[Hit], wanted: int) -> bool:
        missing = missing_in(hits)
        if not source.can_fetch_more or len(hits) + missing < source.top_k:
            return False
        return (self._query.filters is not None or missing > 0) and len(self._passing(hits)) < wanted

    def _passing(self, hits: Sequence[Hit]) -> list[int]:
        return [place for place, hit in enumerate(hits) if self.admits(hit)]

    def _documents(self) -> Within:
        with self._finding:  # one source finds out for all
            if self._within is None and self._query.filters is not None:
                self._within = self._knowledge.within(self._query.filters, tenant=self._query.tenant)
        return self._within or Within(0, self._knowledge)


def deeper(source: Source, top_k: int) -> Source:
    """The source, asked for at least so many hits."""
    return source if source.top_k >= top_k else source.model_copy(update={"top_k": top_k})


def _with_details(hit: Hit, said: Mapping[str, Any]) -> Hit:
    if not said or not hit.receipts:
        return hit
    *before, receipt = hit.receipts
    return hit._replace(receipts=(*before, receipt._replace(details={**receipt.details, **said})))


def _with_passing(leading: Sequence[Hit], passing: Sequence[Hit]) -> list[Hit]:
    """The first hits of a source, and behind them the hits that pass and are not among them."""
    if not leading:  # all were missing
        return list(passing)
    known = {hit.id for hit in leading}
    of_all = leading[0].receipts[-1].details  # what a source says of its whole ranking belongs to that of all documents
    hits = list(leading)
    for hit in passing:
        if hit.id not in known:
            *before, receipt = hit.receipts
            said = {name: of_all.get(name, value) for name, value in receipt.details.items()}
            ranked = receipt._replace(details={**said, "rank": len(hits) + 1})
            hits.append(hit._replace(receipts=(*before, ranked)))
    return hits
