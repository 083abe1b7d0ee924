"""What graph algorithms may ask of a graph, wherever it lives.

Nodes are dense integers from 0 to `size - 1` for one `version` of the graph, so that scores fit into flat arrays.
Every question is about many nodes at once: a graph in a database answers each call with one query.
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from hopweave.graph.model import Node

if TYPE_CHECKING:
    from hopweave.graph.storage.row_edges import RowEdges

if TYPE_CHECKING:
    from hopweave.graph.storage.name_case import NameCase

Direction = Literal["out", "in", "both"]
"""Which edges of a node count: those that leave it, those that arrive, or all of them.

With "both", a self loop counts once.
"""

Indices = npt.NDArray[np.integer]
Floats = npt.NDArray[np.floating]
Mask = npt.NDArray[np.bool_]
"""One flag per node."""

Shown = Callable[[Indices], Mask]
"""Numbers of nodes in, one flag for each out: whether it may be shown."""

Value = TypeVar("Value")


class NodeFlags(Protocol):
    """Flags of nodes, read as `flags[nodes]`: an array with one flag per node, or something that looks them up."""

    def __getitem__(self, nodes: Indices, /) -> Mask:
        """One flag for each of these nodes."""
        ...


class NodeValues(Protocol):
    """Numbers of nodes, read as `values[nodes]`: an array with one number per node, or something that computes them."""

    def __getitem__(self, nodes: Indices, /) -> Floats:
        """One number for each of these nodes."""
        ...


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The edges of several nodes, end to end.

    The edges of the i-th node asked for are the positions `offsets[i]` to `offsets[i + 1]` of the other arrays.
    Each edge has the node at its other end, its weight, the code of its type (a position in the port's
    `edge_types`), and the degree of the node at its other end, for thresholds: the sum of the stored weights of its
    edges in the same direction, or how many edges it has.
    """

    offsets: Indices
    targets: Indices
    weights: Floats
    types: Indices
    degrees: Floats


class WeightedEdges(NamedTuple):
    """The edges of several nodes, end to end: where those of each node start, how many it has, and these.

    An edge has the node at its other end and a weight. Unless they are `distinct`, a node may have parallel edges.
    """

    starts: Indices
    counts: Indices
    targets: Indices
    weights: Floats
    distinct: bool


