"""Federated search: several knowledge bases searched as one."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Any

from hopweave.concurrency.threads import bind_event_loop, run_in_thread
from hopweave.errors import HopweaveError, RecipeError
from hopweave.graph.model import Node
from hopweave.graph.paths.flow import Paths
from hopweave.graph.service_neighbourhood import Neighbourhoods
from hopweave.hit import Hit
from hopweave.knowledge import Knowledge
from hopweave.knowledge_base.cache import QueryCache
from hopweave.pipeline import Pipeline
from hopweave.query import Plan, Query
from hopweave.recipe import KNOWLEDGE_BASE_NAME, Recipe, load_recipe
from hopweave.search.result import Result


class FederatedPipeline:
    """A recipe at work on several knowledge bases, by name. Safe to share between threads.

    The recipe runs on each knowledge base by itself: routing, sources, fuser and stages, with the filters and the
    tenant of the question. `fuse_knowledge_bases` of the recipe then makes one ranking; its weights go by the name of
    the knowledge base. The rankings have no hit in common, so with `reciprocal_rank` they alternate; a small k shares
    the places out by weight, whereas k = 60 puts one of weight 2 before all others. Paths, neighbourhood and context
    are those of the hits that are left. If the search of one knowledge base fails, all fails, with an error that
    names it.

    The id of a hit is `name/id`, so that documents with the same id in two knowledge bases stay two hits. Its receipt
    `knowledge_base` has the name, the id there, and the score there. Timings and failures also begin with the name.
    Filters that are functions see hits under the ids that are returned.
    Confidence is that of the knowledge base with the highest one.

    `knowledge_bases` of the recipe names those to search; if it names none, all that are given are searched.

    >>> from hopweave.document import Document
    >>> from hopweave.fusion import ReciprocalRank
    >>> from hopweave.knowledge_base.store import KnowledgeBase
    >>> with KnowledgeBase.open() as handbook, KnowledgeBase.open() as tickets:
    ...     _ = handbook.add([Document("1", "The tide gate opens at six.")])
    ...     _ = tickets.add([Document("1", "The tide gate is stuck.")])
    ...     recipe = load_recipe("hybrid").model_copy(
    ...         update={"fuse_knowledge_bases": ReciprocalRank(k=1, weights={"tickets": 2})}
    ...     )
    ...     result = FederatedPipeline(recipe, {"handbook": handbook, "tickets": tickets}).run("tide gate")
    >>> [hit.id for hit in result.hits]
    ['tickets/1', 'handbook/1']
    >>> next(one.details for one in result.hits[0].receipts if one.stage == "knowledge_base")
    {'name': 'tickets', 'id': '1'}
    """

    def __init__(
        self,
        recipe: str | Path | Recipe,
        knowledge_bases: Mapping[str, Knowledge],
        *,
        cache: QueryCache[Result] | None = None,
    ) -> None:
        self.recipe = load_recipe(recipe)
        check_knowledge_bases(knowledge_bases)
        names = self.recipe.knowledge_bases or tuple(knowledge_bases)
        for name in names:
            if name not in knowledge_bases:
                given = ", ".join(knowledge_bases)
                raise RecipeError(f"recipe {self.recipe.name!r}: knowledge base {name!r} is missing; given are {given}")
        self.recipe.fuse_knowledge_bases.check_sources(names)
        self.knowledge_bases = {name: knowledge_bases[name] for name in names}
        alone = self.recipe.model_copy(update={"knowledge_bases": ()})
        found = alone.model_copy(update={"paths": None, "neighbourhood": None, "context": None})
        self._pipelines = {name: Pipeline(found, one, cache=cache) for name, one in self.knowledge_bases.items()}
        self._finishing = {name: Pipeline(alone, one) for name, one in self.knowledge_bases.items()}

    def run(
        self, query: str | Query, *, top_k: int | None = None, cancelled: Callable[[], bool] | None = None
    ) -> Result:
        """Answer a question as `Pipeline.run` does."""
        asked = _asked(query)
        with self._one_version():
            started = perf_counter()
            found = self._each(asked, lambda one, query: one.run(query, top_k=top_k, cancelled=cancelled))
            return self._finished(asked, self._fused(asked, found, started), top_k)

    async def run_async(self, query: str | Query, *, top_k: int | None = None) -> Result:
        """Answer a question without blocking the event loop; the knowledge bases are searched side by side."""
        asked = _asked(query)
        with self._one_version(), bind_event_loop():
            started = perf_counter()
            found = await self._each_async(asked, lambda one, query: one.run_async(query, top_k=top_k))
            return await run_in_thread(lambda: self._finished(asked, self._fused(asked, found, started), top_k))

    def find(self, query: str | Query, *, top_k: int | None = None, filtered: bool = True) -> Result:
        """What sources and fusers find, all of it, before any stage, as `Pipeline.find` does."""
        asked = _asked(query)
        with self._one_version():
            started = perf_counter()
            found = self._each(asked, lambda one, query: one.find(query, top_k=top_k, filtered=filtered))
            return self._fused(asked, found, started)

    async def find_async(self, query: str | Query, *, top_k: int | None = None, filtered: bool = True) -> Result:
        """The same without blocking the event loop."""
        asked = _asked(query)
        with self._one_version(), bind_event_loop():
            started = perf_counter()
            found = await self._each_async(
                asked, lambda one, query: one.find_async(query, top_k=top_k, filtered=filtered)
            )
            return self._fused(asked, found, started)

    @contextmanager
    def _one_version(self) -> Iterator[None]:
        with ExitStack() as stack:
            for knowledge in self.knowledge_bases.values():
                stack.enter_context(knowledge.one_version())
            yield

    def _each(self, asked: Query, search: Callable[[Pipeline, Query], Result]) -> dict[str, Result]:
        found = {}
        for name, pipeline in self._pipelines.items():
            with _errors_of(name):
                found[name] = search(pipeline, _asked_of(name, asked))
        return found

    async def _each_async(
        self, asked: Query, search: Callable[[Pipeline, Query], Awaitable[Result]]
    ) -> dict[str, Result]:
        async def one(name: str) -> Result:
            with _errors_of(name):
                return await search(self._pipelines[name], _asked_of(name, asked))

        # all are awaited, as what they read is let go of afterwards
        outcomes = await asyncio.gather(*map(one, self._pipelines), return_exceptions=True)
        for outcome in outcomes:
            if isinstance(outcome, BaseException):
                raise outcome
        return {name: one for name, one in zip(self._pipelines, outcomes, strict=True) if isinstance(one, Result)}

    def _fused(self, asked: Query, found: Mapping[str, Result], started: float) -> Result:
        """The results of all as one, uncut."""
        first, plan = next(iter(found.values())), _plan(found)
        query = replace(first.query, filters=asked.filters)
        fusing, fuser = perf_counter(), self.recipe.fuse_knowledge_bases
        hits = fuser.fuse({name: [_named(name, hit) for hit in one.hits] for name, one in found.items()}, query)
        ended = perf_counter()
        known = [one.evidence for one in found.values() if one.evidence is not None]
        return Result(
            query if query.plan is None else replace(query, plan=plan),
            tuple(hits),
            plan,
            {**_by_name(found, "timings"), "fuse_knowledge_bases": ended - fusing, "total": ended - started},
            _by_name(found, "failures"),
            first.gate,
            evidence=max(known, key=lambda one: one.probability, default=None),
            emptied_by=None if hits else next((one.emptied_by for one in found.values() if one.emptied_by), None),
            missing=_by_name(found, "missing"),
        )

    def _finished(self, asked: Query, found: Result, top_k: int | None) -> Result:
        """The best hits, with paths, neighbourhood and context if the recipe asks for them."""
        hits = found.hits[: top_k or found.plan.top_k or self.recipe.top_k]
        found = replace(found, hits=hits)
        if self.recipe.paths is None and self.recipe.neighbourhood is None and self.recipe.context is None:
            return found
        results = {}
        for name, own in _by_knowledge_base(hits).items():
            with _errors_of(name):
                results[name] = self._finishing[name].finish(asked, own)
        paths, around = _paths(results), _neighbourhood(results)
        lines = [*(around.lines if around else ()), *(paths.lines if paths else ())]
        context = self.recipe.context
        return replace(
            found,
            failures={**found.failures, **_by_name(results, "failures")},
            paths=paths,
            neighbourhood=around,
            context=None if context is None else context.build(hits, lines),
        )


def check_knowledge_bases(given: Mapping[str, Any]) -> None:
    """Raise unless there are knowledge bases by names that can begin an id.

    >>> check_knowledge_bases({"notes/2026": "notes.db"})
    Traceback (most recent call last):
        ...
    ValueError: knowledge_bases: the name 'notes/2026' is not allowed; allowed are letters, digits, _, . and -
    """
    if not isinstance(given, Mapping) or not given:
        raise ValueError(f"knowledge_bases: must be at least one knowledge base by name, but got {given!r}")
    for name in given:
        if not isinstance(name, str) or not re.fullmatch(KNOWLEDGE_BASE_NAME, name):
            raise ValueError(
                f"knowledge_bases: the name {name!r} is not allowed; allowed are letters, digits, _, . and -"
            )


def _asked(query: str | Query) -> Query:
    return query if isinstance(query, Query) else Query(query)


@contextmanager
def _errors_of(name: str) -> Iterator[None]:
    """Name the knowledge base in errors."""
    try:
        yield
    except HopweaveError as error:
        raise type(error)(f"knowledge base {name!r}: {error}") from error


def _asked_of(name: str, asked: Query) -> Query:
    """The question for one knowledge base: filters that are a function see hits under the ids that are returned."""
    filters = asked.filters
    if not callable(filters):
        return asked
    return replace(asked, filters=lambda hit: filters(hit._replace(id=f"{name}/{hit.id}")))


def _named(name: str, hit: Hit) -> Hit:
    said = hit.rescored(hit.score, "knowledge_base", name=name, id=hit.id)
    return said._replace(id=f"{name}/{hit.id}")


def _by_knowledge_base(hits: Sequence[Hit]) -> dict[str, list[Hit]]:
    """Hits under their own ids, by the knowledge base that they come from."""
    own: dict[str, list[Hit]] = {}
    for hit in hits:
        name, _, key = hit.id.partition("/")
        own.setdefault(name, []).append(hit._replace(id=key))
    return own


def _by_name(found: Mapping[str, Result], attribute: str) -> dict[str, Any]:
    return {f"{name}/{key}": value for name, one in found.items() for key, value in getattr(one, attribute).items()}


def _plan(found: Mapping[str, Result]) -> Plan:
    first, *others = (one.plan for one in found.values())
    if all(one == first for one in others):
        return first
    return replace(
        first,
        sources=tuple(dict.fromkeys(source for one in found.values() for source in one.plan.sources)),
        top_k=max((one.plan.top_k or 0 for one in found.values()), default=0) or None,
        prune_paths=any(one.plan.prune_paths for one in found.values()),
        reason="; ".join(f"{name}: {one.plan.reason}" for name, one in found.items()),
    )


def _paths(found: Mapping[str, Result]) -> Paths | None:
    """The paths of all, the most reliable first."""
    known = {name: one.paths for name, one in found.items() if one.paths is not None}
    paths = [
        replace(path, nodes=tuple(_node(name, node) for node in path.nodes))
        for name, one in known.items()
        for path in one.paths
    ]
    finished = all(one.finished for one in known.values())
    return Paths(tuple(sorted(paths, key=lambda path: -path.reliability)), finished) if known else None


def _node(name: str, node: Node) -> Node:
    return node if node.document_id is None else replace(node, document_id=f"{name}/{node.document_id}")


def _neighbourhood(found: Mapping[str, Result]) -> Neighbourhoods | None:
    known = {name: one.neighbourhood for name, one in found.items() if one.neighbourhood is not None}
    services = {f"{name}/{service}": around for name, one in known.items() for service, around in one.by_name.items()}
    missing = [f"{name}: {one.missing}" for name, one in known.items() if one.missing is not None]
    return Neighbourhoods(services, "; ".join(missing) or None) if known else None
