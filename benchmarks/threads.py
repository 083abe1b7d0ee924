"""What threads cost that ask one knowledge base together: memory, the slowest answer, and values that are made twice.

    python benchmarks/threads.py --passages 100000 --threads 16
    python benchmarks/threads.py --json

The synthetic corpus is indexed once. Then a new process with one thread, and another with many, ask the same `multihop`
questions: all threads begin together with the first question of the process (`fresh`), go on (`warm`), and begin
together again after a document was added (`after_write`). The edges of a large graph are weighed once as many have been
read; here that is at the first question, so that all threads come to it at once.
Memory is private memory (RssAnon), sampled every 5 ms; `made` counts how often each value that is made when it is first
needed was made, by the name of what makes it, where that was more often than with one thread.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from threading import Barrier, Event, Thread

from synthetic import synthetic_corpus

from hopweave.concurrency.once import Once
from hopweave.document import Document
from hopweave.graph.storage import row_edges
from hopweave.knowledge_base.store import KnowledgeBase

QUESTIONS = 64


def main() -> None:
    """Measure one thread and many, and print both."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--passages", type=int, default=10_000)
    parser.add_argument("--threads", type=int, default=16)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--probe", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.probe:
        print(json.dumps(probe(Path(options.probe), options.threads)))
        return
    corpus = synthetic_corpus(options.passages, questions=QUESTIONS)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "corpus.db")
        with KnowledgeBase.open(path) as kb:
            kb.add([Document(one["id"], one["text"], {"title": one["title"]}) for one in corpus.passages])
            kb.compact()
        Path(folder, "questions.json").write_text(json.dumps([one["question"] for one in corpus.questions]))
        one, many = (probed(path, threads) for threads in (1, options.threads))
    results = {phase: compared(one[phase], many[phase]) for phase in many}
    if options.json:
        print(json.dumps({"passages": options.passages, "threads": options.threads, "phases": results}))
        return
    print(f"{options.passages:,} passages, {options.threads} threads")
    for phase, found in results.items():
        made = ", ".join(f"{name} {count}" for name, count in found.pop("made_more_often").items())
        print(
            f"{phase:<12}", *(f"{name} {value:.2f}" for name, value in found.items()), f"made more often: {made or '-'}"
        )


def compared(one: dict, many: dict) -> dict:
    """The figures of a phase, and where many threads differ from one."""
    return {
        "private_mb_one": one["private_mb"],
        "private_mb": many["private_mb"],
        "private_ratio": many["private_mb"] / one["private_mb"],
        "median_ms": many["median_ms"],
        "slowest_ms": many["slowest_ms"],
        "slowest_by_median": many["slowest_ms"] / many["median_ms"],
        "all_edges_weighed": many["made"].get("WeightedRows._weigh_all", 0),
        "made_more_often": {name: n for name, n in many["made"].items() if n > one["made"].get(name, 0)},
    }


def probed(path: Path, threads: int) -> dict:
    """`probe` in a new process."""
    command = [sys.executable, __file__, "--threads", str(threads), "--probe", str(path)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def probe(path: Path, threads: int) -> dict:
    """All phases in this process."""
    row_edges._AT_ONCE = 10**12  # so the first question finds that enough edges were read
    questions = json.loads(path.with_name("questions.json").read_text())
    made = count_made()
    found = {}
    with KnowledgeBase.open(path) as kb, ThreadPoolExecutor(threads) as pool:
        for phase in ("fresh", "warm", "after_write"):
            if phase == "after_write":
                kb.add([Document(f"added-{threads}", "The Skua left Harris.", {"title": "Skua"})])
            made.clear()
            together = Barrier(threads)
            shares = [questions[first::threads] for first in range(threads)]
            with private_memory() as peak:
                times = [seconds for share in pool.map(partial(ask, kb, together), shares) for seconds in share]
            found[phase] = {
                "private_mb": peak[0],
                "median_ms": 1000 * statistics.median(times),
                "slowest_ms": 1000 * max(times),
                "made": dict(made),
            }
    return found


def ask(kb: KnowledgeBase, together: Barrier, questions: list[str]) -> list[float]:
    """The seconds of each question; the first is asked when all threads are ready."""
    together.wait()
    times = []
    for question in questions:
        started = time.perf_counter()
        kb.search(question, recipe="multihop")
        times.append(time.perf_counter() - started)
    return times


def count_made() -> Counter:
    """Counts of what was made lazily from now on, by the name of the function that makes it."""
    made: Counter = Counter()
    get_or_make = Once.get_or_make

    def counted(self, make):
        def making():
            made[getattr(make, "func", make).__qualname__] += 1
            return make()

        return get_or_make(self, making)

    Once.get_or_make = counted
    return made


@contextmanager
def private_memory():
    """The largest private memory of this process within the block, in MB."""
    peak, done = [private_mb()], Event()

    def sample() -> None:
        while not done.wait(0.005):
            peak[0] = max(peak[0], private_mb())

    sampler = Thread(target=sample)
    sampler.start()
    try:
        yield peak
    finally:
        done.set()
        sampler.join()


def private_mb() -> float:
    """The private memory of this process now."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("RssAnon")) / 1024


if __name__ == "__main__":
    main()
