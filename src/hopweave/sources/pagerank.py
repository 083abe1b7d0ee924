"""Passages found by PageRank over the graph: the second hop, which shares no word with the question."""

import logging
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from hopweave.component import Rankings, Source, fetched
from hopweave.errors import GraphTimeout
from hopweave.graph.documents import documents_in_parts, graph_of, passage_numbers
from hopweave.graph.flow_pruning import FlowPruning
from hopweave.graph.link.linker import Linker, Linking
from hopweave.graph.model import EDGE_TYPE_WEIGHTS
from hopweave.graph.paths.path import Path, strongest_paths
from hopweave.graph.port import Floats, GraphPort, Indices, NodeValues
from hopweave.graph.walk.personalisation import (
    Boosts,
    FixedBias,
    Relevance,
    SparseBias,
    Strengths,
    adaptive_restart,
    in_order,
    normalised_strengths,
    restart_vector,
    strengths_of,
    values_of,
    weighted_mean,
)
from hopweave.graph.walk.personalised_pagerank import PageRankScores, personalised_pagerank
from hopweave.hit import Hit
from hopweave.knowledge import Capability, Knowledge, Ranking, above_chance
from hopweave.language.words import words
from hopweave.query import Query

logger = logging.getLogger(__name__)

_PATHS_FOLLOWED = 30  # of each length; 500 would find paths to up to 3 % more of the hits, in a tenth more time
_READ_BY_GRAPH, _READ_BY_WORDS = 20, 10  # hits whose texts say whether names are names
_MIN_RELEVANCE = 0.1  # what a passage about a named entity counts even if no upstream source found it


