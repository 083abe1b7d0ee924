"""How much opening, searching and changing a knowledge base costs as it grows.

    python benchmarks/living.py --json
    python benchmarks/living.py --sizes 1000 10000

Each size is indexed from the synthetic corpus, once on one core and once with two workers: passages a second until
terms, vectors and graph are stored and their images written, as `hopweave index` does. Then new processes open the file
and ask `multihop` questions, and one changes it: a document is added until `multihop` finds it, and deleted. Then
documents are added one by one while a compaction of the whole file runs in the same process, and deleted again. At the
end `compact(vacuum=True)` takes `vacuum_s`. Part of it writes the file anew; how long writers wait for that is the
slowest of the documents that are added beside it (`add_one_vacuum_worst_ms`).
Memory is resident memory; what a second process adds is what it has for itself (RssAnon), as mapped pages are shared.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

from synthetic import synthetic_corpus

from hopweave.document import Document
from hopweave.knowledge_base.store import KnowledgeBase

SIZES, LARGE = (10_000, 100_000), 1_000_000
CHANGES, WARM = 10, 30


def main() -> None:
    """Measure each size and print it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--large", action="store_true", help=f"also {LARGE} passages")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--probe", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.probe:
        print(json.dumps(probe(Path(options.probe[0]), json.loads(options.probe[1]))))
        return
    results = {}
    for size in (*options.sizes, *((LARGE,) if options.large else ())):
        results[str(size)] = measure(size)
        if not options.json:
            print(f"{size:,} passages")
            for name, value in results[str(size)].items():
                print(f"  {name:<24}{value:>12.2f}")
    if options.json:
        print(json.dumps({"sizes": results}))


def measure(size: int) -> dict[str, float]:
    """All figures for one size."""
    corpus = synthetic_corpus(size, questions=WARM)
    documents = [Document(one["id"], one["text"], {"title": one["title"]}) for one in corpus.passages]
    questions = [one["question"] for one in corpus.questions]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "corpus.db")
        started = time.process_time()
        rates = {"index_per_s": indexed(path, documents, 1)}
        rates["index_per_processor_s"] = size / (time.process_time() - started)
        rates["index_per_s_workers"] = indexed(Path(folder, "workers.db"), documents, 2)
        with KnowledgeBase.open(path) as kb:
            started = time.perf_counter()
            kb.compact()
            rates["compact_s"] = time.perf_counter() - started
        first = probed(path, questions)
        with KnowledgeBase.open(path, read_only=True) as kb:  # what a second process adds while this one reads
            kb.search(questions[0], recipe="multihop")
            second = probed(path, questions[:1])
        found = {**first, "second_process_extra_mb": second["private_mb"], **changed(path, questions), **rates}
        print(size, {name: round(value, 2) for name, value in found.items()}, file=sys.stderr)  # the rest takes long
        return {**found, **added_while_compacting(path)}


def indexed(path: Path, documents: list[Document], workers: int) -> float:
    """Passages a second; one worker has one core."""
    with cores(workers):
        started = time.perf_counter()
        with KnowledgeBase.open(path) as kb:
            kb.add(documents, workers=workers)
            kb.compact(if_needed=True)
        return len(documents) / (time.perf_counter() - started)


@contextmanager
def cores(count: int) -> Iterator[None]:
    """Allow this process that many cores, where the system can."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, set(sorted(before)[:count]))
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def probed(path: Path, questions: list[str]) -> dict[str, float]:
    """What a new process measures."""
    command = [sys.executable, __file__, "--probe", str(path), json.dumps(questions)]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    return dict(json.loads(ran.stdout.splitlines()[-1]))


def probe(path: Path, questions: list[str]) -> dict[str, float]:
    """Open the file and ask questions, in a process that has only imported hopweave."""
    started = time.perf_counter()
    with KnowledgeBase.open(path, read_only=True) as kb:
        kb.search(questions[0], recipe="multihop")
        first = time.perf_counter() - started
        memory = {"first_query_s": first, "first_query_rss_mb": memory_mb("VmRSS"), "private_mb": memory_mb("RssAnon")}
        return {**memory, "warm_ms": 1000 * statistics.median([seconds(kb, question) for question in questions])}


def seconds(kb: KnowledgeBase, question: str) -> float:
    """How long a question takes."""
    started = time.perf_counter()
    kb.search(question, recipe="multihop")
    return time.perf_counter() - started


def memory_mb(name: str) -> float:
    """Resident memory of this process; 0 where the system does not report it."""
    status = Path(f"/proc/{os.getpid()}/status")
    lines = status.read_text().splitlines() if status.exists() else []
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith(f"{name}:")), 0.0)


def changed(path: Path, questions: list[str]) -> dict[str, float]:
    """Medians and the worst of adding one document, adding it until it is found, and deleting one."""
    add, found, delete = [], [], []
    with KnowledgeBase.open(path) as kb:
        kb.search(questions[0], recipe="multihop")
        for number in range(CHANGES):
            title = f"Quillow Sandbar{number}"
            document = Document(f"new{number}", f"{title} is a lighthouse near the {number}th buoy.", {"title": title})
            started = time.perf_counter()
            kb.add([document])
            add.append(time.perf_counter() - started)
            result = kb.search(f"What is {title}?", recipe="multihop")
            found.append(time.perf_counter() - started)
            if document.id not in [hit.id for hit in result.hits]:
                raise SystemExit(f"{document.id} was added and not found")
        for number in range(CHANGES):
            started = time.perf_counter()
            kb.delete([f"new{number}"])
            result = kb.search(f"What is Quillow Sandbar{number}?", recipe="multihop")
            delete.append(time.perf_counter() - started)
            if f"new{number}" in [hit.id for hit in result.hits]:
                raise SystemExit(f"new{number} was deleted and found")
    return {
        "add_one_ms": 1000 * statistics.median(add),
        "add_one_worst_ms": 1000 * max(add),
        "add_one_found_ms": 1000 * statistics.median(found),
        "delete_one_ms": 1000 * statistics.median(delete),
    }


def added_while_compacting(path: Path) -> dict[str, float]:
    """The worst and the median time to add one document while all images are made again, and beside a vacuum."""
    with KnowledgeBase.open(path, busy_seconds=600) as kb:  # a vacuum of a million passages takes longer than usual
        kb.add([Document("first", "The first one loads the embedder.")])
        rebuild, beside_rebuild = added_beside(kb, lambda: kb.compact(rebuild=True))
        kb.delete(["first", *(f"meanwhile{number}" for number in range(len(beside_rebuild)))])
        vacuum, beside_vacuum = added_beside(kb, lambda: kb.compact(vacuum=True))
    return {
        "rebuild_s": rebuild,
        "add_one_compacting_ms": 1000 * statistics.median(beside_rebuild),
        "add_one_compacting_worst_ms": 1000 * max(beside_rebuild),
        "vacuum_s": vacuum,
        "add_one_vacuum_worst_ms": 1000 * max(beside_vacuum),
    }


def added_beside(kb: KnowledgeBase, work: Callable[[], None]) -> tuple[float, list[float]]:
    """How long some work takes in a thread, and how long each document that is added meanwhile."""
    seconds: list[float] = []
    thread = Thread(target=work)
    started = time.perf_counter()
    thread.start()
    while thread.is_alive():
        document = Document(f"meanwhile{len(seconds)}", f"The {len(seconds)}th buoy is a lighthouse near Quillow.")
        begun = time.perf_counter()
        kb.add([document])
        seconds.append(time.perf_counter() - begun)
        time.sleep(0.01)
    return time.perf_counter() - started, seconds


if __name__ == "__main__":
    main()
