"""Any property graph store as a graph that hopweave can walk."""

from collections.abc import Callable, Iterable

from llama_index.core.graph_stores import SimplePropertyGraphStore
from llama_index.core.graph_stores.types import (
    TRIPLET_SOURCE_KEY,
    ChunkNode,
    LabelledNode,
    PropertyGraphStore,
    Triplet,
)

from hopweave.graph.build.builders.triples import relation_type
from hopweave.graph.model import IMPORTED, Contribution, Edge, Node
from hopweave.knowledge_base.store import KnowledgeBase

Load = Callable[[PropertyGraphStore], Iterable[Triplet]]
"""Reads all relations of a store that has a way of its own to give them."""

_AT_ONCE = 200


def triplets_of(store: PropertyGraphStore, load: Load | None = None) -> list[Triplet]:
    """
    Every relation of a store once, in an order that does not depend on the store.

    Stores disagree on what `get_triplets()` without arguments gives (nothing, a part, everything twice), so the
    relations of all nodes are asked for, in batches.

    Args:
        store: The property graph store.
        load: Reads the relations instead, for a store that limits what it gives.

    Returns:
        Subject, relation and object of each.

    """
    found = _relations(store) if load is None else load(store)
    distinct = {_key(triplet): triplet for triplet in found}
    return [distinct[key] for key in sorted(distinct)]


def contributions_of(store: PropertyGraphStore, load: Load | None = None) -> list[Contribution]:
    """
    What a property graph says, one contribution per text chunk that it was extracted from.

    The chunk is the one named by the relation itself, as an entity forgets all but one of its chunks. Contributions are
    ledgered under `property_graph:<chunk id>`.

    Args:
        store: The property graph store.
        load: Reads the relations instead, for a store that limits what it gives.

    Returns:
        Contributions that a knowledge base can record.

    """
    return [contribution(chunk, triplets) for chunk, triplets in by_chunk(store, load).items()]


def by_chunk(store: PropertyGraphStore, load: Load | None = None) -> dict[str, list[Triplet]]:
    """
    The relations of a store by the id of the text chunk that each was extracted from.

    Args:
        store: The property graph store.
        load: Reads the relations instead, for a store that limits what it gives.

    Returns:
        Relations by chunk, in the order of the ids; those of no chunk under an empty id.

    """
    found: dict[str, list[Triplet]] = {}
    for triplet in triplets_of(store, load):
        found.setdefault(_chunk(triplet), []).append(triplet)
    return dict(sorted(found.items()))


def import_property_graph(store: PropertyGraphStore, knowledge_base: KnowledgeBase, load: Load | None = None) -> int:
    """
    Record a property graph in a knowledge base, beside the graph its documents make. Importing twice changes nothing.

    ```python
    from llama_index.core.graph_stores import SimplePropertyGraphStore
    from llama_index.graph_stores.hopweave import import_property_graph

    import_property_graph(SimplePropertyGraphStore(), knowledge_base)
    ```

    Args:
        store: The property graph store.
        knowledge_base: An open knowledge base; chunks that it holds as documents are found through the graph.
        load: Reads the relations instead, for a store that limits what it gives.

    Returns:
        The number of text chunks that contributed.

    """
    contributions = contributions_of(store, load)
    knowledge_base.contribute(contributions)
    return len(contributions)


def _relations(store: PropertyGraphStore) -> Iterable[Triplet]:
    if isinstance(store, SimplePropertyGraphStore):
        nodes = store.graph.nodes
        for one in store.graph.relations.values():
            if one.source_id in nodes and one.target_id in nodes:  # deleting leaves relations behind
                yield nodes[one.source_id], one, nodes[one.target_id]
        return
    yield from store.get_triplets()
    ids = [node.id for node in store.get()]
    for start in range(0, len(ids), _AT_ONCE):
        yield from store.get_triplets(ids=ids[start : start + _AT_ONCE])


def _key(triplet: Triplet) -> tuple[str, str, str, str]:
    # some stores give a relation from both of its ends; which way it leads, the relation itself knows
    relation = triplet[1]
    return _chunk(triplet), relation.source_id, relation.label, relation.target_id


def _chunk(triplet: Triplet) -> str:
    own = triplet[1].properties.get(TRIPLET_SOURCE_KEY)
    chunks = [node.id for node in (triplet[0], triplet[2]) if isinstance(node, ChunkNode)]
    return str(own or next(iter(chunks), ""))


def contribution(chunk: str, triplets: Iterable[Triplet]) -> Contribution:
    """
    What the relations of a text chunk add to the graph.

    Args:
        chunk: The id of the chunk.
        triplets: Its relations.

    Returns:
        A contribution that a knowledge base can record.

    """
    passage = [Node.passage(chunk)] if chunk else []
    nodes = {node.id: node for node in passage}
    edges: dict[Edge, None] = {}
    for subject, relation, target in triplets:
        ends = {labelled.id: _node(labelled) for labelled in (subject, target)}
        nodes.update({node.id: node for node in ends.values()})
        source_id, target_id = ends[relation.source_id].id, ends[relation.target_id].id
        edges[Edge(source_id, target_id, relation_type(relation.label), label=relation.label)] = None
        for node in passage:
            edges.update({Edge(node.id, end.id, "mentions"): None for end in ends.values() if end.id != node.id})
    return Contribution(f"{IMPORTED}{chunk}", tuple(nodes.values()), tuple(edges))


def _node(labelled: LabelledNode) -> Node:
    return Node.passage(labelled.id) if isinstance(labelled, ChunkNode) else Node.entity(labelled.id)
