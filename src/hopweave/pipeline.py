"""Running a recipe: sources side by side, then fusion, then stages."""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path
from threading import Event
from time import perf_counter
from typing import Self

from hopweave.component import Source, Stage, Staged
from hopweave.concurrency.threads import bind_event_loop, run_in_thread
from hopweave.context.context_builder import Context, ContextBuilder
from hopweave.errors import Cancelled, GraphTimeout, MissingCapability, SourceFailed, TenantRequired, reason_of
from hopweave.graph.documents import graph_of
from hopweave.graph.link.linker import Linker
from hopweave.graph.paths.flow import Paths
from hopweave.graph.service_neighbourhood import Neighbourhoods
from hopweave.hit import Hit
from hopweave.knowledge import Capability, Knowledge, Unseen, require
from hopweave.knowledge_base.cache import QueryCache
from hopweave.notices import warn_once
from hopweave.query import Plan, Query
from hopweave.recipe import Recipe, check_skip, load_recipe
from hopweave.routing.gate import GateDecision
from hopweave.scores import count_of
from hopweave.search.outside import merged_by_place
from hopweave.search.result import Result
from hopweave.search.retrieval import (
    FilteredSearch,
    SourceOutcome,
    can_materialise_late,
    deeper,
    materialise,
    search,
    search_async,
)
from hopweave.stages.filter.confidence import READ, Confidence, confidence

__all__ = ["Pipeline", "Result"]

logger = logging.getLogger(__name__)

_numbers = count()  # distinguishes pipelines that share a cache


class Pipeline:
    """Runs a recipe on a knowledge base. Safe to share between threads.

    >>> from hopweave.document import Document
    >>> from hopweave.knowledge_base.store import KnowledgeBase
    >>> kb = KnowledgeBase.open()
    >>> _ = kb.add([Document("skua", "The Skua is a ferry."), Document("gate", "The tide gate opens at six.")])
    >>> result = Pipeline("hybrid", kb).run("When does the gate open?", top_k=1)
    >>> result.hits[0].id, result.plan.sources
    ('gate', ('text', 'vector', 'evidence'))
    >>> kb.close()
    """

    def __init__(
        self, recipe: str | Path | Recipe, knowledge: Knowledge, *, cache: QueryCache[Result] | None = None
    ) -> None:
        if not hasattr(knowledge, "capabilities"):
            raise TypeError(
                f"knowledge: must be an open knowledge base, such as KnowledgeBase.open('my.db'), but got {knowledge!r}"
            )
        self.recipe = load_recipe(recipe)
        self.recipe.check_one_knowledge_base()
        if cache is not None and Capability.ONE_VERSION not in knowledge.capabilities:
            raise MissingCapability(
                f"a cache of answers is not allowed with {type(knowledge).__name__}, as nothing says when its "
                "documents change; leave out cache or cache_seconds"
            )
        self.knowledge = knowledge
        self._cache = cache
        self._number = next(_numbers)

    def run(
        self, query: str | Query, *, top_k: int | None = None, cancelled: Callable[[], bool] | None = None
    ) -> Result:
        """Answer a question. `top_k` overrides that of the plan and of the recipe.

        `cancelled` is asked before each step; once it says True, `Cancelled` is raised instead of going on.
        """
        with self.knowledge.one_version():
            run = _Run(self, query, top_k, cancelled).prepared()
            if run.cached is not None:
                return run.cached
            run.find()
            for stage in run.stages:
                run.raise_if_cancelled()
                started = perf_counter()
                run.staged(stage.kind, stage.attempt(run.hits, run.query, self.knowledge), started)
            return run.result()

    async def run_async(self, query: str | Query, *, top_k: int | None = None) -> Result:
        """Answer a question without blocking the event loop; a task that is cancelled starts no further step."""
        stopped = Event()
        try:
            return await self._run_async(query, top_k, stopped)
        finally:
            stopped.set()  # for sources in threads, which nobody can interrupt

    async def _run_async(self, query: str | Query, top_k: int | None, stopped: Event) -> Result:
        with self.knowledge.one_version(), bind_event_loop():
            run = await run_in_thread(_Run(self, query, top_k, stopped.is_set).prepared)
            if run.cached is not None:
                return run.cached
            await run.find_async()
            for stage in run.stages:
                started = perf_counter()
                run.staged(stage.kind, await stage.attempt_async(run.hits, run.query, self.knowledge), started)
            return await run_in_thread(run.result)

    def find(self, query: str | Query, *, top_k: int | None = None, filtered: bool = True) -> Result:
        """Run sources and fuser and return all fused hits, without running any stage.

        Unless `filtered`, it also has those hits that the filters exclude but that may lead a walk to others.
        """
        with self.knowledge.one_version():
            run = _Run(self, query, top_k, step=f"found, filtered: {filtered}").prepared()
            if run.cached is None:
                run.find()
            return run.cached or run.kept(run.found(filtered))

    async def find_async(self, query: str | Query, *, top_k: int | None = None, filtered: bool = True) -> Result:
        """The same without blocking the event loop."""
        with self.knowledge.one_version(), bind_event_loop():
            run = await run_in_thread(_Run(self, query, top_k, step=f"found, filtered: {filtered}").prepared)
            if run.cached is None:
                await run.find_async()
            return run.cached or run.kept(run.found(filtered))

    def finish(self, query: str | Query, hits: Sequence[Hit]) -> Result:
        """The last step of `run` for hits that went through the stages elsewhere: paths, neighbourhood and context."""
        with self.knowledge.one_version():
            return _Run(self, query, None).prepared().finished(hits)

    def context(self, query: str | Query, hits: Sequence[Hit]) -> Context:
        """The cited context of hits, with paths between them if the recipe asks for them."""
        return self.finish(query, hits).context or ContextBuilder().build(hits)


