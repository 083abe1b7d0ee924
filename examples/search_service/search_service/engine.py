"""From a request to hits: the recipe, the stages that may fail, and the minimum."""

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import perf_counter
from typing import Any

from hopweave import Hit, Query, QueryCache, load_recipe, read_documents
from hopweave.component import Stage
from hopweave.scores import as_unit
from search_service.messages import Method, Part, SearchRequest
from search_service.operation.metrics import CHANGED, DOCUMENTS, FAILURES, VERSION, note_search
from search_service.settings import Place, Settings
from search_service.stores.cut import SOURCES
from search_service.stores.embedded import EmbeddedStore
from search_service.stores.store import Store

logger = logging.getLogger("search_service")
_OTHER_THREADS = 5  # that read a file at once: writes, uploads, compaction, health, metrics


class Unavailable(Exception):
    """There is no answer at the moment."""


@dataclass(slots=True)
class Found:
    """What a search came back with."""

    hits: list[Hit]
    method_used: Method
    intent: str | None
    timings: dict[str, float]
    weights: dict[str, float] | None = None
    confidence: float | None = None
    degraded: list[str] = field(default_factory=list)


def opened(name: str, place: Place, settings: Settings) -> Store:
    """The store that a place describes."""
    recipe = load_recipe(place.recipe or settings.recipe)
    if place.path is not None:
        return EmbeddedStore(place, recipe)
    from search_service.stores.external import ExternalStore  # which needs Haystack

    settings.state_folder.mkdir(parents=True, exist_ok=True)
    return ExternalStore(place, recipe, settings.state_folder / f"{name}.graph.db")


def index(settings: Settings) -> None:
    """Bring every knowledge base in step with its corpus; what has not changed is passed over."""
    for name, place in settings.places.items():
        store = opened(name, place, settings)
        try:
            if place.corpus is not None:
                _index(store, name, place.corpus)
            store.compact()  # so that workers share the memory of index images from the start
        finally:
            store.close()


def _index(store: Store, name: str, corpus: Path) -> None:
    done = store.put(list(read_documents(corpus)))
    fields = {"knowledge_base": name, "added": done.added, "updated": done.updated, "unchanged": done.unchanged}
    logger.info("indexed", extra={"fields": fields})


