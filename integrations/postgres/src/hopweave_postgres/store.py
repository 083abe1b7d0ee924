"""A graph in PostgreSQL, which many processes on many machines write and read."""

import contextlib
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, cast
from uuid import uuid4

from hopweave.graph_store.backend import (
    BACKWARD,
    STAGED_AT_ONCE,
    Added,
    Contribution,
    Document,
    Edge,
    EntityResolution,
    GraphBuilder,
    GraphStore,
    KnowledgeBaseError,
    Node,
    Written,
    batches,
    checked_documents,
    checked_ids,
    checked_tenant,
    decoded,
    encoded,
    in_processes,
    rarity_of_node,
    stored_builders,
)
from hopweave_postgres import schema as tables
from hopweave_postgres.connections import Connections
from hopweave_postgres.graph import PostgresGraph
from hopweave_postgres.save import Row
from hopweave_postgres.schema import is_storable
from hopweave_postgres.tenant import TenantFacts
from hopweave_postgres.write import discard, merge_batch, stage_rows, staged_count, write_rows

_MAX_BYTES = 2_000  # of an id or a name, as an index entry must not be longer
_MERGED_AT_ONCE = 100_000
_DEAD_END_SHARE = EntityResolution().dead_end_share


class PostgresStore(GraphStore):
    """A graph in one schema of a PostgreSQL database.

    Contributions are made before a transaction begins; within it writers take turns, so the sums of the whole graph
    are always exact. A write that loses its connection is tried again, and does nothing if it had been committed.
    """

    def __init__(
        self,
        url: str,
        *,
        schema: str,
        builders: Sequence[GraphBuilder] | None,
        read_only: bool,
        pool_size: int,
        statement_seconds: float,
        connect_seconds: float,
        max_edges: int,
    ) -> None:
        if not schema or not is_storable(schema) or len(schema.encode()) > 63:
            raise ValueError(f"schema: {schema!r} is not allowed; it must be a name of 1 to 63 bytes")
        self._connections = Connections(
            url,
            schema,
            pool_size=pool_size,
            statement_seconds=statement_seconds,
            connect_seconds=connect_seconds,
        )
        self._url, self._read_only, self._max_edges = url, read_only, max_edges
        self._shared: dict[Hashable, Any] = {}
        wanted = self.builders if builders is None else tuple(builders)
        settings = {"builders": [one.model_dump(mode="json") for one in wanted], "dead_end_share": _DEAD_END_SHARE}
        try:
            self._open(json.dumps(settings))
            stored = self._connections.read("SELECT settings FROM state")[0][0]["builders"]
            self.builders = stored_builders(self._connections.where, stored, builders)
        except BaseException:
            self._connections.close()
            raise

    def __repr__(self) -> str:
        return f"PostgresStore({self._connections.where!r}, schema={self._connections.schema!r})"

    def _open(self, settings: str) -> None:
        where, schema = self._connections.where, self._connections.schema
        if not self._read_only:
            self._connections.write(lambda cursor: tables.prepare(cursor.connection, schema, settings, where))
            return
        found = self._connections.write(lambda cursor: tables.version_of(cursor.connection, schema))
        if found != tables.SCHEMA_VERSION:
            raise KnowledgeBaseError(
                f"{where}: schema {schema!r} has no graph of schema {tables.SCHEMA_VERSION}; open it once for writing"
            )

    # Writing

    def write(self, documents: Sequence[Written], *, gone: Collection[str] = (), source: str | None = None) -> Added:
        """Put documents into the graph and take others out, in one transaction."""
        if self._read_only:
            raise KnowledgeBaseError(f"{self._connections.where}: was opened read-only")
        rows = rows_of(documents)
        ids = [id_ for id_ in gone if is_storable(id_)]
        return self._connections.write(lambda cursor: write_rows(cursor, rows, ids, source))

    # In bulk

    def build(
        self, documents: Iterable[Document], *, workers: int = 1, documents_at_once: int = _MERGED_AT_ONCE
    ) -> Added:
        """Add many documents at once: worker processes prepare and stage them, then they are merged into the graph.

        A transaction merges so many `documents_at_once`. An empty graph is built quickest with a single one, if there
        is memory for it: some 20 kB for a document of 90 words.
        """
        if documents_at_once < 1:
            raise ValueError(f"documents_at_once: {documents_at_once} is not allowed; it must be at least 1")
        return self.merged(lambda job: self._staged(job, documents, workers), documents_at_once)

    def merged(self, stage: Callable[[str], int], documents_at_once: int = _MERGED_AT_ONCE) -> Added:
        """Let `stage` put documents aside under the name of a job, and merge them; it returns how many there were."""
        if self._read_only:
            raise KnowledgeBaseError(f"{self._connections.where}: was opened read-only")
        job, total = uuid4().hex, Added()
        try:
            expected = stage(job)
            staged = self._connections.write(lambda cursor: staged_count(cursor, job))
            if staged != expected:
                raise KnowledgeBaseError(
                    f"{self._connections.where}: {expected} documents were prepared, but {staged} are staged"
                )
            while found := self._connections.write(lambda cursor: merge_batch(cursor, job, documents_at_once)):
                total += found
        except BaseException:
            with contextlib.suppress(KnowledgeBaseError):
                self._connections.write(lambda cursor: discard(cursor, job))
            raise
        return total

    def stage(self, job: str, documents: Iterable[Document]) -> int:
        """Put what documents contribute aside under the name of a job, from any process; how many there were."""
        return sum(self._stage(job, batch) for batch in batches(checked_documents(documents), STAGED_AT_ONCE))

    def _stage(self, job: str, documents: Sequence[Document]) -> int:
        rows = rows_of(self.prepared(documents))
        self._connections.write(lambda cursor: stage_rows(cursor, job, rows))
        return len(rows)

    def _staged(self, job: str, documents: Iterable[Document], workers: int) -> int:
        stage = partial(stage_in_process, self._url, self._connections.schema, job)
        return sum(in_processes(stage, batches(checked_documents(documents), STAGED_AT_ONCE), workers))

    def _delete_matching(self, where: Mapping[str, Any], source: str | None) -> int:
        condition, values = ("source = %s AND source <> ''", [source]) if source is not None else _matching(where)
        query = f"SELECT id FROM documents WHERE {condition}"

        if not all(is_storable(value) for value in values if isinstance(value, str)):
            return 0
        ids = [id_ for (id_,) in self._connections.read(query, values)]
        return self.write([], gone=ids).removed if ids else 0

    # Reading

    @property
    def graph(self) -> PostgresGraph:
        """The graph as it is now; ask for it again for every question."""
        return PostgresGraph(self._connections, self._max_edges, self._shared)

    def graph_for(self, tenant: Mapping[str, Any]) -> PostgresGraph:
        """The graph as it is now, which reads along with edges what a tenant may see of them."""
        return PostgresGraph(self._connections, self._max_edges, self._shared, TenantFacts(*tenant_condition(tenant)))

    @property
    def version(self) -> int:
        """Grows with every write."""
        return int(self._connections.read("SELECT version FROM state")[0][0])

    @property
    def round_trips(self) -> int:
        """How many statements were sent to read, since the store was opened."""
        return self._connections.round_trips

    def count(self) -> int:
        """How many documents there are."""
        return int(self._connections.read("SELECT documents FROM state")[0][0])

    def ids(self) -> list[str]:
        """The ids of all documents, in order."""
        return sorted(id_ for (id_,) in self._connections.read("SELECT id FROM documents"))

    def sources(self) -> list[str]:
        """The sources that documents come from, in order."""
        found = self._connections.read("SELECT DISTINCT source FROM documents WHERE source <> ''")
        return sorted(source for (source,) in found)

    def visible(self, tenant: Mapping[str, Any], ids: Iterable[str] | None = None) -> frozenset[str]:
        """The ids of the documents that a tenant may see: all of them, or those among the ids given."""
        checked_tenant(tenant or None)
        condition, values = tenant_condition(tenant)
        if ids is not None:
            wanted = [id_ for id_ in checked_ids(ids) if is_storable(id_)]
            condition, values = f"{condition} AND id = ANY(%s)", [*values, wanted]
        query = f"SELECT id FROM documents WHERE {condition}"
        return frozenset(id_ for (id_,) in self._connections.read(query, values))

    def contributions(self) -> list[Contribution]:
        """What all documents contribute, by document id: the graph can be built from it again."""
        rows = self._connections.read("SELECT id, payload FROM documents ORDER BY id")
        return [decoded(id_, payload) for id_, payload in rows]

    def nodes(self) -> tuple[Node, ...]:
        """All nodes, ordered by id."""
        return all_nodes(self._connections)

    def edges(self) -> list[Edge]:
        """All edges by source, target and type, each of these once, with the weights summed."""
        return all_edges(self._connections, _DEAD_END_SHARE)

    def close(self) -> None:
        """Let go of the connections."""
        self._connections.close()


