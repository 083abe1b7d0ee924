"""networkx graphs in and out."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from hopweave.extras import of_extra
from hopweave.graph.model import Contribution, Edge, Node

if TYPE_CHECKING:
    import networkx as nx


def from_networkx(graph: "nx.Graph", document_id: str = "networkx") -> Contribution:
    """A networkx graph as one contribution under one id: contribute it again to replace it, delete the id to remove it.

    Node attributes: `document_id` makes a node the passage of that document; else `kind` (entity) and `name` (the
    node itself) make the node of that kind and name. Edge attributes: `type` (relates_to), `weight` (1) and `label`.
    The edges of an undirected graph lead both ways. Other attributes of a node become its metadata.

    >>> import networkx
    >>> graph = networkx.DiGraph()
    >>> graph.add_edge("MV Skua", "Harris", type="sails_to")
    >>> from_networkx(graph).edges
    (Edge(source='entity:mv skua', target='entity:harris', type='sails_to', weight=1.0, label=''),)
    """
    nodes = {node: _node(node, attributes) for node, attributes in graph.nodes(data=True)}
    edges: list[Edge] = []
    for source, target, attributes in graph.edges(data=True):
        ends = [(source, target)] if graph.is_directed() or source == target else [(source, target), (target, source)]
        for one, other in ends:
            edges.append(
                Edge(
                    nodes[one].id,
                    nodes[other].id,
                    str(attributes.get("type", "relates_to")),
                    float(attributes.get("weight", 1.0)),
                    str(attributes.get("label", "")),
                )
            )
    return Contribution(document_id, tuple(nodes.values()), tuple(edges))


def _node(node: Any, attributes: dict[str, Any]) -> Node:
    known = ("kind", "name", "document_id")
    metadata = {key: value for key, value in sorted(attributes.items()) if key not in known}
    name = str(attributes.get("name", node))
    if attributes.get("document_id") is not None:
        document_id = str(attributes["document_id"])
        return Node(Node.passage(document_id).id, "passage", name, document_id, metadata)
    entity = Node.entity(name, str(attributes.get("kind", "entity")))
    return Node(entity.id, entity.kind, entity.name, None, metadata)


def to_networkx(nodes: Iterable[Node], edges: Iterable[Edge]) -> "nx.MultiDiGraph":
    """Nodes and edges as a networkx multigraph, from which `from_networkx` makes them again.

    Needs the extra `hopweave[networkx]`.

    >>> graph = to_networkx([Node.passage("d", "Skua"), Node.entity("Harris")], [Edge("passage:d", "entity:harris")])
    >>> graph.nodes["passage:d"]
    {'kind': 'passage', 'name': 'Skua', 'document_id': 'd'}
    """
    graph: nx.MultiDiGraph = of_extra("networkx", "networkx").MultiDiGraph()
    for node in nodes:
        place = {"document_id": node.document_id} if node.document_id is not None else {}
        graph.add_node(node.id, **node.metadata, kind=node.kind, name=node.name, **place)
    for edge in edges:
        label = {"label": edge.label} if edge.label else {}
        graph.add_edge(edge.source, edge.target, type=edge.type, weight=edge.weight, **label)
    return graph
