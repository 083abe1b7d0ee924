"""Which nodes of the graph a question names."""

import logging
import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from hopweave.errors import GraphTimeout
from hopweave.graph.documents import documents_in_parts
from hopweave.graph.link.question import Question, base_forms, read_question
from hopweave.graph.model import Node
from hopweave.graph.port import GraphPort, Indices
from hopweave.graph.storage.name_index import without_accents
from hopweave.language.words import word_key

logger = logging.getLogger(__name__)

_MAX_FUZZY = 6  # spans of a question that are compared with all names
_INSIDE_SHARE = 0.5  # of the weight, for a name inside a longer linked name, or of which a linked name is a form
_NO_PASSAGE_ABOUT = 0.5  # of the confidence, for a link to something no passage is about
_CLOSE = 0.85
_UNTRUSTED, _TRUSTED = 0.1, 0.5  # evidence at which trust is 0 and 1
_UNCLEAR_TOPICS = 0.25  # of the evidence, in a corpus whose passages do not say what they are about
_FUZZY_DOUBT = 0.6  # taken from the confidence of a fuzzy link of one word; of a link of n words, an nth of it
_INFLECTED = 0.9  # similarity of a name and a form of it
_MAX_INFLECTED_WORDS = 4

_Forms = dict[tuple[int, int], list[str]]
"""The keys of names that spans of a question may be forms of, by first and last word, exclusive."""


@dataclass(frozen=True, slots=True)
class Link:
    """A node that a question names.

    `node` is its number in the graph and `surface` the span of the question. `weight` is its share as a seed: the
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
    something that one passage is about, less for several such passages, for none, and for a fuzzy link, above all of
    a single word, unless the names differ in accents only; 0 for a word without a link. A question that shows no names
    by capitals or quotation marks is judged by all its words. The specificity is how rare the rarest linked name is, in
    [0, 1]: its weight, divided by that of a name in one passage. It is not `finished` if a server did not answer in
    time: then there may be links that were not found.

    >>> from hopweave.testing.graphs import graph_from_edges
    >>> skua = Node.entity("Skua")
    >>> linking = Linker().link("Who built the Skua?", graph_from_edges([skua], []))
    >>> linking.confidence, linking.specificity  # no passage is about it, and none mentions it
    (0.5, 1.0)
    """

    links: tuple[Link, ...] = ()
    confidence: float = 0.0
    specificity: float = 0.0
    finished: bool = True

    def trust(self, topic_share: float) -> float:
        """How far a graph search from these links can be trusted, in [0, 1].

        trust = (evidence - 0.1) / 0.4, clamped, where evidence = confidence x specificity x (4 x `topic_share` - 1), of
        which the last is clamped to [0.25, 1]: few linked words, names that every other passage mentions, and a corpus
        of whose passages less than half say what they are about, all make the graph less reliable.

        >>> linking = Linking(confidence=0.5, specificity=0.99)
        >>> round(linking.trust(topic_share=1.0), 2), round(linking.trust(topic_share=0.3), 2), Linking().trust(1.0)
        (0.99, 0.06, 0.0)
        """
        evidence = self.confidence * self.specificity * min(max(4 * topic_share - 1, _UNCLEAR_TOPICS), 1.0)
        return min(max((evidence - _UNTRUSTED) / (_TRUSTED - _UNTRUSTED), 0.0), 1.0)


