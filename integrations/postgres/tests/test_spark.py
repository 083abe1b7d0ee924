"""A graph that Spark builds is the one that adding documents one by one gives."""

import importlib.util
import os
import shutil
import sys
from contextlib import contextmanager

import pytest

from hopweave.document import Document
from hopweave.graph.build.resolve import resolve
from hopweave.graph_store.store import GraphStore
from hopweave.knowledge_base.documents import Added
from hopweave.vector.embedders import StaticEmbedder
from hopweave_postgres.spark import build_graph, with_vectors

if importlib.util.find_spec("pyspark") is None or shutil.which("java") is None:
    if os.environ.get("HOPWEAVE_SPARK") == "required":
        raise RuntimeError("these tests need Java and Spark: apt-get install default-jre-headless; pip install pyspark")
    pytest.skip("needs Java and pyspark", allow_module_level=True)

NAMES = ("MV Skua", "Harris", "Ingrid Falk", "Lunn", "Tide Gate")
ROWS = [
    {
        "key": str(number),
        "body": f"{NAMES[number % 5]} is known in {NAMES[number * 2 % 5]}. Later {NAMES[number % 3].lower()} was seen.",
        "title": NAMES[number % 5] if number % 2 else None,
        "customers": ["acme", "zeta"][: number % 3],
        "file": f"{number % 4}.md",
    }
    for number in range(15)
]
SCHEMA = "key string, body string, title string, customers array<string>, file string"
COLUMNS = {"id_column": "key", "text_column": "body", "source_column": "file"}


def one_by_one(url):
    """The graph in a database of its own after adding the rows singly."""
    with GraphStore.open(url, schema="singly") as store:
        for row in ROWS:
            metadata = {name: row[name] for name in ("title", "customers") if row[name] is not None}
            store.add([Document(row["key"], row["body"], metadata, source=row["file"])])
        assert store.nodes() == resolve(store.contributions()).nodes
        return store.nodes(), store.edges(), store.ids(), store.visible({"customers": "zeta"})


@contextmanager
def spark(master):
    """A session; each test makes its own, as tests may be spread over processes."""
    from pyspark.sql import SparkSession

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        settings = {"ui.enabled": "false", "driver.host": "127.0.0.1", "executor.memory": "512m", "log.level": "ERROR"}
        builder = SparkSession.builder.master(master)
        for name, value in settings.items():
            builder = builder.config(f"spark.{name}", value)
        session = builder.getOrCreate()
        try:
            yield session
        finally:
            session.stop()


@pytest.mark.parametrize("master", ["local[2]", "local-cluster[2,1,512]"])
def test_spark_builds_the_graph_of_adding_one_by_one(postgres_url, master):
    with spark(master) as session:
        frame = session.createDataFrame(ROWS, SCHEMA)
        assert build_graph(frame, postgres_url, **COLUMNS).added == len(ROWS)
        if master == "local[2]":
            check_refusals(session, postgres_url)
            check_vectors(session)
            again = session.createDataFrame([{**ROWS[0], "body": "Changed: Ingrid Falk."}, *ROWS[1:2]], SCHEMA)
            assert build_graph(again, postgres_url, **COLUMNS) == Added(updated=1, unchanged=1)
            assert build_graph(frame, postgres_url, **COLUMNS).updated == 1  # into a graph that is not empty
    with GraphStore.open(postgres_url) as store:
        found = store.nodes(), store.edges(), store.ids(), store.visible({"customers": "zeta"})
    assert found == one_by_one(postgres_url)


def check_refusals(session, url):
    twice = session.createDataFrame([("a", "MV Skua"), ("a", "Harris")], "id string, text string")
    with pytest.raises(ValueError, match="two of them have the id 'a', but differ"):
        build_graph(twice, url)
    with pytest.raises(ValueError, match="has no column 'words'"):
        build_graph(twice, url, text_column="words")
    with pytest.raises(ValueError, match="lies on a server"):
        build_graph(twice, "graph.db")


def check_vectors(session):
    rows = session.createDataFrame([("a", "MV Skua"), ("b", None)], "id string, text string").coalesce(1)
    embedder = StaticEmbedder()
    found = {row["id"]: row["vector"] for row in with_vectors(rows, embedder).collect()}
    assert found["a"] == pytest.approx(embedder.embed(["MV Skua"])[0].tolist(), abs=1e-6)
    assert len(found["b"]) == len(found["a"])
