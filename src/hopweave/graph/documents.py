"""Documents as nodes of a graph: where sources that walk it get their graph, and what they may see of it."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any, Protocol, TypeGuard

import numpy as np

from hopweave.component import Knowledge
from hopweave.errors import HopweaveError
from hopweave.graph.csr import Graph
from hopweave.graph.model import passage_id
from hopweave.graph.port import GraphPort
from hopweave.graph.terms import Mask
from hopweave.query import Query


class KnowsGraph(Protocol):
    """A place where documents live that also has a graph of them."""

    @property
    def graph(self) -> GraphPort:
        """The graph as it is now."""
        ...

    def visible(self, tenant: Mapping[str, Any]) -> Collection[str]:
        """The ids of the documents that a tenant may see."""
        ...


def knows_graph(knowledge: object) -> TypeGuard[KnowsGraph]:
    """Whether a place has a graph of its documents; asking does not read the graph, as `isinstance` would.

    >>> knows_graph("a text")
    False
    """
    return hasattr(knowledge, "visible")


def graph_of(knowledge: Knowledge, kind: str) -> KnowsGraph:
    """The same place, if it has a graph; else an error that names the source that needs one."""
    if not knows_graph(knowledge):
        raise HopweaveError(f"{kind} needs a knowledge base with a graph")
    return knowledge


def passage_numbers(graph: GraphPort, documents: Iterable[str]) -> dict[str, int]:
    """The nodes of documents, by document id; those without a node are left out.

    >>> from hopweave.graph.model import Node
    >>> passage_numbers(Graph.build([Node.passage("d")], []), ["d", "lost"])
    {'d': 0}
    """
    ids = {passage_id(key): key for key in documents}
    return {ids[node]: number for node, number in graph.find(ids).items()}


def of_kind(graph: GraphPort, kind: str) -> Mask | None:
    """One flag per node; None for a graph that does not live in memory.

    >>> from hopweave.graph.model import Node
    >>> of_kind(Graph.build([Node.entity("Skua"), Node.passage("d")], []), "passage").tolist()
    [False, True]
    """
    if not isinstance(graph, Graph):
        return None
    flags: Mask = graph.cached(f"of kind {kind}", lambda: np.asarray(graph.kinds == kind))
    return flags


def allowed_nodes(query: Query, there: KnowsGraph, graph: GraphPort) -> Mask | None:
    """Which nodes may be walked for a question: a tenant's passages and everything that is no passage."""
    if query.tenant is None:
        return None
    passages = of_kind(graph, "passage")
    if passages is None:
        raise HopweaveError("a tenant's view needs a graph in memory")
    allowed = ~passages
    allowed[list(passage_numbers(graph, there.visible(query.tenant)).values())] = True
    return allowed