def rows_of(documents: Sequence[Written]) -> list[Row]:
    """What is stored of documents; raises an error if PostgreSQL cannot hold it."""
    rows = []
    for written, one in encoded(documents):
        check_storable(written)
        rows.append(Row(one.document_id, written.source, json.dumps(dict(written.metadata)), one.digest, one.payload))
    return rows


def stage_in_process(url: str, schema: str, job: str, documents: Sequence[Document]) -> int:
    """Stage documents from a process of its own; how many there were."""
    with GraphStore.open(url, schema=schema, pool_size=1) as store:
        return cast(PostgresStore, store).stage(job, documents)


def tenant_condition(tenant: Mapping[str, Any]) -> tuple[str, list[Any]]:
    """An SQL condition on `documents` for metadata values that must be present, and the values to bind.

    A list of values, on either side, allows each.

    >>> tenant_condition({"customer": ["acme", "zeta"]})[0]
    '(metadata @> %s::jsonb OR metadata @> %s::jsonb OR metadata @> %s::jsonb OR metadata @> %s::jsonb)'
    """
    parts, values = [], []
    for name, wanted in sorted(tenant.items()):
        allowed = list(wanted) if isinstance(wanted, list | tuple | set | frozenset) else [wanted]
        if wrong := [one for one in allowed if not isinstance(one, str | int | float)]:
            raise ValueError(
                f"tenant field {name!r} must be a string, a number or a list of them, but got {wrong[0]!r}"
            )
        allowed = [one for one in allowed if is_storable(str(one)) and is_storable(name)]
        if not allowed:
            return "false", []
        forms = [json.dumps({name: form}) for one in allowed for form in (one, [one])]
        parts.append(f"({' OR '.join(['metadata @> %s::jsonb'] * len(forms))})")
        values += forms
    return " AND ".join(parts) or "true", values