@dataclass(frozen=True, slots=True)
class _Span:
    """Words `first` to `last`, exclusive, of a question, and the nodes they name."""

    first: int
    last: int
    nodes: tuple[int, ...]
    similarity: float = 1.0
    share: float = 1.0
    exact: bool = True

    @property
    def place(self) -> tuple[int, int]:
        return self.first, self.last

    @property
    def words(self) -> range:
        return range(self.first, self.last)


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A node that may be linked: its number, itself, how many passages have it, and which are about it."""

    number: int
    node: Node
    passages: int
    about: tuple[int, ...]

    @property
    def is_passage(self) -> bool:
        return self.node.kind == "passage"


class Linker(BaseModel):
    """Finds the nodes that a question names: word for word first, then nearly so.

    >>> from hopweave.testing.graphs import graph_from_edges
    >>> graph = graph_from_edges([Node.entity("MV Skua"), Node.entity("Harris")], [])
    >>> linking = Linker().link("When does the MV Skua's crew reach Haris?", graph)
    >>> [(link.name, link.surface, link.match) for link in linking.links]
    [('MV Skua', 'MV Skua', 'exact'), ('Harris', 'Haris', 'fuzzy')]
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    fuzzy: bool = Field(default=True, description="Also link names that differ in a few letters, a word or an ending.")
    min_similarity: float = Field(default=0.75, gt=0, le=1, description="How similar names must be for a fuzzy link.")
    max_words: int = Field(default=400, ge=1, description="How many words of the question are looked at.")
    max_name_words: int = Field(default=16, ge=1, description="The longest name that is looked for, in words.")
    max_links: int = Field(default=32, ge=1, description="How many links to return at most.")
    max_about: int = Field(default=50, ge=1, description="How many passages about one node to return at most.")

    def link(self, question: str, graph: GraphPort) -> Linking:
        """The nodes this question names."""
        asked = read_question(question, self.max_words)
        if not asked.words or not graph.size:
            return Linking()
        spans: list[_Span] = []
        candidates: dict[int, _Candidate] = {}
        documents_of: Mapping[int, int] = {}
        linked = complete = False
        with suppress(GraphTimeout):  # what was linked until then is better than nothing
            forms = _forms(asked) if self.fuzzy else {}
            matches = self._exact_spans(asked, forms, graph)
            candidates = _candidates(graph, matches, self.max_about)
            spans = _without_overlap(matches, candidates)
            if inflected := _inflected_spans(forms, graph, spans, candidates):
                candidates |= _candidates(graph, inflected, self.max_about)
                spans += [span for span in inflected if span.share == 1 or _has_about(span, candidates)]
            if self.fuzzy and (fuzzy := self._fuzzy_spans(asked, graph, spans)):
                candidates |= _candidates(graph, fuzzy, self.max_about)
                spans = _without_parts([*spans, *fuzzy], fuzzy)
            linked = True
        with suppress(GraphTimeout):
            documents_of = _documents_of(graph, candidates)
            complete = linked
        if not complete:
            logger.warning("linking: the server that holds the graph took too long; %d spans were linked", len(spans))
        return replace(self._linking(asked, spans, candidates, documents_of), finished=complete)

    def _exact_spans(self, asked: Question, forms: _Forms, graph: GraphPort) -> list[_Span]:
        keys = {
            (first, last): " ".join(asked.folded[first:last])
            for first in range(len(asked.words))
            for last in range(first + 1, min(first + self.max_name_words, len(asked.words)) + 1)
        }
        # forms of names are asked for next, which on a server would be another round trip
        nodes = graph.lookup(dict.fromkeys([*keys.values(), *(key for form in forms.values() for key in form)]))
        return [_Span(*place, nodes[key]) for place, key in keys.items() if key in nodes and asked.may_name(*place)]

    def _fuzzy_spans(self, asked: Question, graph: GraphPort, linked: Sequence[_Span]) -> list[_Span]:
        """The names that are most similar to what is not linked, and to names of which only a part is linked.

        The latter must be closer, so that "Akinoshu Kenji" is Akinoshū Kenji and not just any Kenji.
        """
        taken = {word for span in linked for word in span.words}
        # without capitals any ordinary word may look like a misspelt name, so they must be closer
        min_similarity = self.min_similarity if asked.names else max(self.min_similarity, _CLOSE)
        unlinked = asked.unlinked(taken)
        partly = [name for name in asked.names if name not in unlinked and any(_inside(one, name) for one in unlinked)]
        spans = [*partly, *unlinked][:_MAX_FUZZY]
        names = graph.nearest_names([asked.folded[slice(*span)] for span in spans], min_similarity) if spans else []
        already = {node for span in linked for node in span.nodes}
        return [
            _Span(*span, *nearest, exact=False)
            for span, nearest in zip(spans, names, strict=True)
            if nearest and (span in unlinked or (nearest[1] >= _CLOSE and already.isdisjoint(nearest[0])))
        ]

    def _linking(
        self,
        asked: Question,
        spans: Sequence[_Span],
        candidates: dict[int, _Candidate],
        documents_of: Mapping[int, int],
    ) -> Linking:
        """The heaviest link to each node, and how well all links cover the names of the question."""
        links: dict[int, Link] = {}
        covered, rarest = [0.0] * len(asked.words), 0.0
        for span in spans:
            share = asked.likelihood(*span.place) * span.share * span.similarity
            fuzzy_share = 1 - _FUZZY_DOUBT / max(asked.content_words(*span.place), 1)
            plain = without_accents(" ".join(asked.folded[span.first : span.last]))
            for candidate in _named(span, candidates):
                link = self._link(candidate, asked.surface(*span.place), span.exact, share)
                if link.node not in links or links[link.node].weight < link.weight:
                    links[link.node] = link
                documents = {documents_of.get(passage, passage) for passage in candidate.about}
                same_letters = span.exact or without_accents(word_key(candidate.node.name)) == plain
                certainty = 1.0 if same_letters else fuzzy_share
                # without capitals any ordinary word may look like a misspelt name, which must not count as a rare one
                rarest = max(rarest, link.weight * (1.0 if asked.names else certainty))
                confidence = _confidence(len(documents), share * certainty)
                for word in span.words:
                    covered[word] = max(covered[word], confidence)
        ordered = sorted(links.values(), key=lambda link: (-link.weight, link.node))
        specificity = min(round(rarest * math.log(3), 3), 1.0)
        return Linking(tuple(ordered[: self.max_links]), asked.coverage(covered), specificity)

    def _link(self, candidate: _Candidate, surface: str, exact: bool, share: float) -> Link:
        return Link(
            candidate.number,
            candidate.node.name,
            surface,
            "exact" if exact else "fuzzy",
            share / math.log(2 + candidate.passages),
            candidate.about[: self.max_about],
        )


