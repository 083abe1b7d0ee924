"""Rankings that are kept, so that a recipe which differs only in fusion or stages need not search again."""

import math
from collections.abc import Sequence
from typing import Any, ClassVar, Literal

from pydantic import ConfigDict, SkipValidation

from hopweave.component import Knowledge, Rankings, Source
from hopweave.hit import Hit
from hopweave.knowledge_base.cache import QueryCache
from hopweave.query import Query
from hopweave.recipe import Recipe


class Memory:
    """What sources found: the rankings of the last questions, and by name those of the very last one."""

    def __init__(self, most_rankings: int = 4096) -> None:
        self.kept: QueryCache[list[Hit]] = QueryCache(seconds=math.inf, most_entries=most_rankings)
        self.latest: dict[str, Sequence[Hit]] = {}
        self.searches = 0


class _Remembered(Source):
    """A source that answers from memory what it was asked before."""

    model_config = ConfigDict(arbitrary_types_allowed=True)
    in_memory: ClassVar[bool] = True

    kind: Literal["remembered"] = "remembered"
    name: str
    source: SkipValidation[Source]
    settings: str
    memory: SkipValidation[Memory]

    @property
    def needs(self) -> tuple[str, ...]:
        return self.source.needs

    def search(self, query: Query, knowledge: Knowledge, upstream: Rankings | None = None) -> list[Hit]:
        key = self._key(query, knowledge, upstream or {})
        hits = self.memory.kept.get(key)
        if hits is None:
            self.memory.searches += 1
            hits = self.source.model_copy(update={"top_k": self.top_k}).search(query, knowledge, upstream)
            self.memory.kept.put(key, hits)
        self.memory.latest[self.name] = hits
        return hits

    def _key(self, query: Query, knowledge: Knowledge, upstream: Rankings) -> str:
        vector = None if query.vector is None else query.vector.tobytes()
        asked: tuple[Any, ...] = (query.text, vector, query.asked_at, query.filters, query.tenant, query.intent)
        lengths = sorted((name, len(hits)) for name, hits in upstream.items())
        return repr((self.settings, self.top_k, knowledge.version, *asked, query.plan, lengths))


def remembering(recipe: Recipe, memory: Memory) -> Recipe:
    """The recipe with sources that answer from memory what the same sources, built alike, were asked before.

    >>> from hopweave.recipe import load_recipe
    >>> remembering(load_recipe("hybrid"), Memory()).sources["text"].top_k
    50
    """
    settings: dict[str, str] = {}
    for name in (name for wave in recipe.waves for name in wave):
        source = recipe.sources[name]
        settings[name] = repr((source, [settings[need] for need in source.needs]))
    sources = {
        name: _Remembered(
            name=name,
            source=source,
            settings=settings[name],
            memory=memory,
            top_k=source.top_k,
            optional=source.optional,
            deadline_seconds=source.deadline_seconds,
        )
        for name, source in recipe.sources.items()
    }
    return recipe.model_copy(update={"sources": sources})
