"""Which nodes of the graph a question names."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from hopweave.graph.csr import Graph
from hopweave.graph.model import Node, normalise_name
from hopweave.graph.names import NameIndex
from hopweave.graph.port import GraphPort
from hopweave.graph.question import Question, read_question

_MAX_FUZZY = 6  # stretches of a question that are compared loosely
_INSIDE_SHARE = 0.5  # of the weight, for a name inside a longer linked name
_NO_PASSAGE_ABOUT = 0.5  # of the confidence, for a link to something no passage is about
_CLOSE = 0.85
_FUZZY_SHARE = 0.7  # of the confidence, for a fuzzy link


@dataclass(frozen=True, slots=True)
class Link:
    """A node that a question names.

    `node` is its number in the graph and `surface` the stretch of the question. `weight` is its share as a seed: the
    rarity 1 / log(2 + number of passages), times the similarity of the names, times what the way of writing makes
    likely. `about` are the numbers of the passages about it.
    """

    node: int
    name: str
    surface: str
    match: Literal["exact", "fuzzy"]
    weight: float
    about: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Linking:
    """The nodes a question names, heaviest first, and how well its names are covered, in [0, 1].

    The confidence is the mean over the words of the names in the question: 1 for a word of an exact link to
    something that one passage is about, less for several such passages, for none, and for a fuzzy link; 0 for a word
    without a link. A question that shows no names by capitals or quotation marks is judged by all its words.
    """

    links: tuple[Link, ...] = ()
    confidence: float = 0.0


@dataclass(frozen=True, slots=True)
class _Stretch:
    """Words `first` to `last`, exclusive, of a question, and the nodes they name."""

    first: int
    last: int
    nodes: tuple[int, ...]
    similarity: float = 1.0
    share: float = 1.0
    exact: bool = True


@dataclass(frozen=True, slots=True)
class _Known:
    """What the graph says of a node: itself, how many passages have it, and which are about it."""

    node: Node
    passages: int
    about: tuple[int, ...]


class Linker(BaseModel):
    """Finds the nodes that a question names: word for word first, then nearly so.

    >>> graph = Graph.build([Node.entity("MV Skua"), Node.entity("Harris")], [])
    >>> linking = Linker().link("When does the MV Skua's crew reach Haris?", graph)
    >>> [(link.name, link.surface, link.match) for link in linking.links]
    [('MV Skua', 'MV Skua', 'exact'), ('Harris', 'Haris', 'fuzzy')]
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    fuzzy: bool = Field(True, description="Also link names that differ in a few letters or a word.")
    minimum_similarity: float = Field(0.75, gt=0, le=1, description="How similar names must be for a fuzzy link.")
    max_words: int = Field(400, ge=1, description="How many words of the question are looked at.")
    max_name_words: int = Field(16, ge=1, description="The longest name that is looked for, in words.")
    max_links: int = Field(32, ge=1, description="How many links to return at most.")
    max_about: int = Field(50, ge=1, description="How many passages about one node to return at most.")

    def link(self, question: str, graph: GraphPort) -> Linking:
        """The nodes this question names; a graph that does not live in memory is asked for exact names only."""
        asked = read_question(question, self.max_words)
        if not asked.words or not graph.size:
            return Linking()
        names = NameIndex.of(graph) if isinstance(graph, Graph) else None
        matches = self._by_index(asked, names) if names else self._by_lookup(asked, graph)
        known = _look_at(graph, matches, self.max_about)
        stretches = _chosen(matches, known)
        if names and self.fuzzy:
            loose = self._loosely(asked, names, stretches)
            known |= _look_at(graph, loose, self.max_about)
            stretches += loose
        return self._linking(asked, stretches, known)

    def _by_index(self, asked: Question, names: NameIndex) -> list[_Stretch]:
        found = []
        for first, word in enumerate(asked.folded):
            longest = min(names.longest.get(word, 0), self.max_name_words, len(asked.folded) - first)
            for last in range(first + longest, first, -1):
                nodes = names.exact(" ".join(asked.folded[first:last]))
                if nodes and asked.may_name(first, last):
                    found.append(_Stretch(first, last, nodes))
        return found

    def _by_lookup(self, asked: Question, graph: GraphPort) -> list[_Stretch]:
        written = {
            (first, last): normalise_name(asked.surface(first, last))
            for first in range(len(asked.words))
            for last in range(first + 1, min(first + self.max_name_words, len(asked.words)) + 1)
            if asked.may_name(first, last)
        }
        nodes = graph.lookup(dict.fromkeys(written.values()))
        return [_Stretch(*place, nodes[name]) for place, name in written.items() if name in nodes]

    def _loosely(self, asked: Question, names: NameIndex, linked: Sequence[_Stretch]) -> list[_Stretch]:
        taken = {word for stretch in linked for word in range(stretch.first, stretch.last)}
        found = []
        # without capitals any ordinary word may look like a misspelt name, so they must be closer
        threshold = self.minimum_similarity if asked.names else max(self.minimum_similarity, _CLOSE)
        for first, last in asked.unlinked(taken)[:_MAX_FUZZY]:
            nearest = names.nearest(asked.folded[first:last], threshold=threshold)
            if nearest:
                key, similarity = nearest
                found.append(_Stretch(first, last, names.exact(key), similarity, exact=False))
        return found

    def _linking(self, asked: Question, stretches: Sequence[_Stretch], known: dict[int, _Known]) -> Linking:
        links: dict[int, Link] = {}
        covered = [0.0] * len(asked.words)
        for stretch in stretches:
            share = asked.likelihood(stretch.first, stretch.last) * stretch.share * stretch.similarity
            for node, passages, about in _things(stretch, known):
                link = Link(
                    node,
                    known[node].node.name,
                    asked.surface(stretch.first, stretch.last),
                    "exact" if stretch.exact else "fuzzy",
                    share / math.log(2 + passages),
                    about[: self.max_about],
                )
                if node not in links or links[node].weight < link.weight:
                    links[node] = link
                sure = 1 / math.sqrt(len(about)) if about else _NO_PASSAGE_ABOUT
                sure *= share if stretch.exact else share * _FUZZY_SHARE
                for word in range(stretch.first, stretch.last):
                    covered[word] = max(covered[word], sure)
        ordered = sorted(links.values(), key=lambda link: (-link.weight, link.node))
        return Linking(tuple(ordered[: self.max_links]), asked.coverage(covered))


