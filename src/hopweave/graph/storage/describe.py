"""What the tables know of a node, put together when somebody asks."""

import json

from hopweave.graph.model import ADDRESS, Node, passage_id
from hopweave.graph.storage.tables import HAS_TEXT, GraphTables


def describe(tables: GraphTables, number: int) -> Node:
    """The node with this number, from what documents declare of it, its name or its id.

    Of several declared nodes with one id the one that says most is kept, then the smallest.
    """
    plain = _plain(tables, number)
    found = [] if plain is None else [plain]
    declared = tables.declared_at.row(number)[0]
    alive = declared[tables.declared["document"][declared] >= 0]
    found += [_declared(tables, one, plain) for one in alive.tolist()]
    return min(found, key=_order) if found else Node(tables.node_keys[number], "", "")


def _plain(tables: GraphTables, number: int) -> Node | None:
    """A node as its name or its document makes it."""
    key, spelling = tables.node_keys[number], int(tables.nodes["spelling"][number])
    if spelling >= 0:
        return Node.entity(tables.spelled(spelling), tables.kinds[tables.nodes["kind"][number]])
    if tables.nodes["document"][number] & HAS_TEXT:
        return Node.passage(key.removeprefix(passage_id("")))
    if tables.nodes["leads_to"][number] == number:
        return Node(key, "address", _written(tables, number))
    return None


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


def _order(node: Node) -> tuple[bool, bool, str, str, str, str]:
    unnamed = node.name == node.document_id
    metadata = repr(sorted(node.metadata.items())) if node.metadata else ""
    return unnamed, not metadata, node.kind, node.name, node.document_id or "", metadata
