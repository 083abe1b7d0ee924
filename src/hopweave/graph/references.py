"""Where a reference to another document leads."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from hopweave.graph.model import ADDRESS, Contribution, Edge, Node, normalise_name, passage_id


def follow_references(
    edges: Sequence[Edge], nodes: Mapping[str, Node], contributions: Sequence[Contribution]
) -> tuple[list[Edge], dict[str, Node]]:
    """The edges with each reference led to the passage that has the address, and the nodes this takes.

    An address is the id of a document or one of the addresses it gives itself. One that several passages share (the
    chunks of a file), or that no document has but at least two refer to (a web page), becomes a node of its own.
    A reference that leads nowhere is left out until there is a document to lead to.

    >>> nodes = {"passage:a": Node.passage("a"), "passage:b": Node.passage("b")}
    >>> said = [Contribution("a"), Contribution("b", addresses=("Timetable",))]
    >>> follow_references([Edge("passage:a", "address:timetable", "links_to")], nodes, said)[0]
    [Edge(source='passage:a', target='passage:b', type='links_to', weight=1.0, label='')]
    """
    if not any(edge.source.startswith(ADDRESS) or edge.target.startswith(ADDRESS) for edge in edges):
        return list(edges), {}
    holders: defaultdict[str, list[str]] = defaultdict(list)
    for contribution in contributions:
        passage = passage_id(contribution.document_id)
        if passage in nodes:
            for address in dict.fromkeys(map(normalise_name, contribution.addresses)):
                holders[address].append(passage)

    def lead(end: str) -> str:
        if not end.startswith(ADDRESS):
            return end
        called = end.removeprefix(ADDRESS)
        if (passage := passage_id(called)) in nodes:
            return passage
        address = normalise_name(called)
        return holders[address][0] if len(holders[address]) == 1 else ADDRESS + address

    led: list[Edge] = []
    referring: defaultdict[str, set[str]] = defaultdict(set)
    names: defaultdict[str, set[str]] = defaultdict(set)
    for edge in edges:
        source, target = lead(edge.source), lead(edge.target)
        for end, other, written in ((source, target, edge.source), (target, source, edge.target)):
            if end.startswith(ADDRESS):
                referring[end].add(other)
                names[end].add(written.removeprefix(ADDRESS))
        if source != target or edge.source == edge.target:
            led.append(Edge(source, target, edge.type, edge.weight, edge.label))
    made = {
        end: Node(end, "address", min(names[end]))
        for end, others in referring.items()
        if holders[end.removeprefix(ADDRESS)] or len(others) > 1
    }
    led += [Edge(passage, end, "located_at") for end in made for passage in holders[end.removeprefix(ADDRESS)]]
    return led, made
