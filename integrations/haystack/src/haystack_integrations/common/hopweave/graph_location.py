"""Where the graph of a component lives: in a file, or on a server whose URL may be a secret."""

from pathlib import Path
from typing import Any

from haystack.utils import Secret

from hopweave import GraphStore
from hopweave.graph_store.store import has_password, is_url


class GraphLocation:
    """
    Opens a graph when it is first asked for. It can be copied and pickled: the copy is not open.

    A URL with a password is accepted as a `Secret` only, so that no password is written to a pipeline's YAML.
    """

    def __init__(self, graph: str | Path | Secret, schema: str = "hopweave") -> None:
        if isinstance(graph, str) and is_url(graph) and has_password(graph):
            raise ValueError(
                "graph: a URL with a password must be a secret, such as Secret.from_env_var('GRAPH_URL'), or leave the "
                "password to PGPASSWORD or a password file"
            )
        self.graph = graph if isinstance(graph, Secret) else str(graph)
        self.schema = schema
        self._store: GraphStore | None = None

    def open(self, **options: Any) -> GraphStore:
        """
        The graph, opened now if it is not open yet.

        :param options: What `GraphStore.open` takes.
        :returns: An open graph.
        :raises ValueError: If the secret has no value.
        """
        if self._store is None:
            where = self.graph.resolve_value() if isinstance(self.graph, Secret) else self.graph
            if not where:
                raise ValueError("graph: the secret has no value")
            place = where if is_url(where) else Path(where).expanduser()
            self._store = GraphStore.open(place, schema=self.schema, **options)
        return self._store

    def close(self) -> None:
        """Let go of the graph."""
        store, self._store = self._store, None
        if store is not None:
            store.close()

    def __reduce__(self) -> tuple[type["GraphLocation"], tuple[Any, ...]]:
        return GraphLocation, (self.graph, self.schema)
