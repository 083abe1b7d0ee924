"""The graph in PostgreSQL: how near its rankings are to the embedded graph, how fast it is read and written.

    python benchmarks/postgres.py                     a table
    python benchmarks/postgres.py --json              one JSON object
    python benchmarks/postgres.py --full --json       graphs of 100,000 to 1,000,000 nodes; 8 GB of memory
    python benchmarks/postgres.py --full --json --keep FOLDER     the same, and again without building them

Starts a server of its own on the loopback interface. `recall_gap` needs the judged sets (`--data` or HOPWEAVE_DATA) and
is the largest loss of recall@5 on 2wiki51 and musique100, with static vectors and the recipe `multihop`.
`growth_slope_100k_1m` is rows read per question at the largest size divided by those at the smallest; `multihop_ms`,
`round_trips` and `rows` are those at the largest, and `sizes` has them all. Corpora are built in bulk, with one
transaction each (`write_per_s`); `one_writer_per_s` and `two_writers_per_s` add batches of 256 documents, each a
transaction; `spark_per_s` is a build with Spark on `local[2]`, without the start of Spark; it needs Java and pyspark.
"""

import argparse
import importlib.util
import json
import os
import shutil
import sys
import tempfile
import time
from multiprocessing import get_context
from pathlib import Path
from statistics import fmean, median

from judging import SETS, JudgedSet, quality
from postgres_server import PostgresServer
from synthetic import synthetic_corpus

from hopweave import Document, GraphStore, KnowledgeBase, Pipeline, Query
from hopweave.graph.external_documents import ExternalDocuments
from hopweave.sources.pagerank import PageRank

