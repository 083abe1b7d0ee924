"""A cache of the rankings of sources, so that recipes that differ only in fusion or stages search once."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, Literal

from pydantic import ConfigDict, SkipValidation

from hopweave.component import Rankings, Source
from hopweave.hit import Hit
from hopweave.knowledge import Knowledge
from hopweave.knowledge_base.cache import QueryCache
from hopweave.query import Query
from hopweave.recipe import Recipe


class RankingCache:
    """The rankings of sources by query; `latest` has those of the most recent query by source name.

    `searches` counts the rankings that were not in the cache.
    """

    def __init__(self, max_rankings: int = 4096) -> None:
        self.rankings: QueryCache[list[Hit]] = QueryCache(seconds=math.inf, max_entries=max_rankings)
        self.latest: dict[str, Sequence[Hit]] = {}
        self.searches = 0


class _CachedSource(Source):
    """A source that returns cached rankings and otherwise searches."""

    model_config = ConfigDict(arbitrary_types_allowed=True)
    in_memory: ClassVar[bool] = True

    kind: Literal["cached"] = "cached"
    name: str
    source: SkipValidation[Source]
    settings: str
    cache: SkipValidation[RankingCache]

    @property
    def needs(self) -> tuple[str, ...]:
        return self.source.needs

    def search(self, query: Query, knowledge: Knowledge, upstream: Rankings | None = None) -> list[Hit]:
        key = self._key(query, knowledge, upstream or {})
        hits = self.cache.rankings.get(key)
        if hits is None:
            self.cache.searches += 1
            hits = self.source.model_copy(update={"top_k": self.top_k}).search(query, knowledge, upstream)
            self.cache.rankings.put(key, hits)
        self.cache.latest[self.name] = hits
        return hits

    def _key(self, query: Query, knowledge: Knowledge, upstream: Rankings) -> str:
        vector = None if query.vector is None else query.vector.tobytes()
        intent = query.intent
        if intent is not None and type(self.source).__module__.startswith("hopweave."):
            intent = replace(intent, weights={})  # which are for fusion: no source of ours reads them
        asked: tuple[Any, ...] = (query.text, vector, query.now, query.filters, query.tenant, intent)
        lengths = sorted((name, len(hits)) for name, hits in upstream.items())
        return repr((self.settings, self.top_k, knowledge.version, *asked, query.plan, lengths))


def with_cached_sources(recipe: Recipe, cache: RankingCache) -> Recipe:
    """The recipe with sources that use the cache; sources with equal parameters share their entries.

    >>> from hopweave.recipe import load_recipe
    >>> with_cached_sources(load_recipe("hybrid"), RankingCache()).sources["text"].top_k
    50
    """
    settings: dict[str, str] = {}
    for name in (name for level in recipe.levels for name in level):
        source = recipe.sources[name]
        settings[name] = repr((source, [settings[need] for need in source.needs]))
    sources = {
        name: _CachedSource(
            name=name,
            source=source,
            settings=settings[name],
            cache=cache,
            top_k=source.top_k,
            optional=source.optional,
            deadline_seconds=source.deadline_seconds,
        )
        for name, source in recipe.sources.items()
    }
    return recipe.model_copy(update={"sources": sources})
