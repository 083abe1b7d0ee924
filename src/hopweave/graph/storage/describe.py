"""Descriptions of nodes, read from the tables on demand."""

import json
from collections.abc import Iterator, Sequence

from hopweave.graph.model import ADDRESS, Node, passage_id
from hopweave.graph.storage.tables import HAS_TEXT, GraphTables


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
