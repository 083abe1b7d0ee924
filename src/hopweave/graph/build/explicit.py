"""Nodes and edges that documents state outright, and where the ends of such edges lead.

An edge names its ends by id. An id leads to the node that has it; one of the form `kind:name` also to the name in any
spelling; and `address:…` to the document with that id, or the only one that has this address (a title, a path, a
URL). An address that several documents share, or that no document has but at least two nodes refer to, is a node of
its own. An edge with an end that leads nowhere waits until there is a node.
"""

import json

import numpy as np

from hopweave.graph.build.mentions import stated_mentions
from hopweave.graph.model import ADDRESS, Contribution, Edge, Node, passage_id
from hopweave.graph.storage.tables import ALIVE, CLAIM, NAMED, PRESENT, GraphTables
from hopweave.language.words import normalise_name, word_key
from hopweave.storage.columns import Array, Numbers, distinct

LOCATED_AT = "located_at"
"""The type of the edge from a document to an address that it shares with others."""

_PASSAGE = passage_id("")


def goes_by_name(node: Node) -> bool:
    """Whether a node goes by its kind and name, so that spellings of the name are one node.

    >>> goes_by_name(Node.entity("MV Skua")), goes_by_name(Node("n7", "entity", "MV Skua"))
    (True, False)
    """
    return node.kind != "passage" and node.id == f"{node.kind}:{normalise_name(node.name)}"


def anchor(tables: GraphTables, id_: str) -> int:
    """The node at which an edge end with this id waits: that of the name, of the address, or of the id itself."""
    kind, colon, rest = id_.partition(":")
    if id_.startswith(ADDRESS):
        return tables.node_number(ADDRESS + normalise_name(rest), "address")
    if colon and kind and rest and not id_.startswith(_PASSAGE) and rest == normalise_name(rest):
        return tables.name_node(kind, rest)
    return tables.node_number(id_, "passage" if id_.startswith(_PASSAGE) else "")


class StatedParts:
    """The edges, addresses and nodes of several contributions, collected to be added together."""

    def __init__(self, tables: GraphTables) -> None:
        self._tables = tables
        self._edges: list[tuple[int, int, int, int, int, int, float, int, int]] = []
        self._nodes: list[tuple[int, int, int, int]] = []

    def read(self, document: int, contribution: Contribution) -> None:
        """Number what one document states; new nodes have columns after `settle`."""
        for edge in contribution.edges:
            self._edges.append(self._edge(document, edge))
        for address in dict.fromkeys(map(normalise_name, contribution.addresses)):
            node = self._tables.node_number(ADDRESS + address, "address")
            code = self._tables.type_code(LOCATED_AT)
            self._edges.append((document, document, node, -1, -1, code, 1.0, -1, ALIVE | CLAIM))
        for one in contribution.nodes:
            spelling = -1
            if goes_by_name(one):
                number = self._tables.name_node(one.kind, one.name)
                spelling = self._tables.spelling_number(one.kind, one.name)
                payload = json.dumps([one.document_id, dict(one.metadata)]) if one.document_id or one.metadata else ""
            else:
                number = self._node_with_id(one)
                payload = json.dumps([one.id, one.kind, one.name, one.document_id, dict(one.metadata)])
            self._nodes.append((number, document, self._tables.texts.add(payload), spelling))

    def add(self) -> tuple[Numbers, Numbers]:
        """Add everything to the tables; the numbers of the edges, and of the nodes that were declared."""
        tables = self._tables
        edges = np.empty(0, np.int64)
        if self._edges:
            columns = [np.array(column) for column in zip(*self._edges, strict=True)]
            names = ("document", "source", "target", "source_text", "target_text", "type", "weight", "label", "flags")
            minus = np.full(len(self._edges), -1)
            first = tables.edges.append(
                len(self._edges), start=minus, end=minus, **dict(zip(names, columns, strict=True))
            )
            edges = first + np.arange(len(self._edges))
            tables.edges_of.extend(columns[0], [edges])
            looped = columns[1] == columns[2]
            tables.edges_at.extend(
                np.concatenate([columns[1], columns[2][~looped]]), [np.concatenate([edges, edges[~looped]])]
            )
            np.add.at(tables.nodes["edge_ends"], _ends_not_mentioned(tables, edges), 1)
        declared = np.empty(0, np.int64)
        if self._nodes:
            nodes, documents, texts, spellings = (np.array(column) for column in zip(*self._nodes, strict=True))
            first = tables.declared.append(len(nodes), node=nodes, document=documents, text=texts, spelling=spellings)
            numbers = first + np.arange(len(nodes))
            tables.declared_by.extend(documents, [numbers])
            tables.declared_at.extend(nodes, [numbers])
            np.add.at(tables.nodes["declared"], nodes, 1)
            np.add.at(tables.spellings["declared"], spellings[spellings >= 0], 1)
            declared = distinct(nodes)
        return edges, declared

    def _edge(self, document: int, edge: Edge) -> tuple[int, int, int, int, int, int, float, int, int]:
        source, target = anchor(self._tables, edge.source), anchor(self._tables, edge.target)
        return (
            document,
            source,
            target,
            self._written(source, edge.source),
            self._written(target, edge.target),
            self._tables.type_code(edge.type),
            edge.weight,
            self._tables.texts.add(edge.label) if edge.label else -1,
            ALIVE,
        )

    def _written(self, node: int, id_: str) -> int:
        """The text of an id that may lead elsewhere than to its anchor; -1 for one that cannot."""
        same = self._tables.node_keys[node] == id_ and not id_.startswith(ADDRESS)
        return -1 if same else self._tables.texts.add(id_)

    def _node_with_id(self, node: Node) -> int:
        number = anchor(self._tables, node.id) if not node.id.startswith(ADDRESS) else -1
        if number >= 0 and self._tables.node_keys[number] == node.id:
            return number
        return self._tables.node_number(node.id, node.kind)


