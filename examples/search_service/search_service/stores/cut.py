"""The part of a recipe that a method needs."""

from collections.abc import Mapping
from typing import Any

from hopweave import Recipe
from hopweave.fusion.passthrough import Passthrough
from hopweave.stages.filter.score_threshold import ScoreThreshold
from search_service.messages import Method

SOURCES: Mapping[Method, tuple[str, ...]] = {
    "keyword": ("text",),
    "vector": ("vector",),
    "hybrid": ("text", "vector"),
}
GRAPH = "graph"


def cut(recipe: Recipe, method: Method, *, expand_graph: bool) -> Recipe:
    """The sources of a method, with the walk from there if wanted, without a minimum: each request brings its own."""
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
    stages = tuple(stage for stage in recipe.stages if not isinstance(stage, ScoreThreshold))
    return recipe.model_copy(update={"sources": sources, "fuse": fuse, "stages": stages, "context": None})
