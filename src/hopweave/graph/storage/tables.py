"""The tables a graph is resolved in: words, spellings, nodes, edges, and what each document says.

Every word, spelling, id and edge has a number, given when it is first seen. Whatever depends on the whole corpus is a
sum over documents, kept per word, spelling or node, so a document can be added and taken back exactly. All of it is
plain arrays: `image` gives them to be stored, and the constructor takes them back, mapped from a file, without
building an object per node.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hopweave.concurrency.once import LRUCache
from hopweave.graph.port import StationaryDistribution
from hopweave.graph.storage.name_index import bucket_hash, phrase_hash, without_accents
from hopweave.language.stop_words import CALENDAR_WORDS, STOP_WORDS
from hopweave.language.words import BREAK, word_key
from hopweave.storage.columns import Array, ColumnTable, Numbers, RaggedRows
from hopweave.storage.strings import HashIndex, StringTable

UPPER, LOWER, SENTENCE_BREAK, STOP, SHORT = 1, 2, 4, 8, 16
"""Flags of words: how they begin, and what they are. A word of one or two letters is short."""

SEARCHABLE, COUNTS, SEARCHED, PRESENT, NAMED = 1, 2, 4, 8, 16
"""Flags of nodes: the name can be searched, counts as an entity, is searched; in the graph; goes by its name."""

MENTION, BACKWARD = 1, 2
"""Flags in the code of an entry of `rows`, which is 4 x type + flags: it is a mention; it is the way back."""

RECORDED, HAS_TEXT = 1, 2
"""Flags of documents: it is in the ledger; it has words or mentions."""

ALIVE, CLAIM = 1, 2
"""Flags of edges: its document is there; it says that a document has an address."""

FORMAT = 5
"""Of the arrays; another number means that they have to be made again."""

_WEIGHED_KEPT = 4
_WORDS = {
    "folded": np.int32,
    "flags": np.uint8,
    "lower": np.int32,
    "upper": np.int32,
    "longest": np.int16,
    "near_documents": np.int32,
}
_SPELLINGS = {"node": np.int32, "mentions": np.int32, "about": np.int32, "declared": np.int32}
_NODES = {
    "kind": np.int16,
    "flags": np.uint8,
    "about": np.int32,
    "sure": np.int32,
    "passages": np.int32,
    "declared": np.int32,
    "document": np.uint8,
    "edge_ends": np.int32,
    "word": np.int32,
    "name_hash": np.uint64,
    "spelling": np.int32,
    "leads_to": np.int32,
}
_EDGES = {
    "document": np.int32,
    "source": np.int32,
    "target": np.int32,
    "source_text": np.int32,
    "target_text": np.int32,
    "type": np.int16,
    "weight": np.float64,
    "label": np.int32,
    "flags": np.uint8,
    "start": np.int32,
    "end": np.int32,
}
_DECLARED = {"node": np.int32, "document": np.int32, "text": np.int32, "spelling": np.int32}
_ROWS: dict[str, dict[str, Any]] = {
    "mentions": {"spelling": np.int32, "type": np.int16, "confidence": np.uint8, "weight": np.float64},
    "text": {"word": np.int32},
    "nearby": {"node": np.int32, "word": np.int32},
    "edges_of": {"edge": np.int32},
    "declared_by": {"declared": np.int32},
    "rows": {"target": np.int32, "code": np.uint16, "weight": np.float64},
    "mentioned_in": {"document": np.int32},
    "edges_at": {"edge": np.int32},
    "declared_at": {"declared": np.int32},
    "spellings_of": {"spelling": np.int32},
    "documents_with": {"document": np.int32},
    "names_with": {"node": np.int32},
    "near": {"node": np.int32, "count": np.int32},
}
_STATIONARY = {
    "probabilities": np.float32,
    "components": np.int32,
    "converges": np.uint8,
    "top_nodes": np.int32,
    "top_offsets": np.int64,
}
_BY_WORD = ("documents_with", "names_with", "near")


class GraphTables:
    """All that is known of the documents of a graph, and the graph that follows from it.

    >>> tables = GraphTables()
    >>> tables.name_node("entity", "St. Louis") == tables.name_node("entity", "St Louis")
    True
    """

    def __init__(self, header: Mapping[str, Any] | None = None, arrays: Mapping[str, Array] | None = None) -> None:
        self.kinds: list[str] = list(header["kinds"]) if header else [""]
        self.edge_types: list[str] = list(header["edge_types"]) if header else []
        self.documents: int = header["documents"] if header else 0
        self.name_count: int = header["names"] if header else 0
        self.dead_end_share: float = header["dead_end_share"] if header else 0.1
        self.changes = 0  # documents added, changed or taken out since the tables were made or opened
        self.stationary: dict[str, tuple[int, StationaryDistribution | None]] = _stationary(header, arrays)
        self.weighed = LRUCache[tuple[float, ...], Any](_WEIGHED_KEPT)  # by weights of types, for `WeightedRows`
        self.has_leftovers = False  # whether words and names of documents that are gone may be left
        self.is_whole = True  # whether no change was interrupted halfway
        self._new_kinds: list[int] = []
        self._new_spellings: list[int] = []
        self._new_names: list[tuple[int, str, bool]] = []

        def part(name: str) -> dict[str, Array] | None:
            if arrays is None:
                return None
            return {key.partition("/")[2]: values for key, values in arrays.items() if key.startswith(f"{name}/")}

        def strings(name: str) -> StringTable:
            found = part(name)
            return StringTable.empty() if found is None else StringTable.from_arrays(found)

        def hashes(name: str) -> HashIndex:
            found = part(name)
            return HashIndex.empty() if found is None else HashIndex.from_arrays(found)

        def rows(name: str) -> RaggedRows:
            found = part(name)
            return RaggedRows.empty(_ROWS[name]) if found is None else RaggedRows.from_arrays(found)

        self.word_strings, self.words = strings("word_strings"), ColumnTable(_WORDS, part("words"))
        self.spelling_strings, self.spellings = strings("spelling_strings"), ColumnTable(_SPELLINGS, part("spellings"))
        self.node_keys, self.nodes = strings("node_keys"), ColumnTable(_NODES, part("nodes"))
        self.texts = strings("texts")
        self.edges = ColumnTable(_EDGES, part("edges"))
        self.declared = ColumnTable(_DECLARED, part("declared"))
        self.names, self.similar_words = hashes("names"), hashes("similar_words")
        self.stems = hashes("stems")
        self.mentions, self.text, self.nearby = rows("mentions"), rows("text"), rows("nearby")
        self.edges_of, self.declared_by = rows("edges_of"), rows("declared_by")
        self.rows, self.mentioned_in = rows("rows"), rows("mentioned_in")
        self.edges_at, self.declared_at = rows("edges_at"), rows("declared_at")
        self.spellings_of = rows("spellings_of")
        self.documents_with, self.names_with, self.near = rows("documents_with"), rows("names_with"), rows("near")

    def image(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """A header of JSON values and arrays, from which the tables can be opened again."""
        header = {
            "format": FORMAT,
            "kinds": self.kinds,
            "edge_types": self.edge_types,
            "documents": self.documents,
            "names": self.name_count,
            "dead_end_share": self.dead_end_share,
            "stationary": [key for key, (_, one) in self.stationary.items() if one is not None],
        }
        arrays = {
            f"stationary/{number}/{name}": getattr(one, name).astype(dtype)
            for number, (_, one) in enumerate(pair for pair in self.stationary.values() if pair[1] is not None)
            for name, dtype in _STATIONARY.items()
        }
        parts = ("word_strings", "words", "spelling_strings", "spellings", "node_keys", "nodes", "texts", "edges")
        for name in (*parts, "declared", "names", "similar_words", "stems", *_ROWS):
            found = self._near_sums() if name == "near" else getattr(self, name).arrays()
            arrays |= {f"{name}/{key}": values for key, values in found.items()}
        return header, arrays

    def word_numbers(self, texts: list[str]) -> Numbers:
        """The numbers of words; new ones have columns after `settle`."""
        return self.word_strings.add_all(texts)

    def node_number(self, key: str, kind: str) -> int:
        """The number of a node that does not go by its name; a new one has columns after `settle`."""
        number = self.node_keys.get(key)
        if number < 0:
            number = self.node_keys.add(key)
            self._new_kinds.append(self.kind_code(kind))
        return number

    def name_node(self, kind: str, name: str) -> int:
        """The number of the node of a name: spellings with the same word key are one node of their kind."""
        return self.key_node(kind, word_key(name))

    def key_node(self, kind: str, key: str) -> int:
        """The number of the node of a name that is given by its word key."""
        known = len(self.node_keys)
        number = self.node_number(f"{kind}:{key}", kind)
        if number == known:
            self._new_names.append((number, key, True))
        return number

    def spelling_number(self, kind: str, name: str) -> int:
        """The number of a spelling of a name; a new one has columns after `settle`."""
        return int(self.spelling_numbers([kind], [name])[0])

    def spelling_numbers(self, kinds: Sequence[str], names: Sequence[str]) -> Numbers:
        """The numbers of spellings of names; new ones have columns after `settle`."""
        known = len(self.spelling_strings)
        numbers = self.spelling_strings.add_all([f"{kind}\x1f{name}" for kind, name in zip(kinds, names, strict=True)])
        for number in range(known, len(self.spelling_strings)):
            kind, _, name = self.spelling_strings[number].partition("\x1f")
            self._new_spellings.append(self.name_node(kind, name))
        return numbers

    def set_name(self, number: int, name: str) -> None:
        """Make a node findable by its name, after `settle`."""
        self._new_names.append((number, word_key(name), False))

    def settle(self) -> None:
        """Make room for all words, nodes and spellings that were added since the last time."""
        self._describe_words()
        size = len(self.node_keys)
        added = size - len(self.nodes)
        minus = np.full(added, -1)
        self.nodes.append(added, kind=self._new_kinds, word=minus, spelling=minus, leads_to=minus)
        for name in _ROWS:
            if name not in _BY_WORD:
                getattr(self, name).resize(size)
        first = self.spellings.append(len(self._new_spellings), node=self._new_spellings)
        owners = np.array(self._new_spellings, np.int64)
        self.spellings_of.extend(owners, [first + np.arange(len(owners))])
        self._settle_names()
        self._new_kinds, self._new_spellings, self._new_names = [], [], []

    def _settle_names(self) -> None:
        # no list of words for each name: the garbage collector would visit them again and again
        words = self.word_numbers([word for _, key, _ in self._new_names for word in key.split(" ")])
        self._describe_words()
        longest, flags = self.words["longest"], self.words["flags"]
        name_hashes, node_flags, only_word = self.nodes["name_hash"], self.nodes["flags"], self.nodes["word"]
        posting_words, posting_nodes = [], []
        end = 0
        for number, key, goes_by_name in self._new_names:
            own = words[end : end + key.count(" ") + 1].tolist()
            end += len(own)
            longest[own[0]] = max(longest[own[0]], min(len(own), np.iinfo(longest.dtype).max))
            if goes_by_name:
                only_word[number] = own[0] if len(own) == 1 else -1
                node_flags[number] |= NAMED | SEARCHABLE * _can_be_searched(key)
            name_hash = phrase_hash(key)
            if not any(node_flags[other] & NAMED for other in self.names.find(name_hash)):
                self.name_count += 1
                content_words = [word for word in dict.fromkeys(own) if not flags[word] & STOP]
                posting_words += content_words
                posting_nodes += [number] * len(content_words)
            if int(name_hashes[number]) != name_hash:
                self.names.add(name_hash, number)
                name_hashes[number] = name_hash
        postings = np.array(posting_words, np.int64)
        for word in np.unique(postings[self.names_with.lengths.values[postings] == 0]).tolist():
            plain = without_accents(self.word_strings[word])
            self.similar_words.add(bucket_hash(plain[:1], len(plain)), word)
        self.names_with.extend(postings, [posting_nodes])

    def kind_code(self, kind: str) -> int:
        """The code of a kind of nodes."""
        return _code(self.kinds, kind)

    def type_code(self, edge_type: str) -> int:
        """The code of a type of edges."""
        return _code(self.edge_types, edge_type)

    def rarity(self) -> Array:
        """What the weight of an edge is multiplied by for a node at its end, for every node; 1 for passages.

        1 / log(2 + passages), times the share that a dead end keeps if there is one passage, and no other document
        states an edge of the node.
        """
        passages = self.nodes["passages"]
        factors = np.ones(len(passages))
        mentioned = np.flatnonzero(passages)
        factors[mentioned] = 1 / np.log(2 + passages[mentioned])
        factors[(passages == 1) & (self.nodes["edge_ends"] == 0)] *= self.dead_end_share
        return factors

    def spelled(self, spelling: int) -> str:
        """A spelling as it is written."""
        return self.spelling_strings[spelling].partition("\x1f")[2]

    def common(self, words: Array) -> Array:
        """Of folded words: those written in lower case more often than with a capital inside a sentence."""
        return self.words["lower"][words] > self.words["upper"][words]

    def _describe_words(self) -> None:
        flags, folds, number = [], [], len(self.words)
        while number < len(self.word_strings):
            text = self.word_strings[number]
            folded = text.casefold()
            flags.append(
                UPPER * (text[:1].isupper() or text[:1].istitle())
                | LOWER * text[:1].islower()
                | SENTENCE_BREAK * (folded == BREAK)
                | STOP * (folded in STOP_WORDS)
                | SHORT * (len(folded) < _MIN_LETTERS)
            )
            folds.append(number if folded == text else self.word_strings.add(folded))
            number += 1
        if flags:
            self.words.append(len(flags), flags=flags, folded=folds)
            for name in _BY_WORD:
                getattr(self, name).resize(number)

    def _near_sums(self) -> dict[str, Array]:
        """The rows of `near` with one entry per node."""
        old = self.near.frozen(copy=False)
        words = np.repeat(np.arange(len(old.lengths)), old.lengths)
        fields = old.ordered()
        order = np.lexsort((fields["node"], words))
        words, nodes, counts = words[order], fields["node"][order], fields["count"][order]
        first = np.flatnonzero((np.diff(words, prepend=-1) != 0) | (np.diff(nodes, prepend=-1) != 0))
        sums = np.add.reduceat(counts, first) if len(first) else counts
        first, sums = first[sums > 0], sums[sums > 0]
        lengths = np.bincount(words[first], minlength=len(old.lengths)).astype(np.int32)
        starts = np.cumsum(lengths, dtype=np.int64) - lengths
        return {"starts": starts, "lengths": lengths, "node": nodes[first], "count": sums.astype(np.int32)}


def _stationary(
    header: Mapping[str, Any] | None, arrays: Mapping[str, Array] | None
) -> dict[str, tuple[int, StationaryDistribution | None]]:
    """The stationary distributions of an image."""
    found: dict[str, tuple[int, StationaryDistribution | None]] = {}
    for number, key in enumerate(header["stationary"] if header else ()):
        values = {name: (arrays or {})[f"stationary/{number}/{name}"] for name in _STATIONARY}
        values["converges"] = values["converges"].astype(np.bool_)
        found[key] = 0, StationaryDistribution(**values)
    return found


_MIN_LETTERS = 3  # letters of a one-word name that is looked for in lower case
MAX_SEARCHED_WORDS = 64
"""The longest name, in words, that is looked for in texts."""


def _code(known: list[str], name: str) -> int:
    if name not in known:
        known.append(name)
    return known.index(name)


def _can_be_searched(key: str) -> bool:
    """Not a single character, a number, a month, stop words only, or so long that every text would pay for it."""
    parts = key.split(" ")
    return (
        len(key) > 1
        and len(parts) <= MAX_SEARCHED_WORDS
        and not STOP_WORDS.issuperset(parts)
        and (len(parts) > 1 or not (key.isdigit() or key in CALENDAR_WORDS))
    )
