"""Is `multihop` ever worse than the best single source? Recall on every judged set of a folder.

    python benchmarks/generalise.py [FOLDER] [--sets NAME ...] [--embedder static|minilm|both] [--halves]
                                    [--titles keep|first_line|none] [--json]

FOLDER (or HOPWEAVE_DATA) holds pairs of JSON Lines files: `<name>_corpus.jsonl` with id, text and perhaps title, and
`<name>_queries.jsonl` with question and gold; `2wiki51_queries.jsonl` goes with `2wiki_corpus.jsonl`. Every set is
indexed once per embedder and asked with `bm25`, `vector`, `hybrid` and `multihop`. `--halves` reports the questions
with even and odd numbers as well; constants were chosen while looking at all of them. `ms` is the median time of a
question with its vector given. `--titles first_line` puts each title above its text, as a line, and
`none` drops it.
"""

import argparse
import json
import os
from pathlib import Path
from statistics import fmean, median
from time import perf_counter

os.environ.setdefault("HF_HUB_OFFLINE", "1")

from vectors import EMBEDDERS, RememberedVectors

from hopweave import Document, KnowledgeBase, Pipeline, Query, Recipe
from hopweave.evaluate.metrics import depth, score_each
from hopweave.evaluate.queries import read_queries
from hopweave.vector.embedders import CallableEmbedder

MEASURES = ("recall@5", "recall@10", "all_gold@8")
RECIPES = {
    "bm25": Recipe.from_yaml("{name: bm25, sources: {text: {kind: bm25}}}"),
    "vector": Recipe.from_yaml("{name: vector, sources: {vector: {kind: vector}}}"),
    "hybrid": "hybrid",
    "multihop": "multihop",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=os.environ.get("HOPWEAVE_DATA"))
    parser.add_argument("--sets", nargs="*", help="names of sets; all of them when not given")
    parser.add_argument("--embedder", choices=[*EMBEDDERS, "both"], default="both")
    parser.add_argument("--halves", action="store_true", help="even and odd questions as well")
    parser.add_argument("--titles", choices=TITLES, default="keep", help="what becomes of the titles of a corpus")
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    options = parser.parse_args()
    if options.folder is None:
        parser.error("give the folder of the judged sets, or set HOPWEAVE_DATA")
    embedders = EMBEDDERS if options.embedder == "both" else [options.embedder]
    results = {
        f"{name}, {embedder}{half}": row
        for name, (corpus, queries) in judged_sets(Path(options.folder)).items()
        if not options.sets or name in options.sets
        for embedder in embedders
        for half, row in measure(corpus, queries, embedder, options.titles, halves=options.halves).items()
    }
    print(json.dumps(results) if options.json else table(results))


def judged_sets(folder: Path) -> dict[str, tuple[Path, Path]]:
    """Corpus and queries of every set, by the name of its queries."""
    sets = {}
    for queries in sorted(folder.glob("*_queries.jsonl")):
        name = queries.name.removesuffix("_queries.jsonl")
        corpora = [folder / f"{one}_corpus.jsonl" for one in (name, name.rstrip("0123456789"))]
        if corpus := next((file for file in corpora if file.exists()), None):
            sets[name] = corpus, queries
    return sets


def measure(
    corpus: Path, queries: Path, embedder: str, titles: str = "keep", *, halves: bool
) -> dict[str, dict[str, dict[str, float]]]:
    """Measures by half of the questions ("" for all of them) and recipe."""
    judged = read_queries(queries)
    vectors = RememberedVectors(EMBEDDERS[embedder]())
    with KnowledgeBase.open(embedder=CallableEmbedder(name=vectors.model_name, function=vectors.embed)) as kb:
        kb.add(TITLES[titles](document(line)) for line in read(corpus))
        asked = [Query(one.query.text, kb.embed(one.query.text)[1]) for one in judged]
        found = {name: ask(Pipeline(recipe, kb), asked) for name, recipe in RECIPES.items()}
    parts = {"": slice(None)} | ({" even": slice(0, None, 2), " odd": slice(1, None, 2)} if halves else {})
    return {
        part: {
            name: {
                **{key: round(fmean(of), 4) for key, of in score_each(judged[which], ids[which], MEASURES).items()},
                "ms": round(1000 * median(seconds[which]), 2),
            }
            for name, (ids, seconds) in found.items()
        }
        for part, which in parts.items()
    }


def ask(pipeline: Pipeline, asked: list[Query]) -> tuple[list[list[str]], list[float]]:
    pipeline.run(asked[0])
    found, seconds = [], []
    for query in asked:
        started = perf_counter()
        result = pipeline.run(query, top_k=max(map(depth, MEASURES)))
        seconds.append(perf_counter() - started)
        found.append([hit.id for hit in result.hits])
    return found, seconds


def document(line: dict) -> Document:
    return Document(line["id"], line["text"], {"title": line["title"]} if line.get("title") else {})


def with_first_line(document: Document) -> Document:
    return Document(document.id, f"{document.title}\n{document.text}" if document.title else document.text)


def without_title(document: Document) -> Document:
    return Document(document.id, document.text)


TITLES = {"keep": lambda document: document, "first_line": with_first_line, "none": without_title}


def read(file: Path):
    with file.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def table(results: dict[str, dict[str, dict[str, float]]]) -> str:
    """Recall@5 and @10 of every recipe, and how far multihop lies above the best of the others."""
    lines = [f"{'':<32}" + "".join(f"{name:>18}" for name in RECIPES) + f"{'gain@5':>10}{'ms':>8}"]
    for label, row in results.items():
        cells = "".join(f"{row[name]['recall@5']:>11.3f} {row[name]['recall@10']:>6.3f}" for name in RECIPES)
        gain = row["multihop"]["recall@5"] - max(row[name]["recall@5"] for name in RECIPES if name != "multihop")
        lines.append(f"{label:<32}{cells}{gain:>+10.3f}{row['multihop']['ms']:>8.1f}")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