class _Run:
    """The run of one question through a recipe: all steps, without asking sources side by side."""

    def __init__(
        self,
        pipeline: Pipeline,
        question: str | Query,
        top_k: int | None,
        cancelled: Callable[[], bool] | None = None,
        step: str = "result",
    ) -> None:
        self._started = perf_counter()
        self._cancelled, self._step = cancelled, step
        self.recipe, self.knowledge = pipeline.recipe, pipeline.knowledge
        self._cache, self._pipeline = pipeline._cache, pipeline._number
        self.query = question if isinstance(question, Query) else Query(question)
        self.knowledge.check_tenant(self.query.tenant)
        if self.query.tenant is not None:
            require(self.knowledge, Capability.TENANTS, "a query with a tenant")
        self._top_k = top_k if top_k is None else count_of("top_k", top_k)
        self.gate: GateDecision | None = None
        self.fused: list[Hit] = []
        self.hits: list[Hit] = []
        self.rankings: dict[str, Sequence[Hit]] = {}
        self._evidence: Confidence | None = None
        self._emptied_by: str | None = None
        self._timings: dict[str, float] = {}
        self._failures: dict[str, str] = {}
        self._missing: dict[str, int] = {}
        self._unseen = Unseen()

    def prepared(self) -> Self:
        """This run, ready to find: understood, planned and looked up in the cache, for which a server may be asked."""
        self._understand()
        self.top_k = self._top_k or self.plan.top_k or self.recipe.top_k
        self.levels = [
            planned for level in self.recipe.levels if (planned := [n for n in level if n in self.plan.sources])
        ]
        if self.gate is not None and not self.gate.retrieve:
            self.levels = []
        sources = [self.recipe.sources[name] for level in self.levels for name in level]
        self._late = self._needed() is not None and can_materialise_late(self.knowledge, sources)
        self.asked = replace(self.query, ids_only=self._late)
        self.filtered = FilteredSearch(self.asked, self.knowledge)
        self._key: str | None = None
        if self._cache is not None:  # only then is the version asked for, which may be that of a server
            self._key = self._cache.key(self.query, self._pipeline, self.knowledge.version, self.top_k, self._step)
        self.cached = self._cache.get(self._key) if self._cache is not None and self._key else None
        return self

    def _understand(self) -> None:
        """Gate, intent and plan: what the recipe makes of the question before it looks for anything."""
        recipe = self.recipe
        if recipe.gate:
            self.gate = recipe.gate.decide(self.query.text)
            self.query = replace(self.query, text=self.gate.text)
        if recipe.intent and self.query.intent is None:
            self.query = self.query.understood(intent=recipe.intent.classify(self.query.text))
        if recipe.plan and self.query.plan is None:
            planned = recipe.plan.plan(self.query, entities=self._entities(), sources=tuple(recipe.sources))
            self.query = self.query.understood(plan=planned)
        self.plan = self._without_skipped(self.query.plan or Plan(tuple(recipe.sources)))

    def _without_skipped(self, plan: Plan) -> Plan:
        """The plan without the sources that the question skips."""
        if not self.query.skip:
            return plan
        check_skip(self.query.skip)
        skipped = {name for name, source in self.recipe.sources.items() if source.skipped_by(self.query)}
        left = tuple(name for name in plan.sources if name not in skipped)
        left = tuple(name for name in left if self._finds_something(name, left))
        if not left:
            raise ValueError(f"skip: {', '.join(self.query.skip)} leaves no source of {', '.join(plan.sources)}")
        return replace(plan, sources=left, reason=f"{plan.reason}; skipped: {', '.join(self.query.skip)}")

    def _finds_something(self, name: str, left: Sequence[str]) -> bool:
        """Whether a source finds anything with those that are left."""
        source = self.recipe.sources[name]
        return not source.needs or source.without_upstream is not None or bool(set(source.needs) & set(left))

    def _entities(self) -> int:
        """Count the nodes of the graph that the question names."""
        if Capability.GRAPH not in self.knowledge.capabilities:
            return 0
        try:
            graph = graph_of(self.knowledge, "plan", self.query.tenant)
        except GraphTimeout:  # as if it named nothing
            return 0
        return len(Linker().link(self.query.text, graph).links)

    def find(self) -> None:
        """Ask the sources and fuse what they found."""
        for level in self.levels:
            self.collect(search(level, self))
        self.fuse()

    async def find_async(self) -> None:
        """The same without blocking the event loop."""
        for level in self.levels:
            self.collect(await search_async(level, self))
        self.fuse()

    def in_memory(self, level: Sequence[str]) -> list[str]:
        """Return the sources of a level that run one after the other, because threads would slow them down."""
        sources = self.recipe.sources
        return [name for name in level if sources[name].in_memory and sources[name].deadline_seconds is None]

    def source(self, name: str) -> Source:
        """The recipe's source, asked for enough hits."""
        source = self.recipe.sources[name]
        return deeper(source, self.recipe.depth(name, self.top_k))

    def upstream(self, name: str) -> dict[str, Sequence[Hit]]:
        """The rankings a source needs, as far as they could be had."""
        needed = [one for one in self.recipe.sources[name].needs if one in self.rankings]
        unseen = self._unseen.ids
        if not unseen:
            return {one: self.rankings[one] for one in needed}
        return {one: [hit for hit in self.rankings[one] if hit.id not in unseen] for one in needed}

    def collect(self, outcomes: Mapping[str, SourceOutcome]) -> None:
        """Take in what the sources of a level found."""
        for name, outcome in outcomes.items():
            self._timings[name] = self._timings.get(name, 0.0) + outcome.seconds
            if outcome.error is None:
                self.rankings[name] = outcome.hits
                self._unseen = Unseen(*(a | b for a, b in zip(self._unseen, outcome.unseen, strict=True)))
                self._missing |= {name: outcome.missing} if outcome.missing else {}
                outcome.log_missing(name)
                continue
            source = self.recipe.sources[name]
            if isinstance(outcome.error, TenantRequired):  # an answer without it would hide that nobody was named
                raise outcome.error
            if not source.optional:
                reason = f"{type(outcome.error).__name__}: {outcome.error}"
                said = f"{source.class_name}: {reason_of(outcome.error)}" if source.from_outside else reason
                raise SourceFailed(f"source {name!r} failed: {said}") from outcome.error
            logger.debug("optional source %r failed", name, exc_info=outcome.error)
            self._failures[name] = reason_of(outcome.error)

    def fuse(self) -> None:
        """Merge the rankings and drop what the filters exclude."""
        started = perf_counter()
        needed = None if self._unseen.ids else self._needed()
        self.fused = self.recipe.fuse.best(self.rankings, self.query, needed)
        if self._late:
            self.fused = materialise(self.fused, self.knowledge, self.query.tenant)
        self.hits = [hit for hit in self.fused if self.filtered.admits(hit)]
        if self._unseen.ids:
            self._keep_places()
        ranked = [hit for name in sorted(self.rankings) for hit in self.rankings[name]] if needed else None
        self._evidence = confidence(self.hits, self.query.text, ranked=ranked) if self.rankings else None
        self.took(self.recipe.fuse.kind, started)

    def _keep_places(self) -> None:
        """Let hits that the knowledge has not seen keep the place that the retrievers from outside gave them."""
        outside = {name: hits for name, hits in self.rankings.items() if self.recipe.sources[name].from_outside}
        own = self.recipe.fuse.best(outside, self.query)
        self.fused = merged_by_place(own, self.fused, self._unseen.ids)
        passing = [hit for hit in own if self.filtered.admits(hit)]
        self.hits = merged_by_place(passing, self.hits, self._unseen.ids)
        found = len({hit.id for hits in outside.values() for hit in hits})
        warn_once(
            self.knowledge,
            "unseen",
            "%d of %d documents that came from outside are not in the index, and %d are there with another text: they "
            "keep the place they came with; index what has changed",
            len(self._unseen.unknown),
            found,
            len(self._unseen.changed),
        )

    def _needed(self) -> int | None:
        """Return how many fused hits are needed; None if filters or stages choose among all."""
        chosen_later = self._step != "result" or self.stages or self.query.filters is not None
        return None if chosen_later or not self.recipe.fuse.keeps_all else max(self.top_k, READ)

    @property
    def stages(self) -> list[Stage]:
        """The stages of the recipe that the question does not skip."""
        return [stage for stage in self.recipe.stages if not stage.skipped_by(self.query)]

    def staged(self, stage: str, staged: Staged, started: float) -> None:
        """Go on with what a stage returned."""
        self._emptied_by = stage if self.hits and not staged.hits else self._emptied_by
        self.hits = staged.hits
        if staged.failure is not None:
            self._failures[stage] = staged.failure
        self.took(stage, started)

    def raise_if_cancelled(self) -> None:
        """Raise if nobody waits for the answer any more."""
        if self._cancelled is not None and self._cancelled():
            raise Cancelled("the search was cancelled")

    def took(self, step: str, started: float) -> None:
        """Note how long a step took; a step that comes twice is summed up."""
        self._timings[step] = self._timings.get(step, 0.0) + perf_counter() - started

    def found(self, filtered: bool) -> Result:
        """All hits found so far."""
        self.took("total", self._started)
        hits = tuple(self.hits if filtered else self.fused)
        known = (self.query, hits, self.plan, self._timings, self._failures, self.gate)
        return Result(
            *known, evidence=self._evidence, emptied_by=self._emptied_by, missing=self._missing, unseen=self._unseen
        )

    def result(self) -> Result:
        """Return the result of the run."""
        found = self.found(filtered=True)
        hits = found.hits[: self.top_k]
        paths, around = self._paths(hits), self._neighbourhood(hits)
        context = _context(self.recipe.context, hits, paths, around) if self.recipe.context else None
        return self.kept(replace(found, hits=hits, context=context, paths=paths, neighbourhood=around))

    def kept(self, result: Result) -> Result:
        """The result, which the cache keeps if there is one and nothing failed."""
        if self._cache is not None and self._key and not self._failures:
            self._cache.put(self._key, result)
        return result

    def finished(self, hits: Sequence[Hit]) -> Result:
        """The result of hits that went through the stages elsewhere."""
        paths, around = self._paths(hits), self._neighbourhood(hits)
        context = _context(self.recipe.context or ContextBuilder(), hits, paths, around)
        found = self.found(filtered=True)
        return replace(found, hits=tuple(hits), context=context, paths=paths, neighbourhood=around)

    def _paths(self, hits: Sequence[Hit]) -> Paths | None:
        """Paths between the hits, if the recipe asks for them and the plan does not think the question too simple."""
        planned = self.query.plan is None or self.query.plan.prune_paths
        paths = self.recipe.paths
        wanted = paths is not None and planned and not paths.skipped_by(self.query)
        return paths.paths(hits, self.knowledge, tenant=self.query.tenant) if paths and wanted else None

    def _neighbourhood(self, hits: Sequence[Hit]) -> Neighbourhoods | None:
        """The services around those of the hits, if the recipe asks for them."""
        neighbourhood = self.recipe.neighbourhood
        if neighbourhood is None or neighbourhood.skipped_by(self.query):
            return None
        around = neighbourhood.around(hits, self.knowledge, tenant=self.query.tenant)
        if around.missing is not None:
            self._failures[neighbourhood.kind] = around.missing
        return around


def _context(make: ContextBuilder, hits: Sequence[Hit], paths: Paths | None, around: Neighbourhoods | None) -> Context:
    return make.build(hits, [*(around.lines if around else ()), *(paths.lines if paths else ())])
