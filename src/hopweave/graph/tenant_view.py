"""What a tenant may see of a graph: what follows from the documents that it may see, and nothing else."""

from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from hopweave.graph.model import IMPORTED, Node, passage_id
from hopweave.graph.port import (
    Direction,
    GraphPort,
    Indices,
    Mask,
    Neighbours,
    Shown,
    Statements,
    Value,
)

Visible = Callable[[Sequence[str]], Collection[str]]
"""Ids of documents in, those that the tenant may see out."""

States = npt.NDArray[np.uint8]
"""One number per node: not known yet, shown or hidden."""

UNKNOWN, SHOWN, HIDDEN = 0, 1, 2
_HIDDEN_NODE = Node("", "", "")
_PASSAGE = passage_id("")


class TenantView:
    """A graph as one tenant may see it, for one question. It implements `GraphPort`.

    A passage is visible if its document is. An edge is visible if the passages at its ends are, and a visible document
    says it: the passage at its end, or one that states it outright. Any other node is visible if one of its edges is,
    or if a visible document declares it. What is not visible cannot be found, named, linked or walked through.

    Visibility is asked for the passages that are reached, each once. Numbers that describe the whole corpus are shared:
    the weights of edges, the rarity of names, co-occurrence, and the degrees of nodes.

    >>> from hopweave.graph.model import Edge
    >>> from hopweave.testing.graphs import graph_from_edges
    >>> nodes = [Node.passage("a"), Node.passage("b"), Node.entity("Skua"), Node.entity("Falk")]
    >>> edges = [("a", "skua"), ("b", "skua"), ("b", "falk")]
    >>> graph = graph_from_edges(nodes, [Edge(f"passage:{one}", f"entity:{other}", "mentions") for one, other in edges])
    >>> view = TenantView(graph, lambda ids: {"a"}.intersection(ids))
    >>> sorted(view.lookup(["skua", "falk"])), sorted(view.find(["passage:a", "passage:b"]))
    (['skua'], ['passage:a'])
    """

    def __init__(self, graph: GraphPort, visible: Visible, known: States | None = None) -> None:
        """`known` is what an earlier view of the same graph and tenant has found out; it is added to."""
        self.version, self.size, self.edge_types = graph.version, graph.size, graph.edge_types
        self._graph, self._visible = graph, visible
        # these are of the whole graph, visible or not
        self.nodes_of_kind, self.targets_of_type = graph.nodes_of_kind, graph.targets_of_type
        self.topic_share, self.cooccurring, self.expect_words = graph.topic_share, graph.cooccurring, graph.expect_words
        self.name_case = graph.name_case
        self._passages = graph.nodes_of_kind("passage")
        self._statements = graph.statements()
        self._state = np.zeros(self.size, np.uint8) if known is None else known
        self.read_with = graph.edge_rows()
        """What can be told to read nodes along with others, where edges are read from a server."""
        self._cache: dict[Hashable, Any] = {}

    def shown(self, nodes: Indices) -> Mask:
        """Which of these nodes are visible."""
        nodes = np.asarray(nodes, np.int64)
        self._ask(nodes[self._passages[nodes]])
        unknown = np.unique(nodes[self._state[nodes] == UNKNOWN])
        if len(unknown):
            self._settle_declared(unknown)
            directions: tuple[Direction, ...] = ("out", "in")
            for direction in directions:  # the ends of visible edges are noted as visible
                self.neighbours(unknown[self._state[unknown] == UNKNOWN], direction)
            self._state[unknown[self._state[unknown] == UNKNOWN]] = HIDDEN
        return np.asarray(self._state[nodes] == SHOWN)

    def neighbours(self, nodes: Indices, direction: Direction = "out") -> Neighbours:
        """The visible edges of these nodes, in the order asked for; within a node ordered by target, then type."""
        nodes = np.asarray(nodes, np.int64)
        if direction == "both":
            return _both_ways(nodes, self.neighbours(nodes, "out"), self.neighbours(nodes, "in"))
        found = self._graph.neighbours(nodes, direction)
        places = np.repeat(np.arange(len(nodes)), np.diff(found.offsets))
        owners, others = nodes[places], found.targets.astype(np.int64)
        sources, targets = (owners, others) if direction == "out" else (others, owners)
        kept = np.flatnonzero(self._edges_shown(sources, targets, found.types))
        self._state[owners[kept]] = SHOWN
        self._state[others[kept]] = SHOWN
        return _selected(found, places, kept, len(nodes))

    def nodes(self, indices: Indices) -> list[Node]:
        """What is known of these nodes; what others say of a shared node besides its name is left out."""
        shown = self.shown(indices).tolist()
        found = zip(self._graph.nodes(indices), shown, strict=True)
        return [
            _HIDDEN_NODE
            if not visible
            else node
            if node.kind == "passage"
            else replace(node, document_id=None, metadata={})
            for node, visible in found
        ]

    def find(self, ids: Iterable[str]) -> dict[str, int]:
        """The numbers of the visible nodes with these ids; the others are left out."""
        found = self._graph.find(ids)
        shown = self.shown(np.array(list(found.values()), np.int64)).tolist()
        return {id_: number for (id_, number), visible in zip(found.items(), shown, strict=True) if visible}

    def lookup(self, keys: Iterable[str]) -> dict[str, tuple[int, ...]]:
        """The visible nodes whose names have these word keys; the others are left out."""
        found = self._graph.lookup(keys)
        self.shown(np.array([node for nodes in found.values() for node in nodes], np.int64))  # all with one call
        visible = {key: self._only_shown(nodes) for key, nodes in found.items()}
        return {key: nodes for key, nodes in visible.items() if nodes}

    def nearest_names(
        self, spans: Sequence[Sequence[str]], min_similarity: float, shown: Shown | None = None
    ) -> list[tuple[tuple[int, ...], float] | None]:
        """For each span of casefolded words, the visible nodes with the most similar name, and the similarity."""
        allowed = self.shown if shown is None else lambda nodes: self.shown(nodes) & shown(nodes)
        found = self._graph.nearest_names(spans, min_similarity, allowed)
        return [None if nearest is None else (self._only_shown(nearest[0]), nearest[1]) for nearest in found]

    @property
    def truncated(self) -> bool:
        """Whether something was left out of an answer: a node has too many edges, or a server took too long."""
        return self._graph.truncated

    def statements(self) -> Statements | None:
        """None: contributors are not revealed."""
        return None

    def all_edges(self) -> None:
        """None: edges are read for the nodes that are reached."""

    def edge_rows(self) -> None:
        """None: edges are read through `neighbours`."""

    def cached(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """What `make` returns, computed once for this view."""
        if key not in self._cache:
            self._cache[key] = make()
        return cast(Value, self._cache[key])

    def _only_shown(self, nodes: Sequence[int]) -> tuple[int, ...]:
        shown = self.shown(np.array(nodes, np.int64)).tolist()
        return tuple(node for node, visible in zip(nodes, shown, strict=True) if visible)

    def _shown(self, node: Node) -> Node:
        return node if node.kind == "passage" else replace(node, document_id=None, metadata={})

    def _ask(self, documents: Indices) -> None:
        """Find out which of these documents, given as the numbers of their passages, are visible."""
        unknown = np.unique(documents[self._state[documents] == UNKNOWN])
        if len(unknown):
            ids = [_document_id(node) for node in self._graph.nodes(unknown)]
            visible = set(self._visible([id_ for id_ in ids if id_ is not None]))
            self._state[unknown] = [SHOWN if id_ in visible else HIDDEN for id_ in ids]

    def _edges_shown(self, sources: Indices, targets: Indices, types: Indices) -> Mask:
        ends_passages = [self._passages[ends] for ends in (sources, targets)]
        passages = [ends[is_passage] for ends, is_passage in zip((sources, targets), ends_passages, strict=True)]
        self._ask(np.concatenate(passages))
        shown: Mask = ends_passages[0] | ends_passages[1]
        if self._statements is not None:
            shown = self._stated(self._statements, sources, targets, types, shown)
        for ends, is_passage in zip((sources, targets), ends_passages, strict=True):
            shown &= ~is_passage | (self._state[ends] == SHOWN)
        return shown

    def _stated(
        self, statements: Statements, sources: Indices, targets: Indices, types: Indices, otherwise: Mask
    ) -> Mask:
        """Which edges a visible document states; `otherwise` for edges that nobody states."""
        places, documents = statements.documents_of_edges(sources, targets, types)
        shown = otherwise.copy()
        shown[places] = False
        shown[places[self._visible_documents(documents)]] = True
        return shown

    def _settle_declared(self, nodes: Indices) -> None:
        if self._statements is not None:
            places, documents = self._statements.documents_of_nodes(nodes)
            self._state[nodes[places[self._visible_documents(documents)]]] = SHOWN

    def _visible_documents(self, documents: Indices) -> Mask:
        """Which of these documents are visible; -1 stands for none."""
        self._ask(documents[documents >= 0])
        return np.asarray((documents >= 0) & (self._state[documents] == SHOWN))


def _document_id(node: Node) -> str | None:
    if node.document_id is not None:
        return node.document_id
    # what states edges need not be a node
    return node.id.removeprefix(_PASSAGE).removeprefix(IMPORTED) if node.id.startswith(_PASSAGE) else None


def _selected(found: Neighbours, places: Indices, kept: Indices, count: int) -> Neighbours:
    """Some of the edges that were found; `places` are the positions of their nodes among those asked for."""
    offsets = np.zeros(count + 1, np.int64)
    np.cumsum(np.bincount(places[kept], minlength=count), out=offsets[1:])
    return Neighbours(offsets, found.targets[kept], found.weights[kept], found.types[kept], found.degrees[kept])


def _both_ways(nodes: Indices, leaving: Neighbours, arriving: Neighbours) -> Neighbours:
    """The edges in both directions; a self loop counts once."""
    places = [np.repeat(np.arange(len(nodes)), np.diff(one.offsets)) for one in (leaving, arriving)]
    once = arriving.targets != nodes[places[1]]
    place = np.concatenate([places[0], places[1][once]])
    together = Neighbours(
        np.empty(0, np.int64),
        *(
            np.concatenate([getattr(leaving, name), getattr(arriving, name)[once]])
            for name in ("targets", "weights", "types", "degrees")
        ),
    )
    return _selected(together, place, np.lexsort((together.types, together.targets, place)), len(nodes))
