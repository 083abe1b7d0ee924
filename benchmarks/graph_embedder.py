"""What an embedder learns from the graph alone: recall of vector search, and what training costs.

    python benchmarks/graph_embedder.py [--data FOLDER] [--only SET] [--growth] [--json]

Recall@5 of vectors by themselves on the corpora of the recipes `knowledge` and `skills`, and on musique100 and 2wiki51
if their folder is given or HOPWEAVE_DATA names it: `static` (WordLlama), `untrained` (random token vectors), `trained`
on the graph from there, `sum` (sum of the cosines of static and trained), `fine_tuned` (static token vectors,
trained). With --growth: processor seconds and peak memory of one epoch with 1,000, 10,000 and 100,000 edges.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from statistics import fmean
from time import process_time

import numpy as np

from hopweave import KnowledgeBase
from hopweave.evaluate.metrics import score_each
from hopweave.evaluate.queries import read_queries
from hopweave.knowledge_base.train_embedder import train_embedder
from hopweave.readers.files import read_documents
from hopweave.vector.contextual.contextual_model import ContextualModel
from hopweave.vector.contextual.training import Training, train
from hopweave.vector.embedders import StaticEmbedder
from hopweave.vector.graph_embedder import GraphEmbedder

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
OWN = ("knowledge", "skills")
JUDGED = {"musique100": "musique100_corpus.jsonl", "2wiki51": "2wiki_corpus.jsonl"}
SIZES = (1_000, 10_000, 100_000)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default=os.environ.get("HOPWEAVE_DATA"), help="folder of the judged sets")
    parser.add_argument("--only", choices=[*OWN, *JUDGED], action="append", help="this set; may be repeated")
    parser.add_argument("--growth", action="store_true")
    parser.add_argument("--edges", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    options = parser.parse_args()
    if options.edges:
        print(json.dumps(one_epoch(options.edges)))
        return
    if options.growth:
        result = {f"{size} edges": in_a_process(size) for size in SIZES}
    else:
        sets = {name: (EXAMPLES / name, "corpus.jsonl", "queries.jsonl") for name in OWN}
        if options.data:
            sets |= {name: (Path(options.data), corpus, f"{name}_queries.jsonl") for name, corpus in JUDGED.items()}
        result = {name: measured(*files) for name, files in sets.items() if name in (options.only or sets)}
    print(json.dumps(result) if options.json else table(result))


def measured(folder: Path, corpus: str, queries: str) -> dict[str, float]:
    documents, judged = list(read_documents(folder / corpus)), read_queries(folder / queries)
    texts, questions = [one.searchable for one in documents], [one.query.text for one in judged]
    keys = [one.id for one in documents]

    def recall(cosines: np.ndarray) -> float:
        rankings = [[keys[place] for place in np.argsort(-row, kind="stable")[:5]] for row in cosines]
        return round(fmean(score_each(judged, rankings, ["recall@5"])["recall@5"]), 4)

    def cosines(embedder) -> np.ndarray:
        found, asked = (_unit(embedder.embed(some)) for some in (texts, questions))
        return asked @ found.T

    with KnowledgeBase.open(embedder=None) as kb:
        kb.add(documents)
        untrained = GraphEmbedder.of(ContextualModel.untrained(texts, start="random"))
        started = process_time()
        train_embedder(kb)
        seconds = process_time() - started
        trained = kb.settings.embedder
        train_embedder(kb, start="static")
        fine_tuned = kb.settings.embedder
    static, own = cosines(StaticEmbedder()), cosines(trained)
    return {
        "static": recall(static),
        "untrained": recall(cosines(untrained)),
        "trained": recall(own),
        "sum": recall(static + own),
        "fine_tuned": recall(cosines(fine_tuned)),
        "processor_seconds": round(seconds, 1),
    }


def one_epoch(edges: int) -> dict[str, float]:
    """Nodes in pairs of a passage of 48 words and an entity of 2, about 3 edges for each passage."""
    random = np.random.default_rng(0)
    passages, words = max(edges // 3, 2), 20_000
    texts = [" ".join(f"w{number}" for number in random.zipf(1.3, 48) % words) for _ in range(passages)]
    names = [f"w{number} w{number + 1}" for number in range(passages // 2 + 1)]
    model = ContextualModel.untrained([*texts, *names], start="random")
    pairs = np.stack([random.integers(0, passages, edges), passages + random.integers(0, len(names), edges)], axis=1)
    tokens, started = model.tokens([*texts, *names]), process_time()
    train(model.parameters, tokens, pairs, Training(epochs=1))
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"processor_seconds": round(process_time() - started, 1), "peak_mb": round(used)}


def in_a_process(edges: int) -> dict[str, float]:
    """In a process of its own, so that memory is that of one size."""
    command = [sys.executable, __file__, "--edges", str(edges)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    found = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return json.loads(found.stdout)


def table(result: dict[str, dict[str, float]]) -> str:
    columns = list(next(iter(result.values())))
    rows = [["", *columns], *([name, *(str(one[column]) for column in columns)] for name, one in result.items())]
    return "\n".join("  ".join(f"{cell:>17}" for cell in row) for row in rows)


def _unit(rows: np.ndarray) -> np.ndarray:
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)


if __name__ == "__main__":
    main()
