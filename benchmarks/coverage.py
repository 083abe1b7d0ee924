"""A graph that has seen only a part of a store, beside the user's own retriever over all of it.

    python benchmarks/coverage.py FOLDER [--sets NAME ...] [--recipes NAME ...] [--json]

FOLDER (or HOPWEAVE_DATA) holds the judged sets. The user's own retriever ranks all passages by the cosine of static
vectors and takes the place of a recipe's source `vector`; the knowledge base holds a share of the passages: random
ones, or all but the newest, which are the last of the file. Printed is recall@5 of the own retriever and of each
recipe, per share. No recipe may be more than .01 below the own retriever.
"""

import argparse
import json
import os
from pathlib import Path
from random import Random
from typing import Any, ClassVar, Literal

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import numpy as np
from judging import SETS, JudgedSet, quality
from pydantic import Field

from hopweave import Hit, KnowledgeBase, Pipeline, Query, load_recipe
from hopweave.component import Source
from hopweave.vector.embedders import StaticEmbedder

SHARES = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)
TOP_K = 50


class Own(Source):
    """The retriever of a user: all passages by cosine, whatever the knowledge base holds."""

    kind: Literal["own"] = "own"
    in_memory: ClassVar[bool] = True
    ranking: dict[str, list[Any]] = Field(default={}, exclude=True, repr=False)

    @property
    def from_outside(self) -> bool:
        return True

    def search(self, query, knowledge, upstream=None):  # noqa: ARG002 - the shape of a source
        return self.ranking[query.text]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", default=os.environ.get("HOPWEAVE_DATA"))
    parser.add_argument("--sets", nargs="*", default=["musique100", "2wiki51"])
    parser.add_argument("--recipes", nargs="*", default=["multihop", "hybrid"])
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    options = parser.parse_args()
    if options.folder is None:
        parser.error("give FOLDER, or set HOPWEAVE_DATA")
    results = {name: measured(options, name) for name in options.sets}
    if options.json:
        print(json.dumps(results))
        return
    for name, rows in results.items():
        print(f"{name}\n{'kept':8} {'share':>6} " + " ".join(f"{column:>9}" for column in ("own", *options.recipes)))
        for row in rows:
            figures = " ".join(f"{row[column]:9.3f}" for column in ("own", *options.recipes))
            print(f"{row['kept']:8} {row['share']:6.2f} {figures}")


def measured(options, name: str) -> list[dict]:
    judged = JudgedSet.read(*(Path(options.folder) / file for file in SETS[name][:2]))
    embedder = StaticEmbedder()
    vectors = unit(embedder.embed([one.searchable for one in judged.documents]))
    asked = unit(embedder.embed_queries([one.query.text for one in judged.questions]))
    ranking = {}
    for question, vector in zip(judged.questions, asked, strict=True):
        scores = vectors @ vector
        best = np.argsort(-scores, kind="stable")[:TOP_K]
        ranking[question.query.text] = [
            Hit(one.id, float(scores[row]), one.text, one.metadata)
            for row, one in ((row, judged.documents[row]) for row in best)
        ]
    own = recall(judged, lambda text: ranking[text])
    rows = []
    for kept in ("random", "oldest"):
        order = list(judged.documents)
        if kept == "random":
            Random(7).shuffle(order)
        for share in SHARES:
            row = {"kept": kept, "share": share, "own": own}
            with KnowledgeBase.open(embedder=embedder) as kb:
                kb.add(order[: round(share * len(order))])
                for recipe in options.recipes:
                    shipped = load_recipe(recipe)
                    mine = shipped.model_copy(
                        update={"sources": {**shipped.sources, "vector": Own.model_construct(ranking=ranking)}}
                    )
                    pipeline = Pipeline(mine, kb)
                    row[recipe] = recall(judged, lambda text, run=pipeline.run: run(Query(text)).hits)
            rows.append(row)
    return rows


def recall(judged, ask) -> float:
    found = [[hit.id for hit in ask(question.query.text)[:10]] for question in judged.questions]
    return quality(found, judged.questions)["recall@5"]


def unit(rows: np.ndarray) -> np.ndarray:
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)


if __name__ == "__main__":
    main()