class PageRank(Source):
    """Personalised PageRank from what the question names to the passages it leads to. Score = sqrt(share / best share).

    1. Link: the entities that the question names are found in the graph.
    2. Seeds: these entities (rare ones weigh more), the passages about them, and the best passages of the sources in
       `seeds_from`; the share of the latter depends on how well the names could be linked.
    3. Node bias: an edge to a passage counts (`relevance_floor` + relevance)^`relevance_exponent`, where relevance is
       the mean over the `seeds_from` rankings, each weighted by the trust in it (`hopweave.scores.trust`), with BM25
       on the question's words outside the names in place of `word_source`. An edge to an entity that a passage is
       about counts `topic_boost` times, and 1 + `cooccurrence_boost` x closeness times if its name occurs next to
       forms of these words in any passage.
    4. Walk: the share of each passage in the visits of a random walk that keeps returning to the seeds.
    5. Explain: receipts hold the share, the seeds, names that were not linked word for word (`inexact`: Swedish for
       Sweden), the strongest path with the entities on it that co-occurrence has boosted (`boosted_by`), how well the
       names were linked, how far that makes the walk trustworthy (`trust`), and how far the best hit stands out
       (`prominence`).

    Without any seed there are no hits. T. H. Haveliwala (2002), Topic-Sensitive PageRank; B. J. Gutiérrez et al.
    (2024), HippoRAG: Neurobiologically Inspired Long-Term Memory for Large Language Models.

    >>> PageRank().needs
    ('text', 'vector')
    """

    requires: ClassVar[frozenset[Capability]] = frozenset({Capability.GRAPH})
    in_memory: ClassVar[bool] = True
    reads_documents: ClassVar[bool] = False

    switch: ClassVar[str | None] = "graph"

    kind: Literal["pagerank"] = "pagerank"
    seeds_from: tuple[str, ...] = Field(
        default=("text", "vector"), description="Sources whose best passages are seeds as well."
    )
    word_source: str | None = Field(default="text", description="Which of these goes by words; None if none does.")
    analyzer: str = Field(default="nlp", description="Analyzer for the words outside the names.")
    linker: Linker = Field(default_factory=Linker, description="How names in the question are found.")
    restart: float = Field(
        default=0.12, gt=0, le=1, description="Probability to jump back to the seeds; higher stays nearer."
    )
    adaptive_restart: bool = Field(
        default=False,
        description="Whether the entities that a question names replace `restart`: .5 for one to three, .15 for more "
        "than five, else .3.",
    )
    max_seed_passages: int = Field(default=5, ge=0, description="How many upstream passages are seeds, at most.")
    passage_mass_linked: float = Field(
        default=0.05, ge=0, le=1, description="Their share of restarts when all names are linked."
    )
    passage_mass_unlinked: float = Field(
        default=0.2, ge=0, le=1, description="Their share when no name is linked for sure."
    )
    about_weight: float = Field(
        default=3.0, ge=0, description="Weight of the passages about an entity, next to the entity itself."
    )
    relevance_exponent: float = Field(
        default=1.5, ge=0, description="How much the relevance of a passage biases the walk; 0 not at all."
    )
    relevance_floor: float = Field(default=0.3, gt=0, description="What a passage counts that is not relevant at all.")
    topic_boost: float = Field(
        default=2.0,
        gt=0,
        description="What an edge to an entity that a passage is about counts, next to other entities.",
    )
    cooccurrence_boost: float = Field(
        default=5.0,
        ge=0,
        description="Boost of entities whose names occur next to the question's other words; 0 for none.",
    )
    edge_type_weights: dict[str, float] = Field(
        default={"about": 0.125, "mentions": 1.0}, description="Weights of edge types that differ from the usual ones."
    )
    backward_type_weights: dict[str, float] = Field(
        default={"about": 2.5, "mentions": 1.0}, description="The same for edges followed against their direction."
    )
    result_kind: str = Field(default="passage", description="Kind of the nodes that are returned.")
    same_document_decay: float = Field(
        default=0.3,
        gt=0,
        le=1,
        description="Factor on the share of a passage for each better part of the same document; 1 does not spread.",
    )
    min_share: float = Field(default=0.0, ge=0, description="Nodes with a smaller share of the visits are left out.")
    explain_top_k: int = Field(
        default=8, ge=0, description="How many hits get the strongest path to them in their receipt."
    )
    prune: FlowPruning | None = Field(
        default=None,
        description="Flow pruning before fusion: hits on no path between the best ones are dropped, the others ranked "
        "by the reliability of their best path; not at all for questions that the plan does not find complex.",
    )
    keep_off_path: bool = Field(
        default=False, description="Whether pruning keeps hits on no path, after the others, in place of dropping them."
    )
    tolerance: float = Field(default=0.1, ge=1e-9, description="How far the walk may be off; smaller takes longer.")
    time_budget_seconds: float = Field(
        default=2.0, gt=0, description="Best so far after this time, and the receipt says so."
    )

    @property
    def needs(self) -> tuple[str, ...]:
        """The sources whose hits are seeds as well."""
        return self.seeds_from

    @property
    def without_upstream(self) -> "PageRank":
        """The same source without seeds from other sources.

        >>> PageRank().without_upstream.needs
        ()
        """
        return self.changed(seeds_from=())

    def search(self, query: Query, knowledge: Knowledge, upstream: Rankings | None = None) -> list[Hit]:
        """Find hits for a question, best first.

        If a server does not even look up the seeds in time, these are the hits of the sources in `seeds_from`.
        """
        upstream = upstream or {}
        try:
            hits = self._search(query, knowledge, upstream)
        except GraphTimeout as error:
            hits = self._upstream_alone(query, knowledge, upstream)
            if not hits:
                raise
            logger.warning("pagerank: %s; these are the hits of the sources that it starts from", error)
            return hits
        if self.prune is None or (query.plan is not None and not query.plan.prune_paths):
            return hits
        return self.prune.prune(hits, knowledge, keep_off_path=self.keep_off_path, tenant=query.tenant)

    def _search(self, query: Query, knowledge: Knowledge, upstream: Rankings) -> list[Hit]:
        graph = graph_of(knowledge, self.kind, query.tenant)
        if not graph.size or not query.text.strip():
            return []
        linking = self.linker.link(query.text, graph)
        relevance = self._relevance(query, linking, knowledge, upstream)
        beyond_names = words(relevance.other_words.casefold()) if self.cooccurrence_boost else []
        graph.expect_words(beyond_names)
        in_time = linking.finished
        try:
            numbers = passage_numbers(graph, {**relevance.to_question, **relevance.beyond_names})
        except GraphTimeout:  # a walk from the names alone is better than none
            numbers, in_time = {}, False
        seeds = self._seeds(linking, relevance.to_question, numbers)
        if not seeds and not in_time:
            raise GraphTimeout("the server that holds the graph did not look up the seeds of the walk in time")
        bias, boosts = self._node_bias(graph, relevance, beyond_names, numbers)
        scores = self._walk(graph, seeds, self._restart(query, linking), bias)
        shares, numbers = self._shares(graph, scores, numbers)
        if not shares and not scores.finished:
            raise GraphTimeout("the server that holds the graph did not read the edges of the seeds in time")
        try:
            explained = {key: numbers[key] for key, _ in shares[: self.explain_top_k]}
            paths = self._paths(graph, linking, seeds, explained, boosts)
        except GraphTimeout:  # a ranking without paths is better than none
            paths = {}
        best = shares[0][1] if shares else 1.0
        trust = linking.trust(graph.topic_share())
        said = self._prior(graph, [key for key, _ in shares], upstream, numbers) if trust else {}
        return fetched(
            [(key, (share / best) ** 0.5) for key, share in shares],
            knowledge,
            query,
            self.kind,
            "unit",
            {key: {"share": share, **paths.get(key, {})} for key, share in shares},
            upstream,
            seeds=[link.name for link in linking.links[:5]],
            **_inexact(linking),
            linking=round(linking.confidence, 3),
            trust=round(trust * said.get("prior", 1.0), 3),
            **said,
            prominence=round(scores.prominence, 3),
            finished=in_time and scores.finished and not graph.truncated,
            returned=len(shares),
        )

    def _prior(
        self, graph: GraphPort, found: Sequence[str], upstream: Rankings, numbers: Mapping[str, int]
    ) -> dict[str, Any]:
        """How much a graph may lead in texts such as those that the walk and the words found first, and why."""
        by_words = upstream.get(self.word_source or "", ())[:_READ_BY_WORDS]
        keys = dict.fromkeys([*found[:_READ_BY_GRAPH], *(hit.id for hit in by_words)])
        case = graph.name_case(np.array([numbers[key] for key in keys if key in numbers], np.int64))
        return {} if case is None else {"prior": round(case.prior, 3), "why": case.sentence}

    def _upstream_alone(self, query: Query, knowledge: Knowledge, upstream: Rankings) -> list[Hit]:
        """The hits of the sources that a walk would have started from; their receipts say that it did not finish."""
        strengths = weighted_mean(strengths_of(upstream[name]) for name in self.seeds_from if name in upstream)
        ranking = sorted(strengths.items(), key=lambda pair: (-pair[1], pair[0]))[: self.top_k]
        said = {"seeds": [], "linking": 0.0, "trust": 0.0, "prominence": 0.0}
        return fetched(ranking, knowledge, query, self.kind, "unit", None, upstream, **said, finished=False)

    def _relevance(self, query: Query, linking: Linking, knowledge: Knowledge, rankings: Rankings) -> Relevance:
        by_source = {name: strengths_of(rankings[name]) for name in self.seeds_from if name in rankings}
        other_words = _without_names(query.text, linking)
        beyond_names = dict(by_source)
        if self.word_source in by_source and Capability.WORDS in knowledge.capabilities:
            ranking = knowledge.rank_words(other_words, analyzer=self.analyzer, top_k=self.top_k, tenant=query.tenant)
            beyond_names[self.word_source] = normalised_strengths(ranking, above_chance(ranking, tail="exponential"))
        return Relevance(weighted_mean(by_source.values()), weighted_mean(beyond_names.values()), other_words)

    def _seeds(self, linking: Linking, relevance: Strengths, numbers: Mapping[str, int]) -> dict[int, float]:
        """The restart vector: the entities the question names, passages about them, and the best passages upstream."""
        strengths = {numbers[key]: strength for key, strength in relevance.items() if key in numbers}
        about = {node for link in linking.links for node in link.about}
        named: dict[int, float] = {}
        for link in linking.links:
            if link.node not in about:
                named[link.node] = named.get(link.node, 0.0) + link.weight
            weights = {node: strengths.get(node, 0.0) + _MIN_RELEVANCE for node in link.about}
            for node, weight in weights.items():
                share = self.about_weight * link.weight * weight / sum(weights.values())
                named[node] = named.get(node, 0.0) + share
        best = sorted(relevance.items(), key=lambda pair: (-pair[1], pair[0]))[: self.max_seed_passages]
        passages = {numbers[key]: strength**2 for key, strength in best if key in numbers}
        linked = linking.confidence
        mass = self.passage_mass_linked * linked + self.passage_mass_unlinked * (1 - linked)
        return restart_vector(named, passages, mass)

    def _restart(self, query: Query, linking: Linking) -> float:
        if query.plan is not None and query.plan.restart is not None:
            return query.plan.restart
        return adaptive_restart(len({link.node for link in linking.links})) if self.adaptive_restart else self.restart

    def _node_bias(
        self, graph: GraphPort, relevance: Relevance, beyond_names: Sequence[str], numbers: Mapping[str, int]
    ) -> tuple[NodeValues | None, Boosts]:
        """What the weights of edges to each node are multiplied by, and which nodes co-occurrence boosts.

        None, and none of them, if no passage is relevant. `beyond_names` are the words of the question outside the
        names.
        """
        if not self.relevance_exponent or not relevance.beyond_names:
            return None, _no_boosts
        passages, topics = graph.nodes_of_kind("passage"), graph.targets_of_type("about")
        fixed = FixedBias(passages, topics, self.relevance_floor**self.relevance_exponent, self.topic_boost)
        known = [key for key in relevance.beyond_names if key in numbers]
        own = [(self.relevance_floor + relevance.beyond_names[key]) ** self.relevance_exponent for key in known]
        relevant = np.array([numbers[key] for key in known], np.int64), np.array(own)

        def boosts() -> tuple[Indices, Floats]:
            if not self.cooccurrence_boost:
                return _no_boosts()
            nodes, closeness = graph.cooccurring(beyond_names)
            return nodes, 1 + self.cooccurrence_boost * closeness

        if not isinstance(passages, np.ndarray) or not isinstance(topics, np.ndarray):
            boosts()  # from now on a server looks the words up for all nodes that are read
            return SparseBias(fixed, relevant, boosts), boosts
        # one number for every node is the fastest where the graph lies in memory
        parameters = (self.relevance_floor, self.relevance_exponent, self.topic_boost)
        bias = graph.cached(("node bias", *parameters), lambda: fixed[np.arange(graph.size)]).copy()
        bias[relevant[0]] = relevant[1]
        boosted, boost = boosts()
        bias[boosted] *= boost
        return bias, lambda: (boosted, boost)

    def prepare(self, graph: GraphPort) -> None:
        """Compute what does not depend on the question, so that it can be stored with the graph."""
        personalised_pagerank(
            graph,
            {0: 1.0} if graph.size else {},
            edge_type_weights={**EDGE_TYPE_WEIGHTS, **self.edge_type_weights},
            backward_type_weights={**EDGE_TYPE_WEIGHTS, **self.backward_type_weights},
        )

    def _walk(
        self,
        graph: GraphPort,
        seeds: Mapping[int, float],
        restart: float,
        bias: NodeValues | None,
    ) -> PageRankScores:
        return personalised_pagerank(
            graph,
            seeds,
            restart=restart,
            edge_type_weights={**EDGE_TYPE_WEIGHTS, **self.edge_type_weights},
            backward_type_weights={**EDGE_TYPE_WEIGHTS, **self.backward_type_weights},
            node_bias=bias,
            among=graph.nodes_of_kind(self.result_kind),
            top_k=self.top_k,
            min_score=self.min_share,
            tolerance=self.tolerance,
            time_budget_seconds=self.time_budget_seconds,
        )

    def _shares(
        self, graph: GraphPort, scores: PageRankScores, numbers: Mapping[str, int]
    ) -> tuple[Ranking, dict[str, int]]:
        """Documents by their share of the visits, and their nodes; `numbers` are those that are known already.

        Of their shares, further parts of one document keep less and less.
        """
        better: Counter[int] = Counter()
        shares: Ranking = []
        try:
            wholes = documents_in_parts(graph, scores.nodes)
        except GraphTimeout:
            if scores.finished:
                raise
            wholes = scores.nodes.tolist()
        documents = {number: key for key, number in numbers.items()}
        others = [number for number in scores.nodes.tolist() if number not in documents]
        documents |= zip(others, _documents(graph, others), strict=True)
        for number, whole, share in zip(scores.nodes.tolist(), wholes, scores.scores.tolist(), strict=True):
            if documents[number]:
                shares.append((documents[number], share * self.same_document_decay ** better[whole]))
                better[whole] += 1
        return sorted(shares, key=lambda pair: -pair[1]), {key: number for number, key in documents.items()}

    def _paths(
        self,
        graph: GraphPort,
        linking: Linking,
        seeds: Mapping[int, float],
        numbers: Mapping[str, int],
        boosts: Boosts,
    ) -> dict[str, dict[str, Any]]:
        """For each of these documents the strongest path to it, in words, and which entities on it were boosted."""
        paths = strongest_paths(
            graph,
            {link.node: link.weight for link in linking.links} or seeds,
            numbers.values(),
            breadth=_PATHS_FOLLOWED,
            edge_type_weights={**EDGE_TYPE_WEIGHTS, **self.backward_type_weights},
            only_read=True,  # what the walk has not read has carried nothing to them
        )
        boosted = _boosted(graph, paths.values(), boosts)
        receipts: dict[str, dict[str, Any]] = {}
        for key, number in numbers.items():
            if path := paths.get(number):
                boosted_by = [node.name for node in path.nodes if node.id in boosted]
                receipts[key] = {"path": path.words} | ({"boosted_by": boosted_by} if boosted_by else {})
        return receipts


def _no_boosts() -> tuple[Indices, Floats]:
    return np.empty(0, np.int64), np.empty(0)


def _boosted(graph: GraphPort, paths: Iterable[Path], boosts: Boosts) -> set[str]:
    """The ids of the entities on these paths that co-occurrence has boosted."""
    boosted = in_order(*boosts())
    if not len(boosted[0]):
        return set()
    entities = graph.find({node.id for path in paths for node in path.nodes if node.kind != "passage"})
    places, boost = values_of(boosted, np.array(list(entities.values()), np.int64))
    ids = list(entities)
    return {ids[place] for place in places[boost > 1].tolist()}


def _inexact(linking: Linking) -> dict[str, dict[str, str]]:
    """How the question writes names that the graph has otherwise: misspelt, or in another form."""
    found = {link.surface: link.name for link in linking.links if link.match == "fuzzy"}
    return {"inexact": found} if found else {}


def _without_names(question: str, linking: Linking) -> str:
    """The question without the names that are linked."""
    for link in linking.links:
        question = question.replace(link.surface, " ")
    return question


def _documents(graph: GraphPort, nodes: Sequence[int]) -> list[str]:
    return [node.document_id or "" for node in graph.nodes(np.array(nodes, np.int64))]
