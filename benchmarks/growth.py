"""How cost grows with the corpus: indexing, one more document, file, memory, and each kind of question.

    python benchmarks/growth.py [--sizes 1000 3000 10000] [--large] [--json]

--large is 1,000, 10,000 and 100,000 passages. The corpus is synthetic (see synthetic.py) and needs no data; the
embedder is the static one. `slopes` are those of a line through the points in log–log: 1 is linear growth, 0 is none.
Each size runs in a process of its own, so that peaks of memory do not mix. Times are processor time, so that other work
on the machine does not count.

index_seconds        add all passages, make the images of text, vectors and graph
images_seconds       the last part of it, which otherwise goes on in the background
add_one_ms           from handing in one more passage until a text search finds it
add_one_graph_ms     the same until `multihop` finds it
file_mb, memory_mb   the knowledge base on disk; the peak of the process above what it had with the embedder loaded
text_ms ... whole_ms medians over 50 questions with their vectors given: BM25, vectors, the walk over the graph given
                     the hits of the two, and the whole recipe `multihop`
"""

import argparse
import json
import math
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from time import process_time

sys.path.sort(key=str(Path(__file__).parent).__eq__)  # this folder last: one of its scripts is called haystack

from synthetic import synthetic_corpus

SMALL, LARGE = (1_000, 3_000, 10_000), (1_000, 10_000, 100_000)
LABELS = {
    "index_seconds": "index, s",
    "images_seconds": "of it images, s",
    "add_one_ms": "add one, text, ms",
    "add_one_graph_ms": "add one, graph, ms",
    "file_mb": "file, MB",
    "memory_mb": "memory, MB",
    "text_ms": "text query, ms",
    "vector_ms": "vector query, ms",
    "graph_ms": "graph query, ms",
    "whole_ms": "multihop, ms",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=SMALL, help="numbers of passages, at least two")
    parser.add_argument("--large", action="store_true", help="1,000, 10,000 and 100,000 passages")
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    parser.add_argument("--one", type=Path, help=argparse.SUPPRESS)  # what a child process does
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(options.one)))
        return
    sizes = LARGE if options.large else tuple(options.sizes)
    if len(set(sizes)) < 2:
        parser.error("--sizes needs at least two different numbers, for a slope")
    rows = {size: in_process(size) for size in sizes}
    result = {"sizes": {str(size): row for size, row in rows.items()}, "slopes": slopes(rows)}
    print(json.dumps(result) if options.json else table(result))


def in_process(size: int) -> dict[str, float]:
    """One column of the table, measured by a process of its own."""
    corpus = synthetic_corpus(size)
    with tempfile.TemporaryDirectory() as folder:
        for name in ("passages", "questions"):
            with Path(folder, f"{name}.jsonl").open("w", encoding="utf-8") as file:
                file.writelines(json.dumps(line) + "\n" for line in getattr(corpus, name))
        command = [sys.executable, __file__, "--one", folder]
        one_core = {**os.environ, "OMP_NUM_THREADS": "1"}  # threads that wait would count as work
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=one_core)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def measure(folder: Path) -> dict[str, float]:
    """Index the corpus in this folder and ask it its questions."""
    from hopweave import Document, KnowledgeBase, Pipeline, Query
    from hopweave.recipe import load_recipe

    def read(name):
        with (folder / f"{name}.jsonl").open(encoding="utf-8") as lines:
            yield from map(json.loads, lines)

    file = folder / "kb.db"
    with KnowledgeBase.open(file) as kb:
        kb.embed("warm")
        before = peak_mb()
        started = process_time()
        kb.add(Document(line["id"], line["text"], {"title": line["title"]}) for line in read("passages"))
        added = process_time()
        kb.compact(if_needed=True)  # which has begun in the background, and would count as work of the questions
        _ = kb.graph
        finished = process_time()
        memory = peak_mb() - before

        recipe = load_recipe("multihop")
        pipeline = Pipeline(recipe, kb)
        questions = [Query(line["question"], kb.embed(line["question"])[1]) for line in read("questions")]
        names = ("text", "vector", "graph")
        times: dict[str, list[float]] = {name: [] for name in (*names, "whole")}
        for query in questions[:3]:
            pipeline.run(query)
        for query in questions:
            upstream = {}
            for name in names:
                begun = process_time()
                upstream[name] = recipe.sources[name].search(query, kb, upstream)
                times[name].append(process_time() - begun)
            begun = process_time()
            pipeline.run(query)
            times["whole"].append(process_time() - begun)
        file_mb = file.stat().st_size / 2**20
        return {
            "index_seconds": round(finished - started, 3),
            "images_seconds": round(finished - added, 3),
            "add_one_ms": round(1000 * median(add_one(kb, "hybrid", number) for number in range(5)), 2),
            "add_one_graph_ms": round(1000 * median(add_one(kb, "multihop", number) for number in range(5, 8)), 2),
            "file_mb": round(file_mb, 2),
            "memory_mb": round(memory, 1),
            **{f"{name}_ms": round(1000 * median(taken), 3) for name, taken in times.items()},
        }


def add_one(kb, recipe: str, number: int) -> float:
    """Seconds from handing in a passage until it is the best hit."""
    from hopweave import Document

    name = f"Quetzal{chr(97 + number)} Coatlus"
    started = process_time()
    kb.add([Document(f"new{number}", f"{name} is a passage that came late.", {"title": name})])
    found = kb.search(f"Where is {name}?", recipe=recipe, top_k=1).hits
    seconds = process_time() - started
    if [hit.id for hit in found] != [f"new{number}"]:
        raise RuntimeError(f"{name} was added but not found")
    return seconds


def peak_mb() -> float:
    """The most memory this process has held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)


def slopes(rows: dict[int, dict[str, float]]) -> dict[str, float]:
    """Growth of each figure with size: the slope of the least-squares line in log–log.

    >>> slopes({10: {"ms": 2.0}, 100: {"ms": 20.0}, 1000: {"ms": 200.0}})
    {'ms': 1.0}
    """
    x = [math.log(size) for size in rows]
    centre = sum(x) / len(x)
    spread = sum((one - centre) ** 2 for one in x)
    found = {}
    for name in next(iter(rows.values())):
        y = [math.log(max(row[name], 1e-6)) for row in rows.values()]
        found[name] = round(sum((one - centre) * other for one, other in zip(x, y, strict=True)) / spread, 2)
    return found


def table(result) -> str:
    sizes = result["sizes"]
    lines = [f"{'passages':<22}" + "".join(f"{int(size):>12,}" for size in sizes) + f"{'slope':>8}"]
    for name, label in LABELS.items():
        values = "".join(f"{row[name]:>12,.2f}" for row in sizes.values())
        lines.append(f"{label:<22}{values}{result['slopes'][name]:>8.2f}")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
