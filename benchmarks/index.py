"""How fast passages are indexed, step by step, and how much memory that takes.

    python benchmarks/index.py [--passages 3000] [--json]

The corpus is synthetic (see synthetic.py). Each line is a knowledge base in a file, made by a process of its own, with
one more step than the line before: text, static vectors, graph contributions. `graph_seconds` is what follows once per
version of the file, when the graph is first asked for. Processor time; peak_mb is all that the process ever held.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from time import process_time

sys.path.sort(key=str(Path(__file__).parent).__eq__)  # this folder last: one of its scripts is called haystack

from growth import peak_mb
from synthetic import synthetic_corpus

STEPS = ("text", "vectors", "graph")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--passages", type=int, default=3_000)
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)  # what a child process does
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(options.one[0], Path(options.one[1]))))
        return
    with tempfile.TemporaryDirectory() as folder:
        corpus = Path(folder, "passages.jsonl")
        passages = synthetic_corpus(options.passages).passages
        corpus.write_text("".join(json.dumps(line) + "\n" for line in passages), encoding="utf-8")
        rows = {step: in_process(step, corpus) for step in STEPS}
    result = {"passages": options.passages, "steps": rows}
    print(json.dumps(result) if options.json else table(result))


def in_process(step: str, corpus: Path) -> dict[str, float]:
    """One line, measured by a process of its own."""
    command = [sys.executable, __file__, "--one", step, str(corpus)]
    one_core = {**os.environ, "OMP_NUM_THREADS": "1"}  # threads that wait would count as work
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=one_core)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def measure(step: str, corpus: Path) -> dict[str, float]:
    """Index the corpus with this step and those before it."""
    from hopweave import Document, KnowledgeBase
    from hopweave.vector.embedders import StaticEmbedder

    embedder = None if step == "text" else StaticEmbedder()
    with corpus.open(encoding="utf-8") as lines, tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "kb.db")
        with KnowledgeBase.open(file, embedder=embedder, **({} if step == "graph" else {"builders": []})) as kb:
            if embedder:
                kb.embed("warm")
            started = process_time()
            added = kb.add(
                Document(line["id"], line["text"], {"title": line["title"]}) for line in map(json.loads, lines)
            )
            seconds = process_time() - started
            _ = kb.graph
            graph_seconds = process_time() - started - seconds
        return {
            "passages_per_second": round(added.added / seconds),
            "seconds": round(seconds, 2),
            "graph_seconds": round(graph_seconds, 2) if step == "graph" else None,
            "file_mb": round(file.stat().st_size / 2**20, 1),
            "peak_mb": round(peak_mb()),
        }


def table(result) -> str:
    columns = list(result["steps"]["text"])
    lines = [f"{result['passages']:<10,}" + "".join(f"{name:>22}" for name in columns)]
    for step, row in result["steps"].items():
        values = ("–" if row[name] is None else row[name] for name in columns)
        lines.append(f"{'+ ' * (step != 'text') + step:<10}" + "".join(f"{value:>22}" for value in values))
    return "\n".join(lines)


if __name__ == "__main__":
    main()
