"""HippoRAG 2's retrieval, re-implemented from its description as a baseline: not its authors' code.

What it does: entities of triples and passages are nodes of an undirected graph. Facts connect their two entities, every
passage is connected with the entities of its facts, and entities with similar names (cosine of at least 0.8) with one
another. A question is compared with all facts; the entities of the best five, divided by the number of their passages,
and all passages, by min-max cosine x 0.05, are where a PageRank with damping 0.5 restarts. Passages rank by it.

What it leaves out: the LLM that filters the five facts. The published ablation puts that at 0.7 points of recall@5.
Weights are those the published code arrives at after one indexing run: a fact counts 2 per occurrence, a passage's edge
1, a similarity twice its cosine, in place of a fact between the same two.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

import faiss
import igraph
import numpy as np

DAMPING = 0.5
FACTS_LINKED = 5
PASSAGE_WEIGHT = 0.05
SYNONYM_COSINE = 0.8
MOST_SYNONYMS = 100
_OTHER = re.compile("[^a-z0-9 ]")


def phrase_of(name: str) -> str:
    """An entity as the graph knows it: small letters, everything but Latin letters and digits a space.

    >>> phrase_of("St. Louis")
    'st  louis'
    """
    return _OTHER.sub(" ", name.lower()).strip()


def facts_of(triples: Mapping[str, Iterable[Sequence[str]]]) -> dict[str, list[tuple[str, str, str]]]:
    """The triples of each passage that have three parts with something in them, entities as phrases."""
    return {
        passage: [
            (phrase_of(triple[0]), triple[1].strip().lower(), phrase_of(triple[2]))
            for triple in stated
            if len(triple) == 3 and all(isinstance(part, str) for part in triple)
            if phrase_of(triple[0]) and triple[1].strip() and phrase_of(triple[2])
        ]
        for passage, stated in triples.items()
    }


class HippoRag:
    """Passages by personalised PageRank over facts, passages and synonyms.

    `passages` are ids with vectors in the same order; `triples` are those of each passage; `embed` turns the texts of
    facts and entities into vectors of the same model.
    """

    def __init__(self, passages: Sequence[str], vectors: np.ndarray, triples: Mapping[str, Iterable], embed) -> None:
        facts = facts_of({passage: triples.get(passage, ()) for passage in passages})
        self.passages = list(passages)
        self.phrases = sorted({end for stated in facts.values() for first, _, last in stated for end in (first, last)})
        self.facts = sorted({fact for stated in facts.values() for fact in stated})
        self._number = {phrase: number for number, phrase in enumerate(self.phrases)}
        self._passage_vectors = _unit(vectors)
        self._fact_vectors = _unit(embed([" ".join(fact) for fact in self.facts]))
        homes: defaultdict[str, set[str]] = defaultdict(set)
        for passage, stated in facts.items():
            for first, _, last in stated:
                homes[first].add(passage)
                homes[last].add(passage)
        self._homes = {phrase: len(found) for phrase, found in homes.items()}
        self._graph = self._connect(facts, homes, _unit(embed(self.phrases)))

    def rank(self, vector: np.ndarray, top_k: int) -> list[tuple[str, float]]:
        """Ids of passages and their shares of the walk, best first."""
        question = _unit(vector[None])[0]
        starts = np.zeros(len(self.phrases) + len(self.passages))
        for phrase, weight in self.linked(question):
            starts[self._number[phrase]] = weight
        starts[len(self.phrases) :] = PASSAGE_WEIGHT * _min_max(self._passage_vectors @ question)
        shares = self._graph.personalized_pagerank(
            damping=DAMPING, reset=starts.tolist(), weights="weight", directed=False, implementation="prpack"
        )
        scores = np.array(shares[len(self.phrases) :])
        best = np.argsort(-scores, kind="stable")[:top_k]
        return [(self.passages[number], float(scores[number])) for number in best.tolist()]

    def linked(self, question: np.ndarray) -> list[tuple[str, float]]:
        """The entities a question is about, by way of facts: mean over facts of score / number of passages."""
        if not self.facts:
            return []
        scores = _min_max(self._fact_vectors @ question)
        weights: defaultdict[str, list[float]] = defaultdict(list)
        for number in np.argsort(-scores, kind="stable")[:FACTS_LINKED].tolist():
            first, _, last = self.facts[number]
            for phrase in (first, last):
                weights[phrase].append(float(scores[number]) / self._homes[phrase])
        means = {phrase: sum(found) / len(found) for phrase, found in weights.items()}
        return sorted(means.items(), key=lambda pair: (-pair[1], pair[0]))[:FACTS_LINKED]

    @property
    def edges(self) -> dict[tuple[str, str], float]:
        """Both ends of every edge, as phrases and ids of passages, and its weight."""
        names = [*self.phrases, *self.passages]
        return {(names[edge.source], names[edge.target]): edge["weight"] for edge in self._graph.es}

    def _connect(self, facts: Mapping[str, list[tuple[str, str, str]]], homes, phrase_vectors: np.ndarray):
        one_way: defaultdict[tuple[int, int], float] = defaultdict(float)
        for stated in facts.values():
            for first, _, last in stated:
                ends = self._number[first], self._number[last]
                one_way[ends] += 1
                one_way[ends[::-1]] += 1
        for source, target, cosine in self._synonyms(phrase_vectors):
            one_way[source, target] = cosine
        places = {passage: place for place, passage in enumerate(self.passages, start=len(self.phrases))}
        for phrase, found in homes.items():
            for passage in found:
                one_way[self._number[phrase], places[passage]] = 1.0
        weights: defaultdict[tuple[int, int], float] = defaultdict(float)
        for (source, target), weight in one_way.items():
            if source != target:
                weights[min(source, target), max(source, target)] += weight
        graph = igraph.Graph(n=len(self.phrases) + len(self.passages), edges=sorted(weights))
        graph.es["weight"] = [weights[ends] for ends in sorted(weights)]
        return graph

    def _synonyms(self, vectors: np.ndarray) -> Iterable[tuple[int, int, float]]:
        """Entities with similar names; names of up to two letters look for none."""
        if not len(vectors):
            return
        index = faiss.IndexFlatIP(vectors.shape[1])
        index.add(vectors)
        cosines, found = index.search(vectors, min(MOST_SYNONYMS + 1, len(vectors)))
        for source, phrase in enumerate(self.phrases):
            if len(phrase.replace(" ", "")) <= 2:
                continue
            for target, cosine in zip(found[source].tolist(), cosines[source].tolist(), strict=True):
                if target != source and cosine >= SYNONYM_COSINE:
                    yield source, target, cosine


def _unit(vectors: np.ndarray) -> np.ndarray:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.ascontiguousarray(vectors / np.where(lengths > 0, lengths, 1), np.float32)


def _min_max(scores: np.ndarray) -> np.ndarray:
    low, high = scores.min(), scores.max()
    return (scores - low) / (high - low) if high > low else np.ones_like(scores)