def _documents_of(graph: GraphPort, candidates: Mapping[int, _Candidate]) -> dict[int, int]:
    """The document that each passage about a candidate is a part of; parts of one document are one and the same."""
    passages = sorted({passage for one in candidates.values() for passage in one.about})
    return dict(zip(passages, documents_in_parts(graph, np.array(passages, np.int64)), strict=True))


def _confidence(documents: int, share: float) -> float:
    """How sure a link is: less if several documents are about the node, and if none is."""
    return share * (1 / math.sqrt(documents) if documents else _NO_PASSAGE_ABOUT)


def _candidates(graph: GraphPort, spans: Sequence[_Span], max_about: int) -> dict[int, _Candidate]:
    """What the graph knows of the nodes that spans name, by number; asked for in two calls."""
    numbers = np.array(sorted({node for span in spans for node in span.nodes}), dtype=np.int64)
    if not len(numbers):
        return {}
    incoming = graph.neighbours(numbers, "in")
    codes = {name: code for code, name in enumerate(graph.edge_types)}
    is_about = incoming.types == codes.get("about", -1)
    # facts between names do not make a name more frequent
    counted = is_about | (incoming.types == codes.get("mentions", -1))
    if codes.keys().isdisjoint(("about", "mentions")):
        counted[:] = True
    parts = _parts(graph, incoming.targets[incoming.types == codes.get("subject", -1)])
    offsets = incoming.offsets.tolist()
    found = {}
    for position, (number, node) in enumerate(zip(numbers.tolist(), graph.nodes(numbers), strict=True)):
        edges = slice(offsets[position], offsets[position + 1])
        about_it = incoming.targets[edges][is_about[edges]].tolist()
        of_documents = (
            [part for one in incoming.targets[edges].tolist() for part in parts.get(one, ())] if parts else []
        )
        if 0 < len(of_documents) <= max_about:  # every part is about what its document is about
            about_it = sorted({*about_it, *of_documents})
        passages = int(np.count_nonzero(counted[edges]))
        found[number] = _Candidate(number, node, passages, tuple(about_it[: max_about + 1]))
    return found