def _look_at(graph: GraphPort, stretches: Sequence[_Stretch], max_about: int) -> dict[int, _Known]:
    """What the graph says of the named nodes, in two calls."""
    numbers = np.array(sorted({node for stretch in stretches for node in stretch.nodes}), dtype=np.int64)
    if not len(numbers):
        return {}
    arriving = graph.neighbours(numbers, "in")
    about = list(graph.edge_types).index("about") if "about" in graph.edge_types else -1
    offsets = arriving.offsets.tolist()
    known = {}
    for position, (number, node) in enumerate(zip(numbers.tolist(), graph.nodes(numbers), strict=True)):
        place = slice(offsets[position], offsets[position + 1])
        told = arriving.targets[place][arriving.types[place] == about]
        known[number] = _Known(node, offsets[position + 1] - offsets[position], tuple(told[: max_about + 1].tolist()))
    return known


def _things(stretch: _Stretch, known: dict[int, _Known]) -> list[tuple[int, int, tuple[int, ...]]]:
    """The nodes to link, with their passages and those about them; passages that bear the name are about it."""
    bearing = [node for node in stretch.nodes if known[node].node.kind == "passage"]
    things = [node for node in stretch.nodes if known[node].node.kind != "passage"]
    if not things:
        return [(node, len(bearing), (node,)) for node in bearing]
    return [(node, known[node].passages, tuple(sorted({*known[node].about, *bearing}))) for node in things]


def _chosen(matches: Sequence[_Stretch], known: dict[int, _Known]) -> list[_Stretch]:
    """Longest first, none overlapping; inside one that no passage is about, those that have one count in part."""
    chosen: list[_Stretch] = []
    owner: dict[int, _Stretch] = {}
    for match in sorted(matches, key=lambda match: (match.first - match.last, match.first)):
        owners = {id(owner[word]): owner[word] for word in range(match.first, match.last) if word in owner}
        if owners:
            outer = next(iter(owners.values()))
            inside = len(owners) == 1 and outer.first <= match.first and match.last <= outer.last
            if not inside or outer.share < 1 or _has_about(outer, known) or not _has_about(match, known):
                continue
            match = _Stretch(match.first, match.last, match.nodes, share=_INSIDE_SHARE)  # noqa: PLW2901 - weighed down
        chosen.append(match)
        owner.update(dict.fromkeys(range(match.first, match.last), match))
    return sorted(chosen, key=lambda stretch: (stretch.first, -stretch.last))


def _has_about(stretch: _Stretch, known: dict[int, _Known]) -> bool:
    return any(known[node].about or known[node].node.kind == "passage" for node in stretch.nodes)