@dataclass(frozen=True, slots=True)
class StationaryDistribution:
    """The limit of a random walk without restarts, within each connected component.

    Node i lies in component `components[i]`. If `converges[i]`, a walk from node i converges to `probabilities`, which
    sum to 1 in each component. The most probable nodes of component c, best first, are
    `top_nodes[top_offsets[c]:top_offsets[c + 1]]`.

    >>> components = np.array([0, 0, 1])
    >>> stationary = StationaryDistribution.of(np.array([0.25, 0.75, 1.0]), components, components == 0)
    >>> stationary.top_nodes.tolist(), stationary.top_offsets.tolist()
    ([1, 0, 2], [0, 2, 3])
    """

    probabilities: Floats
    components: Indices
    converges: Mask
    top_nodes: Indices
    top_offsets: Indices

    @classmethod
    def of(
        cls, probabilities: Floats, components: Indices, converges: Mask, top_per_component: int = 512
    ) -> "StationaryDistribution":
        """A distribution with its most probable nodes computed."""
        count = int(components.max(initial=-1)) + 1
        nodes = np.flatnonzero(probabilities > 0)
        nodes = nodes[np.lexsort((nodes, -probabilities[nodes], components[nodes]))]
        sizes = np.bincount(components[nodes], minlength=count)
        rank = np.arange(len(nodes)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        offsets = np.zeros(count + 1, np.int64)
        np.cumsum(np.minimum(sizes, top_per_component), out=offsets[1:])
        return cls(probabilities, components, converges, nodes[rank < top_per_component], offsets)

    def resized(self, present: Mask) -> "StationaryDistribution":
        """The same for a later version of the graph: new nodes and those that are gone have probability 0."""
        added = len(present) - len(self.probabilities)
        probabilities = np.where(present, np.append(self.probabilities, np.zeros(added)), 0.0)
        return StationaryDistribution(
            probabilities,
            np.append(self.components, np.zeros(added, self.components.dtype)),
            np.append(self.converges, np.zeros(added, np.bool_)) & present,
            self.top_nodes,
            self.top_offsets,
        )


class AllInMemory:
    """What walks ask of edges besides them; here for edges in memory, for a server to override."""

    read_ahead: float = 0.0
    """Read a node ahead once its residual reaches this share of the push threshold; 0 turns reading ahead off."""

    def expect(self, nodes: Indices) -> None:
        """Say which nodes may be asked for soon; they are read along with the next that are needed."""

    def is_read(self, nodes: Indices) -> Mask:
        """Which of these nodes can be asked for without a round trip."""
        return np.ones(len(nodes), np.bool_)


class Statements:
    """Who states what: the documents, as the numbers of their passages, behind explicit edges and nodes.

    -1 stands for a contribution that belongs to no document.

    Mentions are no statements: an edge to something that a passage names belongs to the passage.

    >>> stated = Statements(4, *(np.array(one) for one in ([0, 0], [2, 2], [1, 1], [0, 3], [2], [3])))
    >>> stated.documents_of_edges(np.array([1, 0]), np.array([2, 2]), np.array([1, 1]))
    (array([1, 1]), array([0, 3]))
    >>> stated.documents_of_nodes(np.array([2, 1]))
    (array([0]), array([3]))
    """

    def __init__(
        self,
        size: int,
        sources: Indices,
        targets: Indices,
        types: Indices,
        edge_documents: Indices,
        declared: Indices,
        declared_documents: Indices,
    ) -> None:
        """Edges by their ends and type, and the document of each; declared nodes, and the document of each."""
        self._size, self._kinds = size, int(types.max(initial=0)) + 1
        self._edges = _Sorted(self._keys(sources, targets, types), edge_documents)
        self._nodes = _Sorted(declared, declared_documents)

    def documents_of_edges(self, sources: Indices, targets: Indices, types: Indices) -> tuple[Indices, Indices]:
        """Which of these edges a document states, and that document; an edge comes once for each of its documents."""
        keys = np.where(types < self._kinds, self._keys(sources, targets, types), -1)
        return self._edges.find(keys)

    def documents_of_nodes(self, nodes: Indices) -> tuple[Indices, Indices]:
        """Which of these nodes a document declares, and that document; a node comes once for each of its documents."""
        return self._nodes.find(nodes)

    def _keys(self, sources: Indices, targets: Indices, types: Indices) -> Indices:
        ends: Indices = sources.astype(np.int64) * self._size + targets
        return ends * self._kinds + types


class _Sorted:
    """Values by key, several to a key."""

    def __init__(self, keys: Indices, values: Indices) -> None:
        order = np.lexsort((values, keys))
        self._keys, self._values = keys[order], values[order].astype(np.int64)

    def find(self, keys: Indices) -> tuple[Indices, Indices]:
        """The positions of keys that have values, once per value, and the values."""
        first, last = (np.searchsorted(self._keys, keys, side) for side in ("left", "right"))
        counts = last - first
        positions = np.repeat(first - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())
        return np.repeat(np.arange(len(keys)), counts), self._values[positions]


class GraphPort(Protocol):
    """A read-only graph at one version.

    A number may be vacant: it belonged to a node that is gone. Such a node has no edges and is never found.

    Weights are as stored: algorithms apply the weights of edge types themselves.

    A graph on a server may have two more attributes, which are asked for with `getattr`: `read_with` is a `RowEdges`
    or None, told which nodes to read along with others where edges are read by `neighbours`; `tenant_states` is what it
    has found out about what the tenant may see for whom it was asked (`hopweave.graph.tenant_view.States`), or None.
    """

    @property
    def version(self) -> int:
        """Grows with every write; equal versions mean equal contents and equal node numbers."""
        ...

    @property
    def size(self) -> int:
        """The number of nodes."""
        ...

    @property
    def edge_types(self) -> Sequence[str]:
        """The names of edge types; an edge's type code is a position in this list."""
        ...

    def neighbours(self, nodes: Indices, direction: Direction = "out") -> Neighbours:
        """The edges of these nodes, in the order asked for; within a node ordered by target, then type."""
        ...

    def nodes(self, indices: Indices) -> list[Node]:
        """What is known of these nodes: id, kind, name, document id."""
        ...

    def find(self, ids: Iterable[str]) -> dict[str, int]:
        """The numbers of the nodes with these ids; ids that do not exist are left out."""
        ...

    def lookup(self, keys: Iterable[str]) -> dict[str, tuple[int, ...]]:
        """The nodes whose names have these word keys (`word_key`), of whatever kind; unknown keys are left out."""
        ...

    def nearest_names(
        self, spans: Sequence[Sequence[str]], min_similarity: float, shown: Shown | None = None
    ) -> list[tuple[tuple[int, ...], float] | None]:
        """For each span of casefolded words, the nodes with the most similar name, and the similarity in [0, 1].

        None if no name is as similar as `min_similarity`, or if this graph compares names only exactly. With `shown`,
        a name none of whose nodes may be shown is treated as if it did not exist.
        """
        ...

    def nodes_of_kind(self, kind: str) -> NodeFlags:
        """Which nodes are of this kind. Read-only."""
        ...

    def targets_of_type(self, edge_type: str) -> NodeFlags:
        """To which nodes an edge of this type leads. Read-only."""
        ...

    def topic_share(self) -> float:
        """About how many of the passages say what they are about, by a title or in their first words, in [0, 1]."""
        ...

    def name_case(self, passages: Indices) -> "NameCase | None":
        """How the names that lead from passage to passage are written, here and in the corpus; None if not known."""
        ...

    def cooccurring(self, words: Iterable[str]) -> tuple[Indices, Floats]:
        """The nodes whose names occur next to forms of these casefolded words, each once, and how closely, in [0, 1].

        None of them in a graph that was not made from texts. Of words that are next to very many names, a graph on a
        server gives the nodes that it has come to: ask again when more of it has been read.
        """
        ...

    def expect_words(self, words: Iterable[str]) -> None:
        """Say for which words `cooccurring` will be asked, so that a server can be asked for them along with others."""
        ...

    def statements(self) -> Statements | None:
        """Who states what, for tenants; None if it is not known: then an edge belongs to the passages at its ends."""
        ...

    def all_edges(self) -> Neighbours | None:
        """The outgoing edges of all nodes; None if this graph does not lie in memory, or is a view of a part."""
        ...

    def edge_rows(self) -> "RowEdges | None":
        """The edges as a random walk reads them; None if it has to read them by `neighbours`."""
        ...

    @property
    def truncated(self) -> bool:
        """Whether something was left out of an answer: a node has too many edges, or a server took too long."""
        ...

    def cached(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """What `make` returns, computed once for this version of the graph and then shared; treat it as read-only."""
        ...