def _parts(graph: GraphPort, documents: Indices) -> dict[int, list[int]]:
    """The passages that are parts of each of these documents (`PartsBuilder`)."""
    if not len(documents):
        return {}
    documents = np.unique(documents)
    incoming = graph.neighbours(documents, "in")
    is_part = incoming.types == list(graph.edge_types).index("part_of")
    parts: dict[int, list[int]] = {}
    owners = np.repeat(documents, np.diff(incoming.offsets))
    for document, part in zip(owners[is_part].tolist(), incoming.targets[is_part].tolist(), strict=True):
        parts.setdefault(document, []).append(part)
    return parts


def _named(span: _Span, candidates: dict[int, _Candidate]) -> list[_Candidate]:
    """The nodes of a span to link; passages whose title is the name are about it, and are linked if nothing else is."""
    nodes = [candidates[node] for node in span.nodes]
    titled = [one.number for one in nodes if one.is_passage]
    entities = [one for one in nodes if not one.is_passage]
    if not entities:
        return [replace(one, passages=len(titled), about=(one.number,)) for one in nodes]
    if not titled:
        return entities
    return [replace(one, about=tuple(sorted({*one.about, *titled}))) for one in entities]


def _without_overlap(matches: Sequence[_Span], candidates: dict[int, _Candidate]) -> list[_Span]:
    """Longest first, none overlapping; inside one that no passage is about, those that have one count in part."""
    chosen: list[_Span] = []
    owner: dict[int, _Span] = {}
    for match in sorted(matches, key=lambda match: (match.first - match.last, match.first)):
        owners = {id(owner[word]): owner[word] for word in match.words if word in owner}
        span = match
        if owners:
            outer = next(iter(owners.values()))
            inside = len(owners) == 1 and outer.first <= match.first and match.last <= outer.last
            if not inside or outer.share < 1 or _has_about(outer, candidates) or not _has_about(match, candidates):
                continue
            span = replace(match, share=_INSIDE_SHARE)
        chosen.append(span)
        owner.update(dict.fromkeys(span.words, span))
    return sorted(chosen, key=lambda span: (span.first, -span.last))


def _inflected_spans(
    forms: _Forms, graph: GraphPort, linked: Sequence[_Span], candidates: dict[int, _Candidate]
) -> list[_Span]:
    """The longest spans that are a form of exactly one name: its genitive, or an adjective made from it.

    A form that passages mention, but none is about, counts as itself and in part as the name.
    """
    taken = {word for span in linked for word in span.words}
    mentioned = {span.place for span in linked if not _has_about(span, candidates)}
    forms = {place: keys for place, keys in forms.items() if place in mentioned or taken.isdisjoint(range(*place))}
    nodes = graph.lookup(dict.fromkeys(key for keys in forms.values() for key in keys)) if forms else {}
    found: list[_Span] = []
    covered: set[int] = set()
    for place in sorted(forms, key=lambda place: (place[0] - place[1], place[0])):
        names = [key for key in forms[place] if key in nodes]
        if len(names) == 1 and covered.isdisjoint(range(*place)):
            share = _INSIDE_SHARE if place in mentioned else 1.0
            found.append(_Span(*place, nodes[names[0]], _INFLECTED, share, exact=False))
            covered.update(range(*place))
    return found


def _forms(asked: Question) -> _Forms:
    """The keys of names that spans may be forms of."""
    forms: _Forms = {}
    for last, (word, _, _) in enumerate(asked.words, start=1):
        if bases := base_forms(word):
            for first in range(max(last - _MAX_INFLECTED_WORDS, 0), last):
                forms[first, last] = [" ".join((*asked.folded[first : last - 1], base)) for base in bases]
    return forms


def _without_parts(spans: Sequence[_Span], wholes: Sequence[_Span]) -> list[_Span]:
    """Spans that do not lie inside another one, of those that may have parts."""
    return [span for span in spans if not any(one is not span and _inside(span.place, one.place) for one in wholes)]


def _inside(inner: tuple[int, int], outer: tuple[int, int]) -> bool:
    return outer[0] <= inner[0] and inner[1] <= outer[1]


def _has_about(span: _Span, candidates: dict[int, _Candidate]) -> bool:
    return any(candidates[node].about or candidates[node].is_passage for node in span.nodes)
