"""What a graph is made of: nodes, typed edges, and what each document contributes.

A passage node stands for a document and carries its id; any other node has an id made from its kind and its
normalised name, so that the same name in two documents is the same node.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, NamedTuple

from hopweave.language.words import normalise_name

EDGE_TYPE_WEIGHTS: Mapping[str, float] = MappingProxyType(
    {
        "implements": 1.0,
        "provides": 1.0,
        "enables": 0.9,
        "used_for": 0.9,
        "depends_on": 0.8,
        "requires": 0.8,
        "feeds_into": 0.8,
        "followed_by": 0.7,
        "part_of": 0.7,
        "similar_to": 0.6,
        "complements": 0.6,
        "relates_to": 0.5,
        "has_workaround": 0.4,
        "alternative_to": 0.4,
        "has_limitation": 0.3,
    }
)
"""How far an edge of each type carries; a type that is not listed carries `UNKNOWN_EDGE_TYPE_WEIGHT`."""

UNKNOWN_EDGE_TYPE_WEIGHT = 0.5


def passage_id(document_id: str) -> str:
    """The id of the node of a document.

    >>> passage_id("doc-1")
    'passage:doc-1'
    """
    return f"passage:{document_id}"


@dataclass(frozen=True, slots=True)
class Node:
    """A thing the graph knows. Passages carry the id of their document.

    >>> Node.entity("MV Skua").id
    'entity:mv skua'
    >>> Node.passage("doc-1", "Timetable").document_id
    'doc-1'
    """

    id: str
    kind: str
    name: str
    document_id: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @classmethod
    def passage(cls, document_id: str, name: str = "") -> "Node":
        """The node of a document."""
        return cls(passage_id(document_id), "passage", name or document_id, document_id)

    @classmethod
    def entity(cls, name: str, kind: str = "entity") -> "Node":
        """The node of a name; two spellings that normalise alike are one node."""
        return cls(f"{kind}:{normalise_name(name)}", kind, " ".join(name.split()))


@dataclass(frozen=True, slots=True)
class Edge:
    """A typed, weighted, directed connection between two node ids.

    >>> Edge("passage:doc-1", "entity:mv skua", "mentions").weight
    1.0
    """

    source: str
    target: str
    type: str = "relates_to"
    weight: float = 1.0
    label: str = ""
    """How the relation was written, where that differs from its type."""


class Mention(NamedTuple):
    """A thing that a document names. What comes of it is decided over all documents together when
    documents are written (`graph/build/changes.py`).

    It becomes an edge of this `type` from the passage to the node of that `kind` and name; the type "about" says
    that the passage is about the thing. A mention that is not `sure` may be an ordinary word (the capital at the
    start of a sentence): it counts only if another document vouches for the name.

    >>> Mention("MV Skua", "about", 2.0).is_about
    True
    """

    name: str
    type: str = "mentions"
    weight: float = 1.0
    kind: str = "entity"
    sure: bool = True

    @property
    def is_about(self) -> bool:
        """Whether the passage is about what it names here."""
        return self.type == "about"


@dataclass(frozen=True, slots=True)
class Contribution:
    """Everything one document adds to the graph, and takes with it when it is deleted.

    `nodes` and `edges` are stated outright; an edge to a node that nobody contributes waits until somebody does.
    `mentions` are things the document names. `words` is its text, one space between words, in which the things
    that other documents are about are looked for. `addresses` are what others may call this document (a title, a
    path, a URL): an edge to `ADDRESS + address` leads to it.

    >>> Contribution("d1", nodes=(Node.passage("d1"),)).mentions
    ()
    """

    document_id: str
    nodes: tuple[Node, ...] = ()
    edges: tuple[Edge, ...] = ()
    mentions: tuple[Mention, ...] = ()
    words: str = ""
    addresses: tuple[str, ...] = ()


IMPORTED = "property_graph:"
"""What the id of a contribution starts with that another tool made from the document named after it."""


def as_imported(contribution: Contribution) -> Contribution:
    """A contribution of another tool, which is kept beside what the document of its id contributes itself.

    >>> as_imported(Contribution("d")).document_id
    'property_graph:d'
    """
    if contribution.document_id.startswith(IMPORTED):
        return contribution
    return replace(contribution, document_id=IMPORTED + contribution.document_id)


ADDRESS = "address:"
"""What the target of an edge starts with when it is not a node id but what some document is called."""
