"""Writers and readers on one PostgreSQL server that is killed and restarted: is the graph that of what is left?

    python benchmarks/postgres_chaos.py --seconds 60 --writers 4 --readers 4 --kills 2 --json

Writers add, change and delete documents at random, the same ids as the others. Readers ask questions. The server gets
SIGKILL. At the end the graph must equal the one built from the stored contributions; readers may only have met errors
that say that there was no connection.
"""

import argparse
import json
import random
import time
from multiprocessing import get_context

from postgres_server import PostgresServer

from hopweave import Document, GraphStore, Query
from hopweave.errors import GraphTimeout, GraphUnavailable
from hopweave.graph.build.resolve import resolve
from hopweave.graph.external_documents import ExternalDocuments
from hopweave.hit import Hit
from hopweave.sources.pagerank import PageRank

NAMES = ("MV Skua", "Harris", "Ingrid Falk", "Sorvag Yard", "Lunn", "Port Ellen", "Tide Gate", "MV Plover")


def document(rng: random.Random) -> Document:
    one, two, three = rng.sample(NAMES, 3)
    text = f"{one} is known in {two}. Later {three} was seen with {one.lower()}."
    return Document(
        f"d{rng.randrange(40)}", text, {"title": one if rng.random() < 0.6 else ""}, source=rng.choice("xyz")
    )


def write(url: str, seed: int, until: float, done) -> None:
    rng = random.Random(seed)
    count = lost = 0
    store = opened(url)
    while time.time() < until:
        try:
            step = rng.random()
            if step < 0.7:
                store.add([document(rng) for _ in range(rng.randrange(1, 5))])
            elif step < 0.9:
                store.delete([f"d{rng.randrange(40)}" for _ in range(3)])
            else:
                store.replace(rng.choice("xyz"), [document(rng)])
            count += 1
        except GraphUnavailable:
            lost += 1
            time.sleep(0.1)
    store.close()
    done.put(("writes", count, lost, ""))


def read(url: str, seed: int, until: float, done) -> None:
    rng = random.Random(seed)
    count = lost = 0
    strange = ""
    store = opened(url)
    there = ExternalDocuments(store, lambda ids: [Hit(key, text="…") for key in ids])
    while time.time() < until:
        try:
            PageRank(seeds_from=()).search(Query(f"What is known of {rng.choice(NAMES)}?"), there)
            count += 1
        except (GraphUnavailable, GraphTimeout):
            lost += 1
            time.sleep(0.1)
        except Exception as error:
            strange = repr(error)
            break
    store.close()
    done.put(("reads", count, lost, strange))


def opened(url: str):
    while True:
        try:
            return GraphStore.open(url, connect_seconds=5, pool_size=2)
        except GraphUnavailable:
            time.sleep(0.2)


def run(seconds: float, writers: int, readers: int, kills: int) -> dict:
    """What happened; `equal` says whether the graph is that of the stored contributions."""
    context = get_context("spawn")
    done = context.Queue()
    with PostgresServer() as server:
        GraphStore.open(server.url).close()
        until = time.time() + seconds
        jobs = [(write, number) for number in range(writers)] + [(read, 100 + number) for number in range(readers)]
        processes = [context.Process(target=job, args=(server.url, seed, until, done)) for job, seed in jobs]
        for process in processes:
            process.start()
        for _ in range(kills):
            time.sleep(seconds / (kills + 1))
            server.kill()
            time.sleep(0.3)
            server.start()
        found = [done.get(timeout=seconds + 120) for _ in processes]
        for process in processes:
            process.join()
        with GraphStore.open(server.url) as store:
            fresh = resolve(store.contributions())
            equal = store.nodes() == fresh.nodes and store.edges() == fresh.edges()
            left = store.count()
    return {
        "equal": equal,
        "documents": left,
        **{kind: sum(count for name, count, *_ in found if name == kind) for kind in ("writes", "reads")},
        "without_connection": sum(lost for _, _, lost, _ in found),
        "other_errors": [error for *_, error in found if error],
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--writers", type=int, default=4)
    parser.add_argument("--readers", type=int, default=4)
    parser.add_argument("--kills", type=int, default=2)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    outcome = run(options.seconds, options.writers, options.readers, options.kills)
    print(json.dumps(outcome) if options.json else "\n".join(f"{name:20} {value}" for name, value in outcome.items()))
