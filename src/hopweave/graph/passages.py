"""Passages that a walk over the graph finds: the second hop, which shares no word with the question."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt
from pydantic import Field

from hopweave.component import Knowledge, Ranking, Rankings, Source, fetched
from hopweave.graph.company import Company
from hopweave.graph.csr import Graph
from hopweave.graph.documents import allowed_nodes, graph_of, of_kind, passage_numbers
from hopweave.graph.link import Linker, Linking
from hopweave.graph.model import EDGE_TYPE_WEIGHTS
from hopweave.graph.pagerank import PageRank, personalised_pagerank
from hopweave.graph.port import GraphPort
from hopweave.graph.restart import adaptive_restart, restart_vector
from hopweave.graph.strongest import strongest_paths
from hopweave.graph.terms import Mask
from hopweave.graph.words import words
from hopweave.hit import Hit
from hopweave.query import Query
from hopweave.scores import normalised

Strengths = Mapping[str, float]
"""How well documents fit the question, in [0, 1], by id; those that are not listed count 0."""

_PATHS_FOLLOWED = 50
_DOUBT = 0.1  # what a passage about a named thing counts even if no upstream source found it


@runtime_checkable
class KnowsWords(Protocol):
    """A place where documents live that finds them by words."""

    def rank_words(self, text: str, *, analyzer: str, top_k: int, tenant: Mapping[str, Any] | None = None) -> Ranking:
        """Documents by BM25 over the words of a text."""
        ...


class PageRankPassages(Source):
    """Walks from what the question names to the passages that tell the rest. Score = sqrt(share / best share).

    The walker starts at the entities the question names (rare ones more often), at the passages about them, and at
    the best passages of the sources in `seeds_from`; how much goes to the latter depends on how well the names
    could be linked. On its way it is drawn to passages that fit what the question asks beyond the names: an edge to
    a passage counts (`floor` + fit)^`steering`, where fit is the mean over the `seeds_from` rankings, with BM25 on
    the question's other words in place of `word_source`. A steered walker is also drawn to things that lead on: an
    edge to one that a passage is about counts `about_pull` times, and 1 + `company_pull` x closeness times if the words
    beside its name, wherever it is mentioned, are kin to the question's other words (`Company`).

    Without anything to start from there are no hits. Receipts tell the share of all visits, the seeds, the strongest
    path with the things on it that drew the walker by their company (`drawn_to`), how well the names were linked and
    how far the best hit stands out (`confidence`).

    >>> PageRankPassages().needs
    ('text', 'vector')
    """

    in_memory: ClassVar[bool] = True

    kind: Literal["pagerank"] = "pagerank"
    seeds_from: tuple[str, ...] = Field(
        ("text", "vector"), description="Sources whose best passages are seeds as well."
    )
    word_source: str | None = Field("text", description="Which of these goes by words; None if none does.")
    analyzer: str = Field("nlp", description="Analyzer for the words outside the names.")
    linker: Linker = Field(default_factory=Linker, description="How names in the question are found.")
    restart: float = Field(0.15, gt=0, le=1, description="Probability to jump back to the seeds; higher stays nearer.")
    adaptive_restart: bool = Field(False, description="Whether a specific question stays nearer than a broad one.")
    passages: int = Field(5, ge=0, description="How many upstream passages are seeds.")
    passage_mass_linked: float = Field(
        0.1, ge=0, le=1, description="Their share of restarts when all names are linked."
    )
    passage_mass_unlinked: float = Field(0.6, ge=0, le=1, description="Their share when no name is linked for sure.")
    about_weight: float = Field(
        3.0, ge=0, description="Weight of the passages about a thing, next to the thing itself."
    )
    steering: float = Field(
        1.5, ge=0, description="How strongly the walker is drawn to passages that fit; 0 not at all."
    )
    floor: float = Field(0.2, gt=0, description="What a passage counts that does not fit at all.")
    about_pull: float = Field(
        2.0, gt=0, description="How much more the walker is drawn to things that a passage is about than to others."
    )
    company_pull: float = Field(
        10.0, ge=0, description="How much it is drawn to things whose names keep company with the question's words."
    )
    edge_type_weights: dict[str, float] = Field(
        {"about": 0.125, "mentions": 1.0}, description="Weights of edge types that differ from the usual ones."
    )
    backward_type_weights: dict[str, float] = Field(
        {"about": 1.5, "mentions": 1.0}, description="The same for edges walked against their direction."
    )
    result_kind: str = Field("passage", description="Kind of the nodes that are returned.")
    min_share: float = Field(0.0, ge=0, description="Nodes with a smaller share of the visits are left out.")
    explained: int = Field(8, ge=0, description="How many hits get the strongest path to them in their receipt.")
    tolerance: float = Field(0.1, ge=1e-9, description="How far the walk may be off; smaller takes longer.")
    walk_seconds: float = Field(2.0, gt=0, description="Best so far after this time, and the receipt says so.")

    @property
    def needs(self) -> tuple[str, ...]:
        """The sources whose hits are seeds as well."""
        return self.seeds_from

    @property
    def by_itself(self) -> "PageRankPassages":
        """The walk from what the question names alone.

        >>> PageRankPassages().by_itself.needs
        ()
        """
        return self.changed(seeds_from=())

    def search(self, query: Query, knowledge: Knowledge, upstream: Rankings | None = None) -> list[Hit]:
        """Find hits for a question, best first."""
        there = graph_of(knowledge, self.kind)
        graph = there.graph
        if not graph.size or not query.text.strip():
            return []
        linking = self.linker.link(query.text, graph)
        beyond = _beyond_names(query.text, linking)
        rankings = upstream or {}
        strengths = {name: _strengths(rankings[name]) for name in self.seeds_from if name in rankings}
        fit = _mean(list(strengths.values()))
        seeds = self._seeds(graph, linking, fit)
        allowed = allowed_nodes(query, there, graph)
        pull = self._pull(graph, self._fit_beyond_names(query, beyond, knowledge, strengths), beyond)
        walk = personalised_pagerank(
            graph,
            seeds,
            restart=self._restart(query, linking, seeds),
            edge_type_weights={**EDGE_TYPE_WEIGHTS, **self.edge_type_weights},
            backward_type_weights={**EDGE_TYPE_WEIGHTS, **self.backward_type_weights},
            pull=pull,
            allowed=allowed,
            among=of_kind(graph, self.result_kind),
            top_k=self.top_k if isinstance(graph, Graph) else None,
            min_score=self.min_share,
            engine="push",  # only the neighbourhood of the seeds matters, whatever the size of the graph
            tolerance=self.tolerance,
            deadline_seconds=self.walk_seconds,
        )
        shares = self._chosen(graph, walk)
        best = shares[0][1] if shares else 1.0
        named = {link.node: link.weight for link in linking.links} or seeds
        paths = self._paths(graph, named, [key for key, _ in shares[: self.explained]], allowed, pull)
        return fetched(
            [(key, (share / best) ** 0.5) for key, share in shares],
            knowledge,
            query,
            self.kind,
            "unit",
            {key: {"share": share, **paths.get(key, {})} for key, share in shares},
            upstream,
            seeds=[link.name for link in linking.links[:5]],
            linking=round(linking.confidence, 3),
            confidence=round(walk.confidence, 3),
            finished=walk.finished,
        )

    def _seeds(self, graph: GraphPort, linking: Linking, fit: Strengths) -> dict[int, float]:
        """Where walks start: the things the question names, passages about them, and the best passages upstream."""
        about = sorted({node for link in linking.links for node in link.about})
        documents = dict(zip(about, _documents(graph, about), strict=True))
        named: dict[int, float] = {}
        for link in linking.links:
            if link.node not in documents:
                named[link.node] = named.get(link.node, 0.0) + link.weight
            doubts = {node: fit.get(documents[node], 0.0) + _DOUBT for node in link.about}
            for node, share in doubts.items():
                part = self.about_weight * link.weight * share / sum(doubts.values())
                named[node] = named.get(node, 0.0) + part
        best = sorted(fit.items(), key=lambda pair: (-pair[1], pair[0]))[: self.passages]
        numbers = passage_numbers(graph, [key for key, _ in best])
        found = {numbers[key]: strength**2 for key, strength in best if key in numbers}
        sure = linking.confidence
        mass = self.passage_mass_linked * sure + self.passage_mass_unlinked * (1 - sure)
        return restart_vector(named, found, mass)

    def _restart(self, query: Query, linking: Linking, seeds: Mapping[int, float]) -> float:
        if query.plan is not None and query.plan.restart is not None:
            return query.plan.restart
        if self.adaptive_restart:
            return adaptive_restart(len(seeds), names_an_entity=bool(linking.links))
        return self.restart

    def _fit_beyond_names(
        self, query: Query, beyond: str, knowledge: Knowledge, strengths: Mapping[str, Strengths]
    ) -> Strengths:
        """How well documents fit what the question asks beyond the names it gives."""
        rest = dict(strengths)
        if self.word_source in rest and isinstance(knowledge, KnowsWords):
            ranking = knowledge.rank_words(beyond, analyzer=self.analyzer, top_k=self.top_k, tenant=query.tenant)
            rest[self.word_source] = _normalised(ranking)
        return _mean(list(rest.values()))

    def _pull(self, graph: GraphPort, fit: Strengths, beyond: str) -> npt.NDArray[np.float32] | None:
        """How much every node draws the walker; None if nothing fits, and for a graph that does not live in memory."""
        if not self.steering or not fit or not isinstance(graph, Graph):
            return None
        plain = graph.cached(("pull", self.floor, self.steering, self.about_pull), lambda: self._plain_pull(graph))
        pull: npt.NDArray[np.float32] = plain.copy()
        for key, number in passage_numbers(graph, fit).items():
            pull[number] = (self.floor + fit[key]) ** self.steering
        if self.company_pull:
            nodes, closeness = Company.of(graph).closeness(words(beyond.casefold()))
            pull[nodes] *= 1 + self.company_pull * closeness
        return pull

    def _plain_pull(self, graph: Graph) -> npt.NDArray[np.float32]:
        """What nodes draw the walker, whatever the question."""
        pull = np.where(graph.kinds == "passage", self.floor**self.steering, 1.0).astype(np.float32)
        if "about" in graph.edge_types:
            edges = graph.adjacency("out")
            pull[np.unique(edges.targets[edges.types == graph.edge_types.index("about")])] *= self.about_pull
        return pull

    def _paths(
        self,
        graph: GraphPort,
        seeds: Mapping[int, float],
        documents: Sequence[str],
        allowed: Mask | None,
        pull: npt.NDArray[np.float32] | None,
    ) -> dict[str, dict[str, Any]]:
        """The strongest path to each document, in words, and the things on it that drew the walker by their company."""
        numbers = passage_numbers(graph, documents)
        weights = {**EDGE_TYPE_WEIGHTS, **self.backward_type_weights}
        paths = strongest_paths(
            graph, seeds, numbers.values(), breadth=_PATHS_FOLLOWED, edge_type_weights=weights, allowed=allowed
        )
        drawn: set[str] = set()
        if pull is not None:
            passed = graph.find({node.id for path in paths.values() for node in path.nodes if node.kind != "passage"})
            drawn = {id_ for id_, number in passed.items() if pull[number] > max(self.about_pull, 1.0)}
        told: dict[str, dict[str, Any]] = {}
        for key, number in numbers.items():
            if path := paths.get(number):
                drawn_to = [node.name for node in path.nodes if node.id in drawn]
                told[key] = {"path": path.words} | ({"drawn_to": drawn_to} if drawn_to else {})
        return told

    def _chosen(self, graph: GraphPort, walk: PageRank) -> Ranking:
        nodes = graph.nodes(walk.nodes)
        pairs = zip(nodes, walk.scores.tolist(), strict=True)
        chosen = [(node.document_id, share) for node, share in pairs if node.kind == self.result_kind]
        return [(key, share) for key, share in chosen if key is not None][: self.top_k]


def _strengths(hits: Sequence[Hit]) -> Strengths:
    """A ranking's scores brought to [0, 1]; ranks speak where there are no scores."""
    scored = all(hit.score is not None for hit in hits)
    return _normalised([(hit.id, (hit.score or 0.0) if scored else 1 / rank) for rank, hit in enumerate(hits, start=1)])


def _normalised(ranking: Ranking) -> Strengths:
    return dict(zip((key for key, _ in ranking), normalised([score for _, score in ranking]), strict=True))


def _mean(strengths: Sequence[Strengths]) -> dict[str, float]:
    total: dict[str, float] = {}
    for one in strengths:
        for key, strength in one.items():
            total[key] = total.get(key, 0.0) + strength / len(strengths)
    return total


def _beyond_names(question: str, linking: Linking) -> str:
    """The question without the names that are linked."""
    for link in linking.links:
        question = question.replace(link.surface, " ")
    return question


def _documents(graph: GraphPort, nodes: Sequence[int]) -> list[str]:
    return [node.document_id or "" for node in graph.nodes(np.array(nodes, np.int64))]
