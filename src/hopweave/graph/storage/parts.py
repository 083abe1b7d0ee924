"""Which passages are parts of one document."""

import numpy as np

from hopweave.graph.port import GraphPort, Indices


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