class Engine:
    """One knowledge base, the answers that it gave last, and the reranker."""

    def __init__(self, name: str, store: Store, rerank: Stage | None = None, cache_entries: int = 0) -> None:
        self.name = name
        self.store = store
        self._rerank = rerank
        self._last_rerank_failed = False
        self._cache_entries, self._cache = cache_entries, (0, QueryCache[Found]())
        for source in store.absent:
            logger.warning("source is absent", extra={"fields": {"knowledge_base": name, "source": source}})
        method = _used("hybrid", store.absent)
        for expand in (False, True):  # indexes and models are read when first asked for: not by a caller
            store.search(Query("warm up"), method, expand_graph=expand, top_k=1, stopped=bool)
        self._apply_rerank(Found([Hit("warm up", 1.0, "warm up")], "hybrid", None, {}), Query("warm up"))

    def search(
        self, request: SearchRequest, tenant: Mapping[str, Any] | None = None, stopped: Callable[[], bool] = bool
    ) -> Found:
        """What was found before, if nothing has changed since; else what a search finds now.

        `stopped` says whether nobody waits for it any more.
        """
        found = self._cached(request, tenant, stopped)
        note_search(found.timings)
        return found

    def _cached(self, request: SearchRequest, tenant: Mapping[str, Any] | None, stopped: Callable[[], bool]) -> Found:
        started = perf_counter()
        if not self._cache_entries:
            return self._search(request, tenant, stopped)
        cache = self._current_cache(self.store.version)
        key = f"{tenant} {request.model_dump_json()}"
        known = cache.get(key)
        if known is not None:
            return replace(known, timings={"cache": 1000 * (perf_counter() - started)}, degraded=[])
        found = self._search(request, tenant, stopped)
        if not found.degraded:
            cache.put(key, replace(found, timings={}, degraded=[]))
        return found

    def _current_cache(self, version: int) -> QueryCache[Found]:
        """The answers of this version; those of another are dropped, as nobody gets them any more."""
        if self._cache[0] != version:
            self._cache = (version, QueryCache[Found](max_entries=self._cache_entries))
        return self._cache[1]

    def _search(self, request: SearchRequest, tenant: Mapping[str, Any] | None, stopped: Callable[[], bool]) -> Found:
        """Run the recipe, rerank if that is set up, and drop what is too weak."""
        query = Query(request.query, filters=request.filters.as_hopweave(), tenant=tenant or None, skip=request.skip)
        fetched = request.limit if self._rerank is None else 2 * request.limit
        method = _used(request.method, self.store.absent)
        result = self.store.search(query, method, expand_graph=request.expand_graph, top_k=fetched, stopped=stopped)
        found = Found(
            list(result.hits),
            method,
            result.intent.name if result.intent else None,
            {step: 1000 * seconds for step, seconds in result.timings.items() if step != "total"},
            dict(result.intent.weights) if result.intent else None,
            result.confidence,
        )
        for name, reason in result.failures.items():
            logger.warning("source failed", extra={"fields": {"source": name, "reason": reason}})
            FAILURES.labels(self.name, name).inc()
            found.degraded.append(f"The source '{name}' did not answer and had no part in the result.")
        found.method_used = _used(method, result.failures)
        reranked = self._apply_rerank(found, query)
        weighed = found.hits if reranked else relevance(found.hits, found.confidence)
        found.hits = [hit for hit in weighed if (hit.score or 0.0) >= request.min_relevance_score][: request.limit]
        return found

    def measure(self) -> None:
        """Note how large the index is now, and how much of it has changed."""
        DOCUMENTS.labels(self.name).set(self.store.count())
        VERSION.labels(self.name).set(self.store.version)
        CHANGED.labels(self.name).set(self.store.changed_share())

    def health(self) -> dict[str, Part]:
        """The parts of the engine, one by one."""
        try:
            parts = self.store.health()
        except Exception:
            logger.exception("the knowledge base cannot be read")
            return {"knowledge_base": Part(status="failing", detail="It cannot be read.")}
        reranker = "off" if self._rerank is None else "degraded" if self._last_rerank_failed else "ok"
        return {**parts, "reranker": Part(status=reranker, detail=self._rerank.kind if self._rerank else "none")}

    def _apply_rerank(self, found: Found, query: Query) -> bool:
        """Whether the order is that of the reranker."""
        if self._rerank is None or self._rerank.skipped_by(query):
            return False
        started = perf_counter()
        try:
            found.hits = as_unit(self._rerank.apply(found.hits, query, self.store.knowledge), bounded=True)
            self._last_rerank_failed = False
        except Exception as error:  # the order without it is still an answer
            self._last_rerank_failed = True
            logger.warning("reranker failed", extra={"fields": {"reason": f"{type(error).__name__}: {error}"}})
            found.degraded.append("The reranker failed; the order is that of the search itself.")
        found.timings["rerank"] = 1000 * (perf_counter() - started)
        return not self._last_rerank_failed


def opened_engine(name: str, place: Place, settings: Settings) -> Engine:
    """An engine for the store that a place describes."""
    kept = settings.cache_entries if place.path else 0  # other programs may write to a store
    store = opened(name, place, settings)
    if isinstance(store, EmbeddedStore):
        store.open_connections(settings.threads + _OTHER_THREADS)
    return Engine(name, store, settings.rerank, kept)


def relevance(hits: Sequence[Hit], confidence: float | None) -> list[Hit]:
    """Scores that can be compared between questions: the share of the best hit's evidence, times the confidence.

    Confidence is the probability that the passages which answer the question are among the hits.
    """
    whole = 0.0 if confidence is None else confidence
    return [
        hit.rescored(whole * (hit.score or 0.0), "confidence", confidence=whole) for hit in as_unit(hits, bounded=True)
    ]


def _used(method: Method, without: Collection[str]) -> Method:
    """The method that is left of one without these sources."""
    left = [name for name in SOURCES[method] if name not in without]
    if not left:
        raise Unavailable
    return next(name for name, sources in SOURCES.items() if list(sources) == left)
