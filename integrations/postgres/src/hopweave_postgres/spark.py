"""Builds a graph in PostgreSQL from a Spark DataFrame, and adds vectors to one."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from hopweave.graph_store.backend import Added, Document, Embedder, GraphStore, batches, is_url

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def build_graph(
    dataframe: "DataFrame",
    url: str,
    *,
    schema: str = "hopweave",
    id_column: str = "id",
    text_column: str = "text",
    source_column: str | None = None,
    metadata_columns: Sequence[str] | None = None,
) -> Added:
    """Add the rows of a DataFrame to the graph at a URL, as `GraphStore.add` would, row by row.

    Executors find names and relations in the texts of their partitions and put them aside in the database with COPY;
    then this process merges them into the graph, where its sums are made. Every executor needs `hopweave-postgres`
    and a connection to the server. `metadata_columns` are all other columns unless named. Ids must be distinct.
    """
    from hopweave_postgres.store import PostgresStore

    if not is_url(url):
        raise ValueError("url: a graph that executors write to lies on a server; it begins with postgresql://")
    named = [id_column, text_column, *([source_column] if source_column else [])]
    others = [name for name in dataframe.columns if name not in named] if metadata_columns is None else metadata_columns
    if unknown := [name for name in (*named, *others) if name not in dataframe.columns]:
        raise ValueError(f"dataframe: has no column {unknown[0]!r}; it has {', '.join(map(repr, dataframe.columns))}")
    read = partial(_documents, id_column, text_column, source_column, list(others))
    with GraphStore.open(url, schema=schema) as store:
        return cast(PostgresStore, store).merged(
            lambda job: int(dataframe.rdd.mapPartitions(partial(_stage, url, schema, job, read)).sum())
        )


def with_vectors(
    dataframe: "DataFrame", embedder: Embedder, *, text_column: str = "text", vector_column: str = "vector"
) -> "DataFrame":
    """The DataFrame with one more column: the vectors of the texts, made by the executors, for a vector store."""
    from pyspark.sql.types import ArrayType, FloatType, StructField, StructType

    added = StructField(vector_column, ArrayType(FloatType(), containsNull=False), nullable=False)
    rows = dataframe.rdd.mapPartitions(partial(_embedded, embedder, text_column))
    return dataframe.sparkSession.createDataFrame(rows, StructType([*dataframe.schema.fields, added]))


_EMBEDDED_AT_ONCE = 256


def _embedded(embedder: Embedder, text_column: str, rows: Iterable[Any]) -> Iterator[tuple[Any, ...]]:
    for batch in batches(rows, _EMBEDDED_AT_ONCE):
        vectors = embedder.embed([row[text_column] or "" for row in batch])
        yield from ((*row, vector) for row, vector in zip(batch, vectors.tolist(), strict=True))


def _stage(url: str, schema: str, job: str, read: Any, rows: Iterable[Any]) -> list[int]:
    """Stage the rows of one partition, in an executor."""
    from hopweave_postgres.store import stage_in_process

    return [stage_in_process(url, schema, job, read(rows))]


def _documents(
    id_column: str, text_column: str, source_column: str | None, metadata_columns: Sequence[str], rows: Iterable[Any]
) -> Iterator[Document]:
    for row in rows:
        values = row.asDict(recursive=True)
        metadata = {name: values[name] for name in metadata_columns if values[name] is not None}
        source = "" if source_column is None else values[source_column] or ""
        yield Document(str(values[id_column]), values[text_column] or "", metadata, source=source)
