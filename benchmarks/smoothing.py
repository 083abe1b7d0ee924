"""Recall@5 with vectors that are blended with those of their neighbours in the graph, by the share of the own vector.

    python benchmarks/smoothing.py [--data FOLDER] [--json]

`vector` alone and the recipe of each set: `knowledge` and `skills` with the edges of their metadata; with --data, or
HOPWEAVE_DATA, also musique100 and 2wiki51 with `multihop`, whose graph connects passages by the names they mention.
"""

import argparse
import json
import os
from pathlib import Path

from hopweave import KnowledgeBase, Recipe
from hopweave.evaluate.evaluate import evaluate
from hopweave.evaluate.queries import read_queries
from hopweave.graph.build.builders.metadata import MetadataBuilder
from hopweave.readers.files import read_documents
from hopweave.recipe import load_recipe
from hopweave.sources.vector_search import VectorSearch

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
JUDGED = {"musique100": "musique100_corpus.jsonl", "2wiki51": "2wiki_corpus.jsonl"}
SHARES = (1.0, 0.9, 0.7, 0.5, 0.3)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default=os.environ.get("HOPWEAVE_DATA"), help="folder of the judged sets")
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    options = parser.parse_args()
    result = {}
    for name in ("knowledge", "skills"):
        files = EXAMPLES / name / "corpus.jsonl", EXAMPLES / name / "queries.jsonl"
        result |= measured(name, *files, recipe=name, builders=[MetadataBuilder()])
    for name, corpus in JUDGED.items() if options.data else ():
        files = Path(options.data) / corpus, Path(options.data) / f"{name}_queries.jsonl"
        result |= measured(name, *files, recipe="multihop", builders=None)
    print(json.dumps(result) if options.json else table(result))


def measured(name: str, corpus: Path, queries: Path, recipe: str, builders: list | None) -> dict[str, dict[str, float]]:
    judged, chosen = read_queries(queries), load_recipe(recipe)
    rows: dict[str, dict[str, float]] = {f"{name}, vector": {}, f"{name}, {recipe}": {}}
    with KnowledgeBase.open(builders=builders) as kb:
        kb.add(read_documents(corpus))
        for share in SHARES:
            sources = {**chosen.sources, "vector": chosen.sources["vector"].changed(own_share=share)}
            recipes = (Recipe.of_source(VectorSearch(own_share=share)), chosen.model_copy(update={"sources": sources}))
            for label, one in zip(rows, recipes, strict=True):
                (found,) = evaluate(kb, [one], judged, measures=["recall@5"]).evaluations
                rows[label][f"{share:g}"] = round(found.mean("recall@5"), 3)
    return rows


def table(result: dict[str, dict[str, float]]) -> str:
    columns = [f"{share:g}" for share in SHARES]
    rows = [["own_share", *columns], *([name, *(f"{one[key]:.3f}" for key in columns)] for name, one in result.items())]
    return "\n".join(f"{row[0]:<24}" + "".join(f"{cell:>8}" for cell in row[1:]) for row in rows)


if __name__ == "__main__":
    main()