def _ends_not_mentioned(tables: GraphTables, edges: Array) -> Numbers:
    """The ends of stated edges, once for each edge, that the document of the edge does not mention itself.

    A name in one passage leads nowhere further if it is that passage which states all of its edges.
    """
    edges = edges[tables.edges["flags"][edges] & CLAIM == 0]
    documents = np.tile(tables.edges["document"][edges].astype(np.int64), 2)
    nodes = np.concatenate([tables.edges[end][edges] for end in ("source", "target")]).astype(np.int64)
    _, stated = stated_mentions(tables, distinct(documents))
    size = len(tables.nodes)
    mentioned = np.isin(documents * size + nodes, stated.documents.astype(np.int64) * size + stated.nodes)
    ends: Numbers = nodes[~mentioned]
    return ends


def withdraw(tables: GraphTables, documents: Array) -> tuple[Numbers, Numbers]:
    """Take back what documents stated; the numbers of their edges, and of the nodes they had declared."""
    _, (edges,) = tables.edges_of.gather(documents)
    edges = edges.astype(np.int64)
    np.add.at(tables.nodes["edge_ends"], _ends_not_mentioned(tables, edges), -1)
    tables.edges["flags"][edges] &= ~np.uint8(ALIVE)
    _, (declared,) = tables.declared_by.gather(documents)
    nodes = tables.declared["node"][declared].astype(np.int64)
    spellings = tables.declared["spelling"][declared]
    np.add.at(tables.nodes["declared"], nodes, -1)
    np.add.at(tables.spellings["declared"], spellings[spellings >= 0], -1)
    tables.declared["document"][declared] = -1
    none = np.zeros(len(documents), np.int64)
    tables.edges_of.replace(documents, none, [[]])
    tables.declared_by.replace(documents, none, [[]])
    return edges, distinct(nodes)


def follow_addresses(tables: GraphTables, addresses: Array) -> Numbers:
    """Work out where addresses lead; those for which that has changed."""
    changed = [_follow_single_claims(tables, addresses)]
    for address in addresses[tables.edges_at.lengths.values[addresses] != 1].tolist():
        leads_to = _leads_to(tables, address)
        if leads_to != tables.nodes["leads_to"][address]:
            tables.nodes["leads_to"][address] = leads_to
            changed.append(np.array([address]))
        tables.nodes["flags"][address] &= ~np.uint8(PRESENT)
        if leads_to == address or tables.nodes["declared"][address] > 0:
            tables.nodes["flags"][address] |= PRESENT
    return np.concatenate(changed)


def _follow_single_claims(tables: GraphTables, addresses: Array) -> Numbers:
    """Most addresses are those of one document, and nobody refers to them: all of these at once."""
    single = addresses[tables.edges_at.lengths.values[addresses] == 1]
    edges = tables.edges_at.gather(single)[1][0]
    holders = tables.edges["document"][edges]
    holds = tables.edges["flags"][edges] & (ALIVE | CLAIM) == ALIVE | CLAIM
    holds &= tables.nodes["flags"][holders] & PRESENT > 0
    leads_to = np.where(holds, holders, -1)
    changed = single[tables.nodes["leads_to"][single] != leads_to]
    tables.nodes["leads_to"][single] = leads_to
    declared = tables.nodes["declared"][single] > 0
    flags = tables.nodes["flags"][single] & ~np.uint8(PRESENT)
    tables.nodes["flags"][single] = flags | (PRESENT * declared).astype(np.uint8)
    moved: Numbers = changed.astype(np.int64)
    return moved


