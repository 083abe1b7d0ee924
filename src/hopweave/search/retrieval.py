"""Asking sources: side by side, each within its deadline, until enough of what they find counts.

Sources rank documents by their ids. If nothing looks at texts before the end, only the documents that are returned are
read (late materialisation).
"""

import asyncio
import logging
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from threading import Lock
from time import perf_counter
from typing import Any, Protocol

from hopweave.component import Fetched, Source
from hopweave.concurrency.threads import run_in_thread, start_in_thread
from hopweave.errors import KnowledgeBaseError, SourceTimeout
from hopweave.hit import Hit
from hopweave.knowledge import ALL_SEEN, Capability, Knowledge, Unseen, Within
from hopweave.metadata.tenants import in_tenant
from hopweave.query import Query
from hopweave.recipe import Recipe

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


class Run(Protocol):
    """What asking sources needs of a question on its way through a recipe."""

    recipe: Recipe
    asked: Query
    knowledge: Knowledge
    filtered: FilteredSearch

    def in_memory(self, level: Sequence[str]) -> list[str]:
        """Of a level, what runs one after the other."""

    def source(self, name: str) -> Source:
        """The recipe's source, asked for enough hits."""

    def upstream(self, name: str) -> Mapping[str, Sequence[Hit]]:
        """The rankings a source needs."""

    def raise_if_cancelled(self) -> None:
        """Raise if nobody waits for the answer any more."""


@dataclass(frozen=True, slots=True)
class SourceOutcome:
    """What one source came back with: hits, or the reason why not."""

    hits: Sequence[Hit] = ()
    seconds: float = 0.0
    error: Exception | None = None
    unseen: Unseen = ALL_SEEN

    @property
    def missing(self) -> int:
        """How many documents it ranked that the store of the documents does not have."""
        return missing_in(self.hits)

    def log_missing(self, name: str) -> None:
        """Log that documents are missing: a warning if all of them are, as then the ids may be others."""
        if self.missing and self.hits:
            logger.info("source %r: %d documents are not in their store and were left out", name, self.missing)
        elif self.missing:
            words = "source %r: none of the %d documents that it ranked is in their store; do both have the same ids?"
            logger.warning(words, name, self.missing)


def search(level: Sequence[str], run: Run) -> dict[str, SourceOutcome]:
    """What each source of a level finds, or why it does not."""
    started = perf_counter()
    here = run.in_memory(level) or [name for name in level if run.recipe.sources[name].deadline_seconds is None][-1:]
    beside = {name: start_in_thread(partial(_attempt, name, run)) for name in level if name not in here}
    outcomes = {name: _attempt(name, run) for name in here}
    for name, future in beside.items():
        deadline = run.recipe.sources[name].deadline_seconds
        try:
            outcomes[name] = future.result(None if deadline is None else max(started + deadline - perf_counter(), 0))
        except TimeoutError:
            outcomes[name] = _too_slow(deadline)
    return outcomes


class _Attempt:
    """What all attempts at a source share: it is asked for more while filters leave few of its hits, until it fails."""

    def __init__(self, name: str, run: Run) -> None:
        self.hits: Sequence[Hit] = ()
        self.error: Exception | None = None
        self._source, self._run = run.source(name), run
        self._started = perf_counter()

    def asks(self) -> Iterator[tuple[Source, Knowledge]]:
        """What to search; whoever does sets `hits`, or `error`. Faults of filters are raised at once."""
        asks = self._run.filtered.asks(self._source)
        try:
            ask = next(asks)
            while True:
                self._run.raise_if_cancelled()
                yield ask
                if self.error is not None:
                    return
                ask = asks.send(self.hits)
        except StopIteration as done:
            self.hits = done.value

    @property
    def may_be_unseen(self) -> bool:
        """Whether the knowledge has to be asked which of the hits it has seen."""
        return self._source.from_outside and self.error is None

    @property
    def outcome(self) -> SourceOutcome:
        """What came of it; whether an error matters is decided when the outcomes are collected."""
        hits = () if self.error else self.hits
        unseen = self._run.knowledge.unseen(hits) if self.may_be_unseen else ALL_SEEN
        return SourceOutcome(hits, perf_counter() - self._started, self.error, unseen)


def _attempt(name: str, run: Run) -> SourceOutcome:
    attempt = _Attempt(name, run)
    for source, knowledge in attempt.asks():
        try:
            attempt.hits = source.search(run.asked, knowledge, run.upstream(name))
        except Exception as error:
            attempt.error = error
    return attempt.outcome


async def _attempt_async(name: str, run: Run) -> SourceOutcome:
    attempt = _Attempt(name, run)
    for source, knowledge in attempt.asks():
        try:
            attempt.hits = await source.search_async(run.asked, knowledge, run.upstream(name))
        except Exception as error:
            attempt.error = error
    return await run_in_thread(lambda: attempt.outcome) if attempt.may_be_unseen else attempt.outcome


async def search_async(level: Sequence[str], run: Run) -> dict[str, SourceOutcome]:
    """The same without blocking the event loop."""

    async def one(name: str) -> SourceOutcome:
        deadline = run.recipe.sources[name].deadline_seconds
        work = asyncio.ensure_future(_attempt_async(name, run))
        try:
            done, _ = await asyncio.wait([work], timeout=deadline)
        finally:
            work.cancel()  # does nothing to work that is done
        return work.result() if done else _too_slow(deadline)

    async def in_memory(names: Sequence[str]) -> dict[str, SourceOutcome]:
        return await run_in_thread(lambda: {name: _attempt(name, run) for name in names})

    here = run.in_memory(level)
    beside = [name for name in level if name not in here]
    together = await asyncio.gather(*(one(name) for name in beside), *([in_memory(here)] if here else ()))
    outcomes = dict(zip(beside, together, strict=False))
    return outcomes | together[-1] if here else outcomes


def _too_slow(deadline: float | None) -> SourceOutcome:
    return SourceOutcome((), deadline or 0.0, SourceTimeout(f"no answer within {deadline or 0.0:g} s"))


def can_materialise_late(knowledge: Knowledge, sources: Iterable[Source]) -> bool:
    """Whether none of the sources reads what it ranks, and the knowledge still has the documents that were ranked."""
    return {Capability.ONE_VERSION, Capability.TENANTS} <= knowledge.capabilities and not any(
        source.reads_documents for source in sources
    )


def materialise(hits: Sequence[Hit], knowledge: Knowledge, tenant: Mapping[str, Any] | None) -> list[Hit]:
    """Hits with the texts and metadata of their documents.

    >>> from hopweave import Document, KnowledgeBase
    >>> with KnowledgeBase.open() as kb:
    ...     _ = kb.add([Document("skua", "The Skua is a ferry.")])
    ...     materialise([Hit("skua", 0.5)], kb, None)[0].text
    'The Skua is a ferry.'
    """
    documents = knowledge.get([hit.id for hit in hits], tenant=tenant)
    if lost := [hit.id for hit in hits if hit.id not in documents]:
        raise KnowledgeBaseError(f"document {lost[0]!r} was ranked and is not there; hopweave check tells more")
    return [hit._replace(text=documents[hit.id].text, metadata=documents[hit.id].metadata) for hit in hits]
