"""Error analysis: why a relevant document is not among the hits, traced through sources, stages and graph."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from hopweave.component import Rankings, Source
from hopweave.graph.documents import graph_of, passage_numbers
from hopweave.graph.link.linker import Linking
from hopweave.graph.paths.path import strongest_paths
from hopweave.graph.port import GraphPort
from hopweave.hit import Hit
from hopweave.knowledge import Capability, Knowledge
from hopweave.pipeline import Result
from hopweave.recipe import Recipe

REASONS: Mapping[str, str] = {
    "not_stored": "not in the knowledge base",
    "gated": "the gate skipped retrieval",
    "filtered": "excluded by the question's filters or tenant",
    "stage": "dropped or moved down by a stage",
    "ranked_low": "found, but ranked low",
    "walk_ranked_low": "reached by the walk, but beyond its top_k",
    "not_reached": "linked, but not reached by the walk",
    "not_linked": "not linked: no seed of the walk leads to it",
    "not_found": "not found by any source",
}
"""Reasons for a miss, in the order in which they are checked; the first that applies is reported.

If the recipe has graph sources, their result decides, unless another source ranked the document among the first hits.
A document is linked if a path of at most four hops leads to it from an entity in the question; for a graph source
without entity linking, from one of the first ten hits that it starts from.
"""

_DEEP = 1000
_HOPS = 4
_SEEDS_PER_SOURCE = 10


@dataclass(frozen=True, slots=True)
class Miss:
    """A relevant document that is not among the first hits, and the reason.

    `ids` is the class of ids, any of which would have been enough. `rank` is their best rank after fusion, `ranks`
    the rank in each source, and `beyond` the rank in each source that is asked for 1000 hits. `path` describes the
    strongest path to it from an entity in the question.
    """

    ids: tuple[str, ...]
    reason: str
    detail: str = ""
    rank: int | None = None
    ranks: Mapping[str, int] = field(default_factory=dict)
    beyond: Mapping[str, int] = field(default_factory=dict)
    path: str | None = None

    def __str__(self) -> str:
        known = [
            *([f"{ordinal(self.rank)} after fusion"] if self.rank else []),
            *(f"{name} {ordinal(rank)}" for name, rank in self.ranks.items()),
        ]
        deeper = ", ".join(f"{name} {ordinal(rank)}" for name, rank in self.beyond.items())
        beyond = f"if asked for {_DEEP}: {deeper}" if deeper else ""
        parts = [REASONS[self.reason], self.detail, ", ".join(known) or "no rank", beyond, self.path or ""]
        return f"{' or '.join(map(repr, self.ids))}: {'; '.join(part for part in parts if part)}"

    def as_dict(self) -> dict[str, Any]:
        """The miss as plain JSON types."""
        fields = asdict(self)
        ids = fields.pop("ids")
        return {"gold": ids[0] if len(ids) == 1 else list(ids), **fields}


@dataclass(frozen=True, slots=True)
class MissAnalysis:
    """The result of a recipe for one question, with the rankings of its sources and the fused ranking."""

    recipe: Recipe
    knowledge: Knowledge
    result: Result
    rankings: Rankings
    fused: Sequence[Hit]
    top_k: int

    def why(self, ids: tuple[str, ...]) -> Miss:
        """Why none of these ids is among the first hits."""
        hidden = self._hidden(ids)
        if hidden:
            return Miss(ids, *hidden)
        rank, path = rank_of(self.fused, ids), self._path(ids)
        ranks = {name: found for name, hits in self.rankings.items() if (found := rank_of(hits, ids))}
        if rank and rank <= self.top_k:
            return Miss(ids, "stage", self._stage(ids, rank), rank, ranks, path=path)
        walks = self._walks()
        ranked_well = bool(ranks) and min(ranks.values()) <= self.top_k
        if ranks and (ranked_well or not walks or ranks.keys() & walks.keys()):
            return Miss(ids, "ranked_low", "", rank, ranks, path=path)
        beyond = self._beyond(ids, ranks)
        reason, detail = self._not_found(walks, beyond, path)
        return Miss(ids, reason, detail, rank, ranks, beyond, path)

    def _hidden(self, ids: tuple[str, ...]) -> tuple[str, str] | None:
        """The reason why it could not be found by any source, if there is one."""
        query, gate = self.result.query, self.result.gate
        visible, admits = self.knowledge.get(ids, tenant=query.tenant), query.admits()
        if not self.knowledge.get(ids):
            return "not_stored", ""
        if not any(admits(hit) for hit in visible.values()):
            return "filtered", ""
        return ("gated", gate.reason) if gate and not gate.retrieve else None

    def _not_found(self, walks: Mapping[str, Source], beyond: Mapping[str, int], path: str | None) -> tuple[str, str]:
        if not walks:
            return "not_found", ""
        names = "" if path else self._names()
        if beyond.keys() & walks.keys():
            return "walk_ranked_low", names
        return "not_reached" if path else "not_linked", names

    def _stage(self, ids: tuple[str, ...], rank: int) -> str:
        """Name the stage that removed the document from the first hits."""
        hits = list(self.fused)
        for stage in self.recipe.stages:
            hits = stage.apply(hits, self.result.query, self.knowledge)
            after = rank_of(hits, ids)
            if after is None:
                return f"{stage.kind} dropped it from rank {rank}"
            if after > self.top_k:
                return f"{stage.kind} moved it from rank {rank} to {after}"
            rank = after
        return ""

    def _walks(self) -> dict[str, Source]:
        """The graph sources that ran for this question."""
        ran = {name: self.recipe.sources[name] for name in self.rankings}
        if Capability.GRAPH not in self.knowledge.capabilities:
            return {}
        return {name: source for name, source in ran.items() if hasattr(source, "seeds_from")}

    def _beyond(self, ids: tuple[str, ...], known: Mapping[str, int]) -> dict[str, int]:
        """Its rank in the other sources if they are asked for many more hits."""
        found = {}
        for name in (name for name in self.rankings if name not in known):
            source = self.recipe.sources[name]
            upstream = {need: self.rankings[need] for need in source.needs if need in self.rankings}
            deeper = source.model_copy(update={"top_k": _DEEP})
            rank = rank_of(deeper.search(self.result.query, self.knowledge, upstream), ids)
            if rank:
                found[name] = rank
        return found

    def _linking(self) -> Linking | None:
        """The entities linked in the question; None if no graph source links entities."""
        linker = next((one.linker for one in self._walks().values() if hasattr(one, "linker")), None)
        if linker is None:
            return None
        linking: Linking = linker.link(self.result.query.text, self._graph())
        return linking

    def _graph(self) -> GraphPort:
        return graph_of(self.knowledge, "a walk", self.result.query.tenant)

    def _names(self) -> str:
        linking = self._linking()
        if linking is None:
            return ""
        names = ", ".join(link.name for link in linking.links)
        return f"the question names {names}" if names else "the question names nothing in the graph"

    def _seeds(self, graph: GraphPort) -> set[int]:
        linking = self._linking()
        if linking is not None:
            return {node for link in linking.links for node in (link.node, *link.about)}
        needed = {need for source in self._walks().values() for need in source.needs if need in self.rankings}
        best = [hit.id for name in needed for hit in self.rankings[name][:_SEEDS_PER_SOURCE]]
        return set(passage_numbers(graph, best).values())

    def _path(self, ids: tuple[str, ...]) -> str | None:
        """A description of the strongest path from a seed to one of these ids."""
        if not self._walks():
            return None
        graph = self._graph()
        paths = strongest_paths(
            graph,
            dict.fromkeys(sorted(self._seeds(graph)), 1.0),
            passage_numbers(graph, ids).values(),
            max_hops=_HOPS,
        )
        return max(paths.values(), key=lambda path: path.reliability).words if paths else None


def rank_of(hits: Sequence[Hit], ids: Sequence[str]) -> int | None:
    """The rank, from 1, of the first hit with one of these ids.

    >>> rank_of([Hit("a"), Hit("b")], ["b", "c"])
    2
    """
    return next((rank for rank, hit in enumerate(hits, start=1) if hit.id in ids), None)


def ordinal(rank: int) -> str:
    """A rank as an English ordinal.

    >>> [ordinal(rank) for rank in (1, 2, 3, 4, 11, 22, 113)]
    ['1st', '2nd', '3rd', '4th', '11th', '22nd', '113th']
    """
    ending = "th" if rank % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(rank % 10, "th")
    return f"{rank}{ending}"