FULL = [27_000, 100_000, 306_000]
"""Passages of graphs with 100,000, 340,000 and 1,000,000 nodes."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--data", type=Path, default=os.environ.get("HOPWEAVE_DATA"))
    parser.add_argument("--sizes", type=int, nargs="*", default=[1_000, 10_000], help="passages of synthetic corpora")
    parser.add_argument("--full", action="store_const", dest="sizes", const=FULL, help=f"sizes {FULL}")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep corpora and server here, and use them again")
    parser.add_argument("--questions", type=int, default=20)
    parser.add_argument("--skip-writers", action="store_true")
    parser.add_argument("--written", type=int, default=4_000, help="documents that writers and Spark write")
    options = parser.parse_args()
    settings = {"shared_buffers": "1GB", "max_wal_size": "8GB", "synchronous_commit": "on"}
    folder = Path(tempfile.mkdtemp(prefix="hopweave-benchmark-")) if options.keep is None else options.keep
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o755)  # PostgreSQL does not run as root
    try:
        with PostgresServer(folder=folder / "server", **settings) as server:
            found = measure(server.url, folder, options)
    finally:
        if options.keep is None:
            shutil.rmtree(folder)
    print(json.dumps(found) if options.json else "\n".join(f"{name:24} {value}" for name, value in found.items()))


def measure(url: str, folder: Path, options: argparse.Namespace) -> dict:
    gaps = {name: recall_gap(url, Path(options.data), name) for name in SETS} if options.data else {}
    found: dict = {
        "recall_gap": round(max((gap for _, _, gap in gaps.values()), default=float("nan")), 4) if gaps else None,
        "recall": {name: {"embedded": one, "postgres": two} for name, (one, two, _) in gaps.items()},
    }
    log("recall is measured")
    reads = {size: reading(url, folder, size, options.questions) for size in options.sizes}
    if reads:
        first, last = reads[min(reads)], reads[max(reads)]
        found |= {key: last[key] for key in ("multihop_ms", "round_trips", "rows")}
        found["growth_slope_100k_1m"] = round(last["rows"] / max(first["rows"], 1), 3)
        found["sizes"] = reads
        found["write_per_s"] = last["write_per_s"]
    if not options.skip_writers:
        log("writers begin")
        found["one_writer_per_s"] = round(writers(url, 1, options.written), 1)
        found["two_writers_per_s"] = round(writers(url, 2, options.written), 1)
        found["spark_per_s"] = spark(url, options.written)
    return found


def recall_gap(url: str, data: Path, name: str) -> tuple[float, float, float]:
    """recall@5 of `multihop` over the embedded graph and over PostgreSQL, and how much is lost."""
    corpus, queries, _ = SETS[name]
    judged = JudgedSet.read(data / corpus, data / queries)
    remove_schema(url, f"recall_{name}")  # the graph of a kept server may be that of another version
    with KnowledgeBase.open() as base, GraphStore.open(url, schema=f"recall_{name}") as store:
        base.add(judged.documents)
        store.add(judged.documents)
        places = (base, ExternalDocuments(store, lambda ids: base.get(ids).values(), index=base))
        scores = []
        for place in places:
            pipeline = Pipeline("multihop", place)
            rankings = [[hit.id for hit in pipeline.run(one.query).hits] for one in judged.questions]
            scores.append(quality(rankings, judged.questions)["recall@5"])
    return scores[0], scores[1], scores[0] - scores[1]


def log(text: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)


def built(url: str, folder: Path, size: int, documents: list[Document]) -> dict:
    """Build the graph and the index of words and vectors, unless they are kept there; what that has taken."""
    record = folder / f"reading_{size}.json"
    if record.exists():
        return json.loads(record.read_text())
    remove_schema(url, f"reading_{size}")  # what a run has left that did not get to its end
    with GraphStore.open(url, schema=f"reading_{size}") as store:
        begun = time.perf_counter()
        store.build(documents, workers=2, documents_at_once=size)
        seconds = time.perf_counter() - begun
    log(f"{size} passages: graph built in {seconds:.0f} s")
    analyse(url, f"reading_{size}")
    with KnowledgeBase.open(folder / f"{size}.db", builders=[], approximate_above=10_000_000) as base:
        base.add(documents, workers=2, batch_size=2_000)
    log(f"{size} passages: index of words and vectors built")
    record.write_text(json.dumps({"write_per_s": round(size / seconds, 1)}))
    return json.loads(record.read_text())


def reading(url: str, folder: Path, size: int, questions: int) -> dict:
    """One `multihop` walk per question: milliseconds, round trips and rows; the upstream sources are embedded."""
    corpus = synthetic_corpus(size, questions=questions)
    documents = [Document(one["id"], one["text"], {"title": one["title"]}) for one in corpus.passages]
    building = built(url, folder, size, documents)
    with GraphStore.open(url, schema=f"reading_{size}") as store:
        nodes = store.graph.size
        with KnowledgeBase.open(folder / f"{size}.db", builders=[], approximate_above=10_000_000) as base:
            place = ExternalDocuments(store, lambda ids: base.get(ids).values(), index=base)
            times, trips, rows = [], [], []
            pipeline, source = Pipeline("multihop", place), PageRank()
            text, vector = pipeline.recipe.sources["text"], pipeline.recipe.sources["vector"]
            for one in [*corpus.questions[:3], *corpus.questions]:
                query = Query(str(one["question"]))
                upstream = {"text": text.search(query, place), "vector": vector.search(query, place)}
                before, begun = store.round_trips, time.perf_counter()
                graphs = _Counting(store)
                source.search(
                    query, ExternalDocuments(graphs, lambda ids: base.get(ids).values(), index=base), upstream
                )
                times.append(1000 * (time.perf_counter() - begun))
                trips.append(store.round_trips - before)
                rows.append(graphs.rows)
    times, trips, rows = times[3:], trips[3:], rows[3:]
    return {
        "nodes": nodes,
        "multihop_ms": round(median(times), 1),
        "multihop_p95_ms": round(sorted(times)[int(0.95 * len(times))], 1),
        "round_trips": round(fmean(trips), 1),
        "max_round_trips": max(trips),
        "rows": round(fmean(rows)),
        **building,
    }


class _Counting:
    """A store that knows how many rows the last graph that it handed out has read."""

    def __init__(self, store) -> None:
        self._store, self._last = store, None

    @property
    def graph(self):
        self._last = self._store.graph
        return self._last

    @property
    def version(self) -> int:
        return self._store.version

    def visible(self, tenant, ids=None):
        return self._store.visible(tenant, ids)

    @property
    def rows(self) -> int:
        return self._last.rows_read


def analyse(url: str, schema: str) -> None:
    """Statistics and visibility maps, as autovacuum keeps them on a server that runs longer than a benchmark."""
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        for (table,) in connection.execute(
            "SELECT tablename FROM pg_tables WHERE schemaname = %s", [schema]
        ).fetchall():
            connection.execute(f'VACUUM (ANALYZE) "{schema}"."{table}"')


def remove_schema(url: str, schema: str) -> None:
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f'DROP SCHEMA IF EXISTS "{schema}" CASCADE')


def write_part(url: str, schema: str, number: int, count: int, size: int, ready, spans) -> None:
    passages = synthetic_corpus(size).passages[number::count]
    documents = [Document(one["id"], one["text"], {"title": one["title"]}) for one in passages]
    with GraphStore.open(url, schema=schema) as store:
        ready.wait()
        begun = time.time()
        store.add(documents)
        spans.put((begun, time.time()))


def writers(url: str, count: int, size: int) -> float:
    """Documents per second that several processes write together, from when all are ready."""
    context, schema = get_context("spawn"), f"writers_{count}"
    remove_schema(url, schema)
    GraphStore.open(url, schema=schema).close()
    ready, spans = context.Barrier(count), context.Queue()
    arguments = [(url, schema, one, count, size, ready, spans) for one in range(count)]
    processes = [context.Process(target=write_part, args=one) for one in arguments]
    for process in processes:
        process.start()
    begun, ended = zip(*(spans.get() for _ in processes), strict=True)
    for process in processes:
        process.join()
    return size / (max(ended) - min(begun))


def spark(url: str, size: int) -> float | None:
    """Documents per second that Spark builds into an empty graph."""
    if importlib.util.find_spec("pyspark") is None or shutil.which("java") is None:
        return None
    os.environ.update(SPARK_LOCAL_IP="127.0.0.1", PYSPARK_PYTHON=sys.executable)
    from pyspark.sql import SparkSession

    from hopweave_postgres.spark import build_graph

    settings = {"spark.ui.enabled": "false", "spark.driver.host": "127.0.0.1", "spark.log.level": "ERROR"}
    session = SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()
    try:
        passages = session.createDataFrame(synthetic_corpus(size).passages).repartition(2).cache()
        passages.count()
        remove_schema(url, "spark")
        begun = time.perf_counter()
        build_graph(passages, url, schema="spark")
        return round(size / (time.perf_counter() - begun), 1)
    finally:
        session.stop()


if __name__ == "__main__":
    main()
