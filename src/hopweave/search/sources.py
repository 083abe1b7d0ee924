"""Asking the sources of a level: side by side, each within its deadline."""

import asyncio
import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import Protocol

from hopweave.component import Source
from hopweave.concurrency.threads import run_in_thread, start_in_thread
from hopweave.errors import SourceTimeout
from hopweave.hit import Hit
from hopweave.knowledge import Knowledge
from hopweave.query import Query
from hopweave.recipe import Recipe
from hopweave.search.filtered_search import FilteredSearch, missing_in

logger = logging.getLogger(__name__)


class Run(Protocol):
    """What asking sources needs of a question on its way through a recipe."""

    recipe: Recipe
    query: Query
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
    def outcome(self) -> SourceOutcome:
        """What came of it; whether an error matters is decided when the outcomes are collected."""
        return SourceOutcome(() if self.error else self.hits, perf_counter() - self._started, self.error)


def _attempt(name: str, run: Run) -> SourceOutcome:
    attempt = _Attempt(name, run)
    for source, knowledge in attempt.asks():
        try:
            attempt.hits = source.search(run.query, knowledge, run.upstream(name))
        except Exception as error:
            attempt.error = error
    return attempt.outcome


async def _attempt_async(name: str, run: Run) -> SourceOutcome:
    attempt = _Attempt(name, run)
    for source, knowledge in attempt.asks():
        try:
            attempt.hits = await source.search_async(run.query, knowledge, run.upstream(name))
        except Exception as error:
            attempt.error = error
    return attempt.outcome


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
