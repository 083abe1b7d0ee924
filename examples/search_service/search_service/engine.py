"""From a request to hits: the recipe, cut to the method asked for, and the stages that may fail."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any, get_args

from hopweave import Hit, KnowledgeBase, Pipeline, Query, QueryCache, Recipe, load_recipe, read_documents
from hopweave.fusion.passthrough import Passthrough
from hopweave.stages.filter.score_threshold import ScoreThreshold
from search_service.messages import Method, Part, SearchRequest
from search_service.settings import Settings

logger = logging.getLogger("search_service")

SOURCES: Mapping[Method, tuple[str, ...]] = {
    "keyword": ("text",),
    "vector": ("vector",),
    "hybrid": ("text", "vector"),
}
GRAPH = "graph"


class Unavailable(Exception):
    """There is no answer at the moment."""


@dataclass(slots=True)
class Found:
    """What a search came back with."""

    hits: list[Hit]
    method_used: Method
    intent: str | None
    timings: dict[str, float]
    degraded: list[str] = field(default_factory=list)


def index(settings: Settings) -> int:
    """Bring the knowledge base in step with the corpus; what has not changed is passed over. Says how many it holds."""
    settings.knowledge_base.parent.mkdir(parents=True, exist_ok=True)
    with KnowledgeBase.open(settings.knowledge_base) as kb:
        if settings.corpus is not None:
            done = kb.add(read_documents(settings.corpus))
            fields = {"added": done.added, "updated": done.updated, "unchanged": done.unchanged}
            logger.info("indexed", extra={"fields": fields})
        return kb.count()


class Engine:
    """A knowledge base, open for reading, and one pipeline for each way to search it."""

    def __init__(self, settings: Settings) -> None:
        self._kb = KnowledgeBase.open(settings.knowledge_base, read_only=True)
        self._rerank = settings.rerank
        self._last_rerank_failed = False
        recipe = load_recipe(settings.recipe)
        self._cache = QueryCache[Found](max_entries=settings.cache_entries) if settings.cache_entries else None
        self._pipelines = {
            (method, expand): Pipeline(cut(recipe, method, expand_graph=expand), self._kb)
            for method in get_args(Method)
            for expand in (False, True)
        }
        for pipeline in self._pipelines.values():
            pipeline.run("warm up", top_k=1)  # indexes and models are read when first asked for: not by a caller
        self._apply_rerank(Found([Hit("warm up", 1.0, "warm up")], "hybrid", None, {}), Query("warm up"))

    def close(self) -> None:
        """Close the file."""
        self._kb.close()

    def search(self, request: SearchRequest, stopped: Callable[[], bool] = bool) -> Found:
        """What was found before, if nothing has changed since; else what a search finds now.

        `stopped` says whether nobody waits for it any more.
        """
        started = perf_counter()
        if self._cache is None:
            return self._search(request, stopped)
        key = f"{self._kb.version} {request.model_dump_json()}"
        known = self._cache.get(key)
        if known is not None:
            return replace(known, timings={"cache": 1000 * (perf_counter() - started)}, degraded=[])
        found = self._search(request, stopped)
        if not found.degraded:
            self._cache.put(key, replace(found, timings={}, degraded=[]))
        return found

    def _search(self, request: SearchRequest, stopped: Callable[[], bool]) -> Found:
        """Run the recipe, rerank if that is set up, and drop what is too weak."""
        pipeline = self._pipelines[request.method, request.expand_graph]
        query = Query(request.query, filters=request.filters.as_hopweave())
        fetched = request.limit if self._rerank is None else 2 * request.limit
        result = pipeline.run(query, top_k=fetched, cancelled=stopped)
        found = Found(
            list(result.hits),
            request.method,
            result.query.intent.name if result.query.intent else None,
            {step: 1000 * seconds for step, seconds in result.timings.items() if step != "total"},
        )
        for name, reason in result.failures.items():
            logger.warning("source failed", extra={"fields": {"source": name, "reason": reason}})
            found.degraded.append(f"The source '{name}' did not answer and had no part in the result.")
        found.method_used = _used(request.method, result.failures)
        self._apply_rerank(found, query)
        weak = ScoreThreshold(min_score=request.min_relevance_score)
        found.hits = weak.apply(found.hits, query)[: request.limit]
        return found

    def health(self) -> dict[str, Part]:
        """The parts of the engine, one by one."""
        try:
            documents, version = self._kb.count(), self._kb.version
            edges = len(self._kb.graph.edge_types)
        except Exception:
            logger.exception("the knowledge base cannot be read")
            return {"knowledge_base": Part(status="failing", detail="It cannot be read.")}
        reranker = "off" if self._rerank is None else "degraded" if self._last_rerank_failed else "ok"
        embedder = self._kb.settings.embedder
        return {
            "knowledge_base": Part(status="ok", detail=f"{documents} documents, version {version}."),
            "vectors": Part(
                status="off" if embedder is None else "ok", detail="none" if embedder is None else embedder.model_name
            ),
            "graph": Part(status="ok" if edges else "off", detail=f"{self._kb.graph.size} nodes."),
            "reranker": Part(status=reranker, detail=self._rerank.kind if self._rerank else "none"),
        }

    def _apply_rerank(self, found: Found, query: Query) -> None:
        if self._rerank is None:
            return
        started = perf_counter()
        try:
            found.hits = self._rerank.apply(found.hits, query, self._kb)
            self._last_rerank_failed = False
        except Exception as error:  # the order without it is still an answer
            self._last_rerank_failed = True
            logger.warning("reranker failed", extra={"fields": {"reason": f"{type(error).__name__}: {error}"}})
            found.degraded.append("The reranker failed; the order is that of the search itself.")
        found.timings["rerank"] = 1000 * (perf_counter() - started)


def cut(recipe: Recipe, method: Method, *, expand_graph: bool) -> Recipe:
    """The part of a recipe that a method needs, without its minimum: each request brings its own."""
    names = SOURCES[method]
    missing = [name for name in (*names, GRAPH) if name not in recipe.sources]
    if missing:
        raise ValueError(f"recipe {recipe.name!r} has no source {missing[0]!r}; the service needs text, vector, graph")
    sources: dict[str, Any] = {name: recipe.sources[name] for name in names}
    fuse: Any = recipe.fuse if len(names) > 1 else Passthrough(source=names[0])
    if expand_graph:
        walk = recipe.sources[GRAPH]
        words = "text" if "text" in names else None
        sources[GRAPH] = walk.changed(seeds_from=names, word_source=words)
        fuse = recipe.fuse
    if hasattr(fuse, "weights") and fuse.weights:
        fuse = fuse.changed(weights={name: weight for name, weight in fuse.weights.items() if name in sources})
    return recipe.model_copy(
        update={
            "sources": sources,
            "fuse": fuse,
            "stages": tuple(stage for stage in recipe.stages if not isinstance(stage, ScoreThreshold)),
            "context": None,
        }
    )


def _used(method: Method, failures: Mapping[str, str]) -> Method:
    left = [name for name in SOURCES[method] if name not in failures]
    if not left:
        raise Unavailable
    return next(name for name, sources in SOURCES.items() if list(sources) == left)
