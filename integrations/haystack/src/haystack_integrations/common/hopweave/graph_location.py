"""Where the graph of a component lives: in a file, or on a server whose URL may be a secret."""

from pathlib import Path
from typing import Any

from haystack.utils import Secret

from hopweave.graph_store.location import GraphLocation

Graph = str | Path | Secret
"""Path of a graph file, or URL of a PostgreSQL database; one with a password as a secret."""


def located(graph: Graph, schema: str, **options: Any) -> GraphLocation:
    """
    The place of a graph, which is opened on first use; options are those of `GraphLocation`.

    Raises `ValueError` if it is neither path nor URL, or a URL with a password that is not a secret.
    """
    return GraphLocation(graph.resolve_value if isinstance(graph, Secret) else graph, schema, **options)