def _leads_to(tables: GraphTables, address: int) -> int:
    edges = tables.edges_at.row(address)[0]
    flags = tables.edges["flags"][edges]
    edges, claims = edges[flags & ALIVE > 0], (flags & CLAIM > 0)[flags & ALIVE > 0]
    holders = distinct(tables.edges["document"][edges[claims]])
    holders = holders[tables.nodes["flags"][holders] & PRESENT > 0]
    if len(holders) == 1:
        return int(holders[0])
    others: set[int] = set()
    for edge in edges[~claims].tolist():
        for end, other in (("source", "target"), ("target", "source")):
            if tables.edges[end][edge] == address and _by_id(tables, int(tables.edges[f"{end}_text"][edge])) < 0:
                others.add(int(tables.edges[other][edge]))
        if others and (len(holders) or len(others) > 1):
            return address
    return -1


def _by_id(tables: GraphTables, text: int) -> int:
    """The node that has exactly this id, or the document that an address gives by its id; -1 if there is none."""
    if text < 0:
        return -1
    id_ = tables.texts[text]
    number = tables.node_keys.get(passage_id(id_.removeprefix(ADDRESS)) if id_.startswith(ADDRESS) else id_)
    return number if number >= 0 and tables.nodes["flags"][number] & PRESENT else -1


def edges_touched_by(tables: GraphTables, nodes: Array) -> Numbers:
    """The edges with an end that may lead elsewhere when these nodes come or go."""
    at = distinct(nodes, _other_anchors(tables, nodes))
    return distinct(tables.edges_at.gather(at)[1][0]).astype(np.int64)


def addresses_touched_by(tables: GraphTables, nodes: Array, edges: Array) -> Numbers:
    """The addresses that may lead elsewhere when these nodes come or go and these edges are added or taken back."""
    of_documents = tables.edges_of.gather(nodes)[1][0]
    ends = [tables.edges[end][np.concatenate([edges, of_documents])] for end in ("source", "target")]
    found = distinct(*ends, _other_anchors(tables, nodes)).astype(np.int64)
    addresses: Numbers = found[tables.nodes["kind"][found] == tables.kind_code("address")]
    return addresses


def _other_anchors(tables: GraphTables, nodes: Array) -> Numbers:
    """Where edge ends wait that name these nodes by their exact id: as addresses of documents, or as names."""
    found = []
    for node in nodes[tables.nodes["flags"][nodes] & NAMED == 0].tolist():
        kind, _, rest = tables.node_keys[node].partition(":")
        if rest and kind != "address":
            key = ADDRESS + normalise_name(rest) if kind == "passage" else f"{kind}:{word_key(rest)}"
            found.append(tables.node_keys.get(key))
    return np.array([node for node in found if node >= 0], np.int64)


def lead_edges(tables: GraphTables, edges: Array) -> tuple[Numbers, Numbers]:
    """The nodes at both ends of these edges as things are now; -1 twice for an edge that is not in the graph.

    An edge whose ends were different ids and lead to one node is left out.
    """
    ends = []
    for name in ("source", "target"):
        anchors = tables.edges[name][edges].astype(np.int64)
        is_address = tables.nodes["kind"][anchors] == tables.kind_code("address")
        present = tables.nodes["flags"][anchors] & PRESENT > 0
        leads = np.where(present, anchors, np.where(is_address, tables.nodes["leads_to"][anchors], -1)).astype(np.int64)
        texts = tables.edges[f"{name}_text"][edges]
        for place in np.flatnonzero(texts >= 0).tolist():
            exact = _by_id(tables, int(texts[place]))
            if exact >= 0:
                leads[place] = exact
        ends.append(leads)
    starts, stops = ends
    flags = tables.edges["flags"][edges]
    claims = flags & CLAIM > 0
    stops = np.where(claims & (stops != tables.edges["target"][edges]), -1, stops)  # claims lead to address nodes only
    same_id = (tables.edges["source"][edges] == tables.edges["target"][edges]) & (
        tables.edges["source_text"][edges] == tables.edges["target_text"][edges]
    )
    kept = (flags & ALIVE > 0) & (starts >= 0) & (stops >= 0) & ((starts != stops) | same_id)
    return np.where(kept, starts, -1), np.where(kept, stops, -1)
