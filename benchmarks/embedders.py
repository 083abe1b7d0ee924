"""Which embedder? Recall and speed of the static one and of MiniLM on ONNX Runtime and torch, on every judged set.

    python benchmarks/embedders.py [FOLDER] [--sets NAME ...] [--embedders NAME ...] [--speed] [--json]

FOLDER (or HOPWEAVE_DATA) holds the sets as for `generalise.py`. `fused` is a weighted sum of BM25 (.6) and vectors
(.4). Recall is at 5. `--speed` measures passages per second and milliseconds per question instead, on the first
passages of 2wiki; run it on a quiet machine.
"""

import argparse
import json
import os
from pathlib import Path
from statistics import fmean, median
from time import perf_counter

os.environ.setdefault("HF_HUB_OFFLINE", "1")

from generalise import document, judged_sets, read
from vectors import RememberedVectors, minilm, onnx_int8

from hopweave import KnowledgeBase, Pipeline, Query, Recipe
from hopweave.evaluate.metrics import score_each
from hopweave.evaluate.queries import read_queries
from hopweave.vector.embedders import StaticEmbedder

EMBEDDERS = {"static": StaticEmbedder, "onnx": onnx_int8, "torch": minilm}
FUSED = """
name: fused
sources: {text: {kind: bm25}, vector: {kind: vector}}
fuse: {kind: weighted, weights: {text: 0.6, vector: 0.4}}
"""
RECIPES = {
    "bm25": Recipe.from_yaml("{name: bm25, sources: {text: {kind: bm25}}}"),
    "vector": Recipe.from_yaml("{name: vector, sources: {vector: {kind: vector}}}"),
    "fused": Recipe.from_yaml(FUSED),
    "multihop": "multihop",
}
PASSAGES = 256
QUESTIONS = 50


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=os.environ.get("HOPWEAVE_DATA"))
    parser.add_argument("--sets", nargs="*", help="names of sets; all of them when not given")
    parser.add_argument("--embedders", nargs="*", choices=list(EMBEDDERS), default=list(EMBEDDERS))
    parser.add_argument("--speed", action="store_true", help="passages per second and milliseconds per question")
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    options = parser.parse_args()
    if options.folder is None:
        parser.error("give the folder of the judged sets, or set HOPWEAVE_DATA")
    sets = judged_sets(Path(options.folder))
    if options.speed:
        results = {name: speed(EMBEDDERS[name](), *sets["2wiki51"]) for name in options.embedders}
    else:
        chosen = {name: files for name, files in sets.items() if not options.sets or name in options.sets}
        results = {name: {one: recall(one, *files) for one in options.embedders} for name, files in chosen.items()}
    print(json.dumps(results) if options.json else table(results))


def recall(embedder: str, corpus: Path, queries: Path) -> dict[str, float]:
    """Recall at 5 by recipe."""
    judged = read_queries(queries)
    with KnowledgeBase.open(embedder=RememberedVectors(EMBEDDERS[embedder]())) as kb:
        kb.add(map(document, read(corpus)))
        asked = [Query(one.query.text, kb.embed(one.query.text)[1]) for one in judged]
        found = {
            name: [[hit.id for hit in pipeline.run(query, top_k=5).hits] for query in asked]
            for name, recipe in RECIPES.items()
            for pipeline in [Pipeline(recipe, kb)]
        }
    return {name: round(fmean(score_each(judged, ids, ["recall@5"])["recall@5"]), 4) for name, ids in found.items()}


def speed(embedder, corpus: Path, queries: Path) -> dict[str, float]:
    """Passages per second, and the median milliseconds of one question."""
    texts = [document(line).searchable for _, line in zip(range(PASSAGES), read(corpus), strict=False)]
    questions = [one.query.text for one in read_queries(queries)][:QUESTIONS]
    embedder.embed(texts[:8])
    started = perf_counter()
    embedder.embed(texts)
    seconds = perf_counter() - started
    each = []
    for question in questions:
        started = perf_counter()
        embedder.embed_queries([question])
        each.append(perf_counter() - started)
    return {"passages_per_second": round(PASSAGES / seconds, 1), "question_ms": round(1000 * median(each), 2)}


def table(results: dict[str, dict]) -> str:
    """One line per set and embedder."""
    lines = []
    for name, row in results.items():
        cells = row.items() if isinstance(next(iter(row.values())), dict) else [("", row)]
        for one, figures in cells:
            shown = "".join(f"{key:>24} {value:<8}" for key, value in figures.items())
            lines.append(f"{name:<18}{one:<8}{shown}")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
