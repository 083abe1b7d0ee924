"""Finds the names of nodes in texts: all phrases of all texts at once, by hash, the longest from left to right."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hopweave.graph.build.mentions import SURE, Mentions
from hopweave.graph.storage.name_index import longer_phrases
from hopweave.graph.storage.tables import (
    LOWER,
    MAX_SEARCHED_WORDS,
    SEARCHED,
    SENTENCE_BREAK,
    SHORT,
    STOP,
    UPPER,
    GraphTables,
)
from hopweave.storage.columns import Array, Numbers, distinct

REACH = 3
"""How many words away from a name, on either side and in the same sentence, a word occurs next to it."""


class Texts:
    """The texts of some documents end to end: words by number, folded and as written."""

    def __init__(self, tables: GraphTables, documents: Array) -> None:
        lengths, (written,) = tables.text.gather(documents)
        self.documents = documents
        self.ends: Numbers = np.cumsum(lengths, dtype=np.int64)
        self.starts: Numbers = self.ends - lengths
        self.text_of: Numbers = np.repeat(np.arange(len(lengths)), lengths)
        self.words: Numbers = tables.words["folded"][written].astype(np.int64)
        flags = tables.words["flags"][written]
        self.upper, self.lower = flags & UPPER > 0, flags & LOWER > 0
        self.breaks, self.stops = flags & SENTENCE_BREAK > 0, flags & STOP > 0
        self.short = flags & SHORT > 0

    def places_of(self, phrase: Sequence[int]) -> Numbers:
        """Where these words follow one another."""
        places: Numbers = np.flatnonzero(self.words == phrase[0])
        for step, word in enumerate(phrase[1:], start=1):
            places = places[places + step < self.ends[self.text_of[places]]]
            places = places[self.words[places + step] == word]
        return places


@dataclass(frozen=True, slots=True)
class Occurrences:
    """Where names were found: which node has the name, in which text, from which position, over how many words."""

    nodes: Numbers
    texts: Numbers
    positions: Numbers
    lengths: Numbers


def add_letter_counts(tables: GraphTables, texts: Texts, sign: int) -> None:
    """Add to the sums of words how often they are in lower case, and with a capital inside a sentence."""
    opens = np.zeros(len(texts.words), dtype=bool)
    opens[texts.starts[texts.starts < len(opens)]] = True
    opens[1:] |= texts.breaks[:-1]
    np.add.at(tables.words["lower"], texts.words[texts.lower], sign)
    np.add.at(tables.words["upper"], texts.words[texts.upper & ~opens], sign)


def find_names(tables: GraphTables, texts: Texts) -> Occurrences:
    """Every place where the name of a searched node occurs.

    Of names that start at the same word the longest counts; a name that overlaps an earlier one does not. A name may
    belong to several nodes.
    """
    hashes = tables.word_strings.hashes[texts.words]
    searched = tables.nodes["flags"] & SEARCHED > 0
    longest_name = np.minimum(tables.words["longest"][texts.words], MAX_SEARCHED_WORDS)
    is_name = np.zeros(len(tables.words), np.bool_)
    is_name[tables.nodes["word"][searched & (tables.nodes["word"] >= 0)]] = True
    longest = is_name[texts.words].astype(np.int64)  # names of one word are known by its number
    matched = np.where(longest, hashes, np.uint64(0))
    places = np.flatnonzero(longest_name > 1)
    phrases = hashes[places]
    length = 1
    while True:
        going_on = (longest_name[places] > length) & (places + length < texts.ends[texts.text_of[places]])
        places, phrases = places[going_on], phrases[going_on]
        if not len(places):
            break
        phrases = longer_phrases(phrases, hashes[places + length])
        length += 1
        found, nodes = tables.names.find_many(phrases)
        found = found[searched[nodes] & (tables.nodes["name_hash"][nodes] == phrases[found])]
        longest[places[found]] = length
        matched[places[found]] = phrases[found]
    chosen = _without_overlaps(np.flatnonzero(longest), longest)
    places, nodes = tables.names.find_many(matched[chosen])
    kept = searched[nodes]
    places, nodes = places[kept], nodes[kept]
    positions = chosen[places]
    return Occurrences(nodes, texts.text_of[positions], positions, longest[positions])


def found_mentions(tables: GraphTables, texts: Texts, places: Occurrences, lower_case_weight: float) -> Mentions:
    """The occurrences that count as mentions."""
    weights = _occurrence_weights(tables, texts, places, lower_case_weight)
    kept = weights > 0
    size = int(kept.sum())
    return Mentions(
        texts.documents[places.texts[kept]],
        places.nodes[kept],
        np.full(size, tables.type_code("mentions")),
        weights[kept],
        np.full(size, SURE, np.uint8),
    )


def nearby_words(texts: Texts, places: Occurrences) -> tuple[Array, ...]:
    """The words next to names: one row of document, node and word each; stop words do not count.

    A name that is part of a longer one is no mention, but the words next to it count as co-occurring all the same.
    """
    found = []
    for position, step in ((places.positions - 1, -1), (places.positions + places.lengths, 1)):
        rows, at = np.arange(len(position)), position
        for _ in range(REACH):
            inside = (at >= texts.starts[places.texts[rows]]) & (at < texts.ends[places.texts[rows]])
            rows, at = rows[inside], at[inside]
            same_sentence = ~texts.breaks[at]
            rows, at = rows[same_sentence], at[same_sentence]
            found.append((rows, at))
            at = at + step
    rows, at = (np.concatenate(columns) for columns in zip(*found, strict=True))
    content_words = ~texts.stops[at]
    rows, at = rows[content_words], at[content_words]
    return distinct_rows(texts.documents[places.texts[rows]], places.nodes[rows], texts.words[at])


def distinct_rows(*columns: Array) -> tuple[Array, ...]:
    """The rows of these columns of numbers from 0, each once, in order.

    >>> [column.tolist() for column in distinct_rows(np.array([2, 1, 2]), np.array([5, 5, 5]))]
    [[1, 2], [5, 5]]
    >>> [column.tolist() for column in distinct_rows(np.array([1 << 40, 1, 1]), np.array([1 << 40, 5, 5]))]
    [[1, 1099511627776], [5, 1099511627776]]
    """
    if not len(columns[0]):
        return columns
    sizes = [int(column.max()) + 1 for column in columns]
    if math.prod(sizes) >= 1 << 63:
        order = np.lexsort(columns[::-1])
        new = np.any([np.diff(column[order], prepend=-1) != 0 for column in columns], axis=0)
        return tuple(column[order[new]] for column in columns)
    keys = columns[0].astype(np.int64)
    for column, size in zip(columns[1:], sizes[1:], strict=True):
        keys = keys * size + column  # one number per row, as sorting these is much faster than sorting by columns
    keys = distinct(keys)
    last: list[Array] = []
    for size in reversed(sizes[1:]):
        keys, rest = np.divmod(keys, size)
        last.insert(0, rest)
    return (keys, *last)


def _occurrence_weights(tables: GraphTables, texts: Texts, places: Occurrences, lower_case_weight: float) -> Array:
    """How much an occurrence counts, by the way it is written.

    A name of several words counts fully if it has a capital, knows none, or has two words that are no stop words.
    A single word must not be part of a longer name (Victoria in Queen Victoria), nor a common word at the start of a
    sentence; in lower case it counts less.
    """
    first, after = places.positions, places.positions + places.lengths
    last = max(len(texts.words) - 1, 0)
    has_capital = _count(texts.upper, first, after) > 0
    all_lower = _count(texts.lower, first, after) == places.lengths
    before, behind = np.maximum(first - 1, 0), np.minimum(after, last)
    at_start = first == texts.starts[places.texts]
    joined = (~at_start & texts.upper[before]) | ((after < texts.ends[places.texts]) & texts.upper[behind])
    opens = at_start | texts.breaks[before]
    single = places.lengths == 1
    weights = np.ones(len(first))
    weights[single & all_lower] = lower_case_weight
    weights[single & all_lower & texts.short[first]] = 0.0
    weights[single & has_capital & (joined | (opens & tables.common(texts.words[first])))] = 0.0
    weights[~single & all_lower & (_count(~texts.stops, first, after) < 2)] = 0.0
    return weights


def _count(flags: Array, first: Array, after: Array) -> Array:
    sums = np.concatenate([[0], np.cumsum(flags)])
    counts: Array = sums[after] - sums[first]
    return counts


def _without_overlaps(starts: Array, lengths: Array) -> Numbers:
    kept: list[int] = []
    free = 0
    for start, length in zip(starts.tolist(), lengths[starts].tolist(), strict=True):
        if start >= free:
            kept.append(start)
            free = start + length
    return np.array(kept, dtype=np.int64)
