"""A graph over its tables: nothing is made per node or edge when it is opened, and a change costs what it touches."""

import json
import re
import threading
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Any, cast

import numpy as np

from hopweave.graph.model import ADDRESS, Node, passage_id
from hopweave.graph.port import (
    Floats,
    Indices,
    Mask,
    Neighbours,
    Shown,
    Statements,
    StationaryDistribution,
    Value,
    WeightedEdges,
)
from hopweave.graph.storage.cooccurrence import Cooccurrence
from hopweave.graph.storage.name_case import NameCase, case_in, corpus_case
from hopweave.graph.storage.name_index import (
    SimilarNames,
    bucket_hash,
    longer_phrase,
    phrase_hash,
    shown_keys,
    without_accents,
)
from hopweave.graph.storage.row_edges import RowEdges, WeightedRows
from hopweave.graph.storage.tables import ALIVE, HAS_TEXT, NAMED, PRESENT, GraphTables
from hopweave.language.stop_words import STOP_WORDS
from hopweave.language.words import normalise_name, word_key
from hopweave.storage.columns import Array

_NODES_KEPT = 50_000
_AT_ONCE = 500  # names that are looked up together
_SHARE = 0.1  # of the documents, that may have changed since a stationary distribution was computed


class TableGraph(RowEdges):
    """The graph that `GraphTables` hold at one moment, which implements `GraphPort`.

    Later changes of the tables do not change its edges. A node keeps its number for as long as the tables live; the
    number of a node that left the graph stays vacant: it has no kind and no edges, and is never found. The names and
    metadata of nodes are read from the tables when somebody asks.
    """

    truncated = False

    def __init__(self, tables: GraphTables, version: int = 0) -> None:
        self.version = version
        self.size = len(tables.nodes)
        self.edge_types = tuple(tables.edge_types)
        self.tables = tables
        self._rows, self._text = tables.rows.frozen(), tables.text.frozen()
        self._flags, self._kinds = tables.nodes["flags"].copy(), tables.nodes["kind"].copy()
        self._about = tables.nodes["about"] > 0
        self._passages = tables.nodes["passages"].copy()
        self._rarity = tables.rarity()
        self._cooccurrence = Cooccurrence(tables, self._passages)
        self._cache: dict[Hashable, Any] = {}
        self._nodes: dict[int, Node] = {}
        self._lock = threading.RLock()

    def __repr__(self) -> str:
        return f"TableGraph(size={self.size}, edges={self.edge_count}, version={self.version})"

    @property
    def edge_count(self) -> int:
        """The number of stored edges: one per source, target and type."""
        return len(self.all_edges().targets)

    @property
    def node_count(self) -> int:
        """The number of nodes, without vacant numbers."""
        return int((self._flags & PRESENT > 0).sum())

    # Edges

    def edge_rows(self) -> "TableGraph":
        """The graph itself: it reads the edges of single nodes from its tables."""
        return self

    def weighted(self, forward: Sequence[float], backward: Sequence[float]) -> Callable[[Indices], WeightedEdges]:
        """A function that returns the edges of nodes both ways, each weight times the factor of its type."""
        key = ("weighted rows", tuple(forward), tuple(backward))
        return self.cached(
            key, lambda: WeightedRows(self._rows, self._rarity, forward, backward, self.tables.weighed)
        ).edges

    def edge_counts(self, nodes: Indices) -> Indices:
        """How many edges each of these nodes has, both ways."""
        return self._rows.lengths[nodes]

    def _gather(self, nodes: Array) -> tuple[Array, Sequence[Array]]:
        return self._rows.gather(nodes)

    def _rarity_of(self, nodes: Array) -> Floats:
        return self._rarity[nodes]

    def all_edges(self) -> Neighbours:
        """The outgoing edges of all nodes; made when first asked for."""
        return self.cached("all edges", lambda: self.neighbours(np.arange(self.size)))

    # Nodes

    def nodes(self, indices: Indices) -> list[Node]:
        """What is known of these nodes."""
        numbers = np.asarray(indices).tolist()
        known = self._nodes if len(self._nodes) < _NODES_KEPT else {}
        if unknown := [number for number in numbers if number not in known]:
            known.update(zip(unknown, describe_all(self.tables, unknown), strict=True))
            self._nodes = known
        return [known[number] for number in numbers]

    @property
    def ids(self) -> tuple[str, ...]:
        """The id of every node, by number; empty for a vacant number."""
        return self.cached("ids", lambda: tuple(self._id(number) for number in range(self.size)))

    def find(self, ids: Iterable[str]) -> dict[str, int]:
        """The numbers of the nodes with these ids; ids that do not exist are left out."""
        wanted = list(ids)
        numbers = np.array(self.tables.node_keys.find_all(wanted), np.int64)
        present = (numbers >= 0) & (numbers < self.size)
        present[present] = self._flags[numbers[present]] & PRESENT > 0
        found = dict(zip(wanted, numbers.tolist(), strict=True))
        for place in (~present).nonzero()[0].tolist():
            found[wanted[place]] = self._find_name(wanted[place])
        return {id_: number for id_, number in found.items() if number >= 0}

    def lookup(self, keys: Iterable[str]) -> dict[str, tuple[int, ...]]:
        """The nodes whose names have these word keys (`word_key`), of whatever kind; unknown keys are left out."""
        hashes = self._name_hashes(keys)
        places, nodes = self.tables.names.find_many(np.array(list(hashes.values()), np.uint64))
        found: list[list[int]] = [[] for _ in hashes]
        for place, node in zip(places.tolist(), nodes.tolist(), strict=True):
            found[place].append(node)
        named = ((key, self._with_hash(nodes, hashes[key])) for key, nodes in zip(hashes, found, strict=True) if nodes)
        return {key: nodes for key, nodes in named if nodes}

    def nearest_names(
        self, spans: Sequence[Sequence[str]], min_similarity: float, shown: Shown | None = None
    ) -> list[tuple[tuple[int, ...], float] | None]:
        """For each span of casefolded words, the nodes with the most similar name, and the similarity in [0, 1]."""
        keys = None if shown is None else shown_keys(lambda found: map(self._named, found), shown)
        names = _TableNames(self)  # not kept: a graph that refers to itself stays until garbage is collected
        found = [names.nearest(words, threshold=min_similarity, shown=keys) for words in spans]
        return [None if nearest is None else (self._named(nearest[0]), nearest[1]) for nearest in found]

    def topic_share(self) -> float:
        """About how many of the passages say what they are about, judged by a sample."""
        return self.cached("topic share", lambda: topic_share(self, self.nodes_of_kind("passage")))

    def name_case(self, passages: Indices) -> NameCase:
        """How the names that lead from passage to passage are written, in the corpus and in these passages."""
        corpus, joined = self.cached("name case", lambda: corpus_case(self.tables, key_of_name))
        known: dict[int, list[int]] = self.cached("words of names", dict)
        here, leads = case_in(self.tables, self._rows, self._text, passages, key_of_name, known)
        return NameCase(corpus, here, joined, leads)

    def nodes_of_kind(self, kind: str) -> Mask:
        """One flag per node: whether it is of this kind. Read-only."""
        return self.cached(("nodes of kind", kind), lambda: self._of_kind(kind))

    def targets_of_type(self, edge_type: str) -> Mask:
        """One flag per node: whether an edge of this type leads to it. Read-only."""
        return self.cached(("targets of type", edge_type), lambda: self._targets_of_type(edge_type))

    def cooccurring(self, words: Iterable[str]) -> tuple[Indices, Floats]:
        """The nodes whose names occur next to forms of these casefolded words, each once, and how closely."""
        return self._cooccurrence.closeness(words)

    def expect_words(self, words: Iterable[str]) -> None:
        """There is nothing to prepare."""

    def statements(self) -> Statements:
        """Who states what, for tenants; made when first asked for."""
        return self.cached("statements", self._statements)

    # What is computed once

    def stationary_distribution_of(
        self, key: str, make: Callable[[], StationaryDistribution | None]
    ) -> StationaryDistribution | None:
        """What `make` returned under this key, for this version or one that differs by less than a tenth."""

        def find() -> list[StationaryDistribution | None]:
            found = self.tables.stationary.get(key)
            if found is None or self.tables.changes - found[0] > _SHARE * self.tables.documents:
                found = self.tables.stationary[key] = (self.tables.changes, make())
            stationary = found[1]
            later = (
                stationary is not None and len(stationary.probabilities) > self.size
            )  # made by a search of a later version
            return [None if stationary is None or later else stationary.resized(self._flags & PRESENT > 0)]

        return self.cached(("stationary distribution", key), find)[0]

    def cached(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """What `make` returns, computed once for this graph and then shared; treat it as read-only."""
        found = self._cache.get(key)
        if found is None:
            with self._lock:
                found = self._cache.get(key)
                if found is None:
                    found = self._cache[key] = make()
        return cast(Value, found)

    # Inside

    def _is_present(self, number: int) -> bool:
        return 0 <= number < self.size and bool(self._flags[number] & PRESENT)

    def _id(self, number: int) -> str:
        return self.nodes(np.array([number]))[0].id if self._is_present(number) else ""

    def _find_name(self, id_: str) -> int:
        """The number of the node whose name has the same word key as the name in this id; -1 if there is none."""
        kind, _, rest = id_.partition(":")
        if rest and not id_.startswith((passage_id(""), ADDRESS)) and rest == normalise_name(rest):
            number = self.tables.node_keys.get(f"{kind}:{word_key(rest)}")
            if self._is_present(number):
                return number
        return -1

    def _name_hashes(self, keys: Iterable[str]) -> dict[str, int]:
        """The hashes of those keys that may be names: some name begins with the first word and is as long."""
        word_number, longest_name = self.tables.word_strings.get, self.tables.words["longest"]
        left: dict[str, int] = {}  # how many words the longest name that begins like this has beyond these
        hashes: dict[str, int] = {}
        for key in keys:
            begun, _, last = key.rpartition(" ")
            if begun in left:
                left[key] = left[begun] - 1
            else:
                word = word_number(key.partition(" ")[0])
                left[key] = int(longest_name[word]) - 1 - key.count(" ") if word >= 0 else -1
            if left[key] >= 0:
                hashes[key] = longer_phrase(hashes[begun], last) if begun in hashes else phrase_hash(key)
        return hashes

    def _named(self, key: str) -> tuple[int, ...]:
        """The nodes with this word key, by their ids."""
        name_hash = phrase_hash(key)
        return self._with_hash(self.tables.names.find(name_hash), name_hash)

    def _with_hash(self, numbers: Iterable[int], name_hash: int) -> tuple[int, ...]:
        """Those nodes that are in the graph and whose name has this hash now, by their ids."""
        hashes = self.tables.nodes["name_hash"]
        found = [number for number in numbers if self._is_present(number) and int(hashes[number]) == name_hash]
        return tuple(found if len(found) < 2 else sorted(set(found), key=self.tables.node_keys.__getitem__))

    def _statements(self) -> Statements:
        edges, declared = self.tables.edges, self.tables.declared
        starts, ends, types, documents = (edges[name].astype(np.int64) for name in ("start", "end", "type", "document"))
        known = (edges["flags"] & ALIVE > 0) & (np.minimum(starts, ends) >= 0) & (types < len(self.edge_types))
        known &= np.maximum(np.maximum(starts, ends), documents) < self.size
        nodes, declared_by = declared["node"].astype(np.int64), declared["document"].astype(np.int64)
        present = (declared_by >= 0) & (np.maximum(nodes, declared_by) < self.size)
        stated = (starts[known], ends[known], types[known], documents[known])
        return Statements(self.size, *stated, nodes[present], declared_by[present])

    def _of_kind(self, kind: str) -> Mask:
        if kind not in self.tables.kinds:
            return np.zeros(self.size, np.bool_)
        return _read_only((self._kinds == self.tables.kinds.index(kind)) & (self._flags & PRESENT > 0))

    def _targets_of_type(self, edge_type: str) -> Mask:
        if edge_type not in self.edge_types:
            return _read_only(np.zeros(self.size, np.bool_))
        code = self.edge_types.index(edge_type)
        if edge_type == "about":  # mentions of this type are counted, so only stated edges have to be looked through
            found = self._about.copy()
            edges = self.tables.edges
            ends = edges["end"][(edges["type"] == code) & (edges["end"] >= 0) & (edges["weight"] > 0)]
            found[ends[ends < self.size]] = True
        else:
            found = np.zeros(self.size, np.bool_)
            whole = self.all_edges()
            found[whole.targets[whole.types == code]] = True
        return _read_only(found)


class _TableNames(SimilarNames):
    """The names of a graph's nodes, by their words."""

    def __init__(self, graph: TableGraph) -> None:
        self._graph, self._tables = graph, graph.tables

    def count(self) -> int:
        """How many names there are."""
        return self._tables.name_count

    def frequency(self, word: str) -> int:
        """How many names have this word; 0 for a stop word."""
        number = self._tables.word_strings.get(word)
        return 0 if number < 0 else int(self._tables.names_with.lengths.values[number])

    def keys_with(self, word: str) -> Iterable[str]:
        """The word keys of the names that have this word."""
        tables = self._tables
        nodes = tables.names_with.row(tables.word_strings.get(word))[0].tolist()
        for first in range(0, len(nodes), _AT_ONCE):  # not all at once, as the caller may have enough
            some = nodes[first : first + _AT_ONCE]
            yield from self._graph.lookup(key_of_name(tables, node) for node in some)

    def words_like(self, letter: str, length: int) -> Iterable[tuple[str, str]]:
        """Words of names without accents and as they are, by their first letter and length without accents."""
        words = [
            self._tables.word_strings[word] for word in self._tables.similar_words.find(bucket_hash(letter, length))
        ]
        return ((without_accents(word), word) for word in sorted(words) if word not in STOP_WORDS)


def _read_only(flags: Mask) -> Mask:
    flags.flags.writeable = False
    return flags


def describe(tables: GraphTables, number: int) -> Node:
    """The node with this number, from what documents declare of it, its name or its id."""
    return describe_all(tables, [number])[0]


def describe_all(tables: GraphTables, numbers: Sequence[int]) -> list[Node]:
    """The nodes with these numbers.

    Of several declared nodes with one id, one that has a name is kept, then one that has metadata, then the smallest.
    """
    documents, declared_at = tables.declared["document"], tables.declared_at.frozen(copy=False)
    described = []
    for number, plain in zip(numbers, _plain(tables, numbers), strict=True):
        found = [] if plain is None else [plain]
        if declared_at.lengths[number]:
            declared = declared_at.row(number)[0].tolist()
            found += [_declared(tables, one, plain) for one in declared if documents[one] >= 0]
        found = [node for node in found if node.name != node.document_id] or found
        if len(found) == 1:
            described.append(found[0])
        else:
            described.append(min(found, key=_order) if found else Node(tables.node_keys[number], "", ""))
    return described


def key_of_name(tables: GraphTables, node: int) -> str:
    """The word key of the name of a node."""
    if tables.nodes["flags"][node] & NAMED:
        return tables.node_keys[node][len(tables.kinds[tables.nodes["kind"][node]]) + 1 :]
    return word_key(describe(tables, node).name)


def _plain(tables: GraphTables, numbers: Sequence[int]) -> Iterator[Node | None]:
    """Nodes as their names or their documents make them."""
    spellings, kinds, documents, leads_to = (
        tables.nodes[name] for name in ("spelling", "kind", "document", "leads_to")
    )
    for number in numbers:
        if spellings[number] >= 0:
            yield Node.entity(tables.spelled(spellings[number]), tables.kinds[kinds[number]])
        elif documents[number] & HAS_TEXT:
            yield Node.passage(tables.node_keys[number].removeprefix(passage_id("")))
        elif leads_to[number] == number:
            yield Node(tables.node_keys[number], "address", _written(tables, number))
        else:
            yield None


def _written(tables: GraphTables, address: int) -> str:
    """The smallest of the ways in which an address is written."""
    found = set()
    for edge in tables.edges_at.row(address)[0].tolist():
        for end in ("source", "target"):
            text = int(tables.edges[f"{end}_text"][edge])
            if tables.edges["flags"][edge] & 1 and tables.edges[end][edge] == address and text >= 0:
                found.add(tables.texts[text].removeprefix(ADDRESS))
    return min(found, default=tables.node_keys[address].removeprefix(ADDRESS))


def _declared(tables: GraphTables, declared: int, plain: Node | None) -> Node:
    text = tables.texts[int(tables.declared["text"][declared])]
    content = json.loads(text) if text else [None, {}]
    if len(content) == 5:
        return Node(*content)
    if plain is None:
        spelling = tables.spelled(int(tables.declared["spelling"][declared]))
        return Node.entity(spelling, tables.kinds[tables.nodes["kind"][int(tables.declared["node"][declared])]])
    return Node(plain.id, plain.kind, plain.name, *content)


def _order(node: Node) -> tuple[bool, str, str, str, str]:
    metadata = repr(sorted(node.metadata.items())) if node.metadata else ""
    return not metadata, node.kind, node.name, node.document_id or "", metadata


FILE_NAME = r"\S\.[A-Za-z0-9]{1,5}$"
"""A regular expression for names that are those of files, which no other text mentions."""

MAX_SHARED, MIN_SHARED = 0.1, 4
"""A topic that more than this share of the passages have, and more than so many, does not tell them apart."""

_SAMPLED = 256


def topic_share(graph: TableGraph, passages: Mask) -> float:
    """About how many of the passages are about something that few others are about, judged by a sample.

    A title that all documents share says as little as none, and so does the name of a file.
    """
    numbers = np.flatnonzero(passages)
    sample = numbers[:: max(1, len(numbers) // _SAMPLED)]
    if not len(sample) or "about" not in graph.edge_types:
        return 0.0
    edges = graph.neighbours(sample, "out")
    is_about = edges.types == graph.edge_types.index("about")
    owners = np.repeat(np.arange(len(sample)), np.diff(edges.offsets))[is_about]
    topics, places, counts = np.unique(edges.targets[is_about], return_inverse=True, return_counts=True)
    is_file = np.array([re.search(FILE_NAME, node.name) is not None for node in graph.nodes(topics)], np.bool_)
    tells = (counts <= max(MAX_SHARED * len(sample), MIN_SHARED)) & ~is_file
    return len(np.unique(owners[tells[places]])) / len(sample)