def _matching(where: Mapping[str, Any]) -> tuple[str, list[Any]]:
    wrong = [name for name, value in where.items() if isinstance(value, Mapping)]
    if wrong:
        raise ValueError(f"where: {wrong[0]!r} must be a value or a list of values; comparisons are not known here")
    return tenant_condition(where)


def check_storable(written: Written) -> None:
    """Raise an error if PostgreSQL cannot hold what a document says: NUL, invalid Unicode, very long names."""
    one = written.contribution
    names = [one.document_id, written.source, *one.addresses]
    names += [text for node in one.nodes for text in (node.id, node.kind, node.name)]
    names += [text for edge in one.edges for text in (edge.source, edge.target, edge.type)]
    names += [text for mention in one.mentions for text in (mention.name, mention.type, mention.kind)]
    texts = [*names, one.words, *(edge.label for edge in one.edges), *_strings(written.metadata)]
    if not all(map(is_storable, texts)):
        raise KnowledgeBaseError(
            f"document {one.document_id!r} cannot be stored: PostgreSQL holds no NUL character and no invalid Unicode"
        )
    if long := next((name for name in names if len(name.encode()) > _MAX_BYTES), None):
        raise KnowledgeBaseError(
            f"document {one.document_id!r} cannot be stored: an id or name, {long[:40]!r}…, has more than "
            f"{_MAX_BYTES} bytes"
        )


def _strings(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, Mapping):
        return [text for pair in value.items() for one in pair for text in _strings(one)]
    return [text for one in value for text in _strings(one)] if isinstance(value, list) else []


def all_nodes(connections: Connections) -> tuple[Node, ...]:
    """The nodes, ordered by id."""
    found = connections.read("SELECT description FROM nodes WHERE (flags & 8) > 0")
    return tuple(sorted((Node(*json.loads(text)) for (text,) in found), key=lambda node: node.id))


def all_edges(connections: Connections, dead_end_share: float) -> list[Edge]:
    """The edges by source, target and type, each of these once, with the weights summed."""
    found = connections.read("SELECT id, description, passages, edge_ends FROM nodes WHERE (flags & 8) > 0")
    ids = {number: json.loads(text)[0] for number, text, _, _ in found}
    rarity = {number: rarity_of_node(passages, ends, dead_end_share) for number, _, passages, ends in found}
    types = list(connections.read("SELECT edge_types FROM state")[0][0])
    sums: defaultdict[tuple[str, str, str], list[float]] = defaultdict(list)
    rows = connections.read("SELECT src, dst, code, weight, copies FROM edges WHERE (code & %s) = 0", [BACKWARD])
    for source, target, code, weight, copies in rows:
        key = ids[source], ids[target], types[code // 4]
        sums[key] += [weight * rarity[source] * rarity[target]] * copies
    labels = _labels(connections, ids, types)
    return [Edge(*key, sum(sorted(sums[key])), labels.get(key, "")) for key in sorted(sums)]


def _labels(connections: Connections, ids: dict[int, str], types: list[str]) -> dict[tuple[str, str, str], str]:
    """How each relation was written most often; of equals the smallest."""
    written: defaultdict[tuple[str, str, str], Counter[str]] = defaultdict(Counter)
    query = "SELECT start_node, end_node, type, label FROM stated WHERE label IS NOT NULL AND start_node >= 0"
    for start, end, code, label in connections.read(query):
        written[ids[start], ids[end], types[code]][label] += 1
    return {key: min(labels, key=lambda label: (-labels[label], label)) for key, labels in written.items()}
