"""Documents as nodes of a graph: the graph that a question may walk, and their numbers in it."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from hopweave.concurrency.once import LRUCache
from hopweave.graph.model import passage_id
from hopweave.graph.port import GraphPort, Indices
from hopweave.graph.tenant_view import States, TenantView
from hopweave.knowledge import Capability, Knowledge, require

_TENANTS_KEPT = 64


def graph_of(knowledge: Knowledge, kind: str, tenant: Mapping[str, Any] | None = None) -> GraphPort:
    """The graph of the documents as it is now, as a tenant may see it (`TenantView`), or all of it without a tenant.

    If there is no graph or tenants are not known, the error names the component that needs them.
    """
    require(knowledge, Capability.GRAPH, kind)
    knowledge.check_tenant(tenant)
    if tenant is None:
        return knowledge.graph
    require(knowledge, Capability.TENANTS, "a query with a tenant")
    graph = knowledge.graph_for(tenant)
    known = getattr(graph, "tenant_states", None)
    if known is None and knowledge.versions_documents:
        asked = knowledge.version, repr(sorted(tenant.items()))
        known = graph.cached("tenants", lambda: LRUCache[tuple[int, str], States](_TENANTS_KEPT)).get_or_make(
            asked, lambda: np.zeros(graph.size, np.uint8)
        )
    return TenantView(graph, lambda ids: knowledge.visible(tenant, ids), known)


def passage_numbers(graph: GraphPort, documents: Iterable[str]) -> dict[str, int]:
    """The nodes of documents, by document id; those without a node are left out.

    >>> from hopweave.graph.model import Node
    >>> from hopweave.testing.graphs import graph_from_edges
    >>> passage_numbers(graph_from_edges([Node.passage("d")], []), ["d", "lost"])
    {'d': 0}
    """
    ids = {passage_id(key): key for key in documents}
    return {ids[node]: number for node, number in graph.find(ids).items()}


def documents_in_parts(graph: GraphPort, passages: Indices) -> list[int]:
    """For each passage the number of the document it is a part of (`PartsBuilder`), or its own if it is whole."""
    numbers: list[int] = passages.tolist()
    if "part_of" not in graph.edge_types:
        return numbers
    edges = graph.neighbours(passages)
    documents = graph.nodes_of_kind("document")
    is_part = (edges.types == list(graph.edge_types).index("part_of")) & documents[edges.targets]
    owners = np.repeat(np.arange(len(numbers)), np.diff(edges.offsets))
    for place, document in zip(owners[is_part].tolist(), edges.targets[is_part].tolist(), strict=True):
        numbers[place] = document
    return numbers
