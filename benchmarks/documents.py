"""How good the recipes are on documentation, law, chat, chunks and flat passages, and what each kind of evidence earns.

    python benchmarks/documents.py [SET …] [--recipes NAME …] [--ablation] [--keep FOLDER] [--against FILE] [--json]

HOPWEAVE_DATA is the folder of the data sets; a SET is a tree under `docs` (scored by file, as its README says) or the
name of a `*_queries.jsonl`. Without a SET it runs all but django_docs and observability_docs. A cell has recall@5, all
gold among the first 10 (of passages: 8) and mrr; of a tree, those of questions that take several files, and the mrr of
those that take one behind a bar. `--ablation` leaves out each kind of evidence in turn, with the 95 % interval of the
paired bootstrap of the difference. `--keep` keeps knowledge bases for the next run. `--against` compares with the
JSON of an earlier run. Nothing is drawn at random but the bootstrap.
"""

import argparse
import json
import os
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from statistics import fmean, median
from time import perf_counter

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import numpy as np

from hopweave import Document, KnowledgeBase, Pipeline, Query, load_recipe
from hopweave.cli import main as hopweave

LAST = ("django_docs", "observability_docs")
TREES = ("k8s_docs", "peps")
PASSAGES = ("2wiki51", "musique100", "musique_b", "statutes", "locomo_dev", "dragon_en_chunk", "dragon_zh_chunk",
            "scifact", "cosqa", "xquad_de", "jsquad_ja")  # fmt: skip
KINDS = ("document", "latent", "latent_document", "text", "vector")
DRAWS = 2000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="*", metavar="SET")
    parser.add_argument("--recipes", nargs="+", default=["bm25", "hybrid", "multihop"])
    parser.add_argument("--ablation", action="store_true")
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--against", type=Path)
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    options = parser.parse_args()
    if "HOPWEAVE_DATA" not in os.environ:
        parser.error("set HOPWEAVE_DATA to the folder of the data sets")
    earlier = json.loads(options.against.read_text()) if options.against else {}
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or Path(temporary)
        folder.mkdir(exist_ok=True, parents=True)
        results = {name: measure(name, folder, options) for name in options.sets or (*TREES, *PASSAGES)}
    if options.json:
        print(json.dumps(results))
        return
    for name, rows in results.items():
        print_rows(name, rows, earlier.get(name, {}), options.recipes[-1])
    trees = [name for name in results if "by_file" in results[name]]
    if len(trees) > 1:
        print_rows(" + ".join(trees), pooled([results[name] for name in trees]),
                   pooled([earlier[name] for name in trees if name in earlier]), options.recipes[-1])  # fmt: skip


def measure(name, folder, options):
    data = Path(os.environ["HOPWEAVE_DATA"])
    tree = data / "docs" / name
    by_file = tree.is_dir()
    queries = tree / "queries.jsonl" if by_file else data / f"{name}_queries.jsonl"
    questions = list(read(queries))
    started = perf_counter()
    file = folder / f"{name}.db"
    if not file.exists():
        index_tree(tree / "tree", file) if by_file else index_passages(data, name, file)
    seconds = perf_counter() - started
    rows: dict = {"index_seconds": round(seconds, 1), "recipes": {}, **({"by_file": True} if by_file else {})}
    with KnowledgeBase.open(file, read_only=True) as kb:
        recipes = {one: load_recipe_or_source(one) for one in options.recipes}
        if options.ablation:
            recipes |= ablation(recipes[options.recipes[-1]])
        for one, recipe in recipes.items():
            pipeline = Pipeline(recipe, kb)
            skip = ("graph",) if one == "without graph" else ()
            pipeline.run(questions[0]["question"])
            found, spent, priors = [], [], []
            for question in questions:
                asked = Query(question["question"], skip=skip)
                started = perf_counter()
                hits = pipeline.run(asked, top_k=60).hits
                spent.append(perf_counter() - started)
                found.append([path_of(hit) if by_file else hit.id for hit in hits])
                priors += [
                    receipt.details["prior"]
                    for hit in hits[:1]
                    for receipt in hit.receipts
                    if "prior" in receipt.details
                ]
            rows["recipes"][one] = {
                "median_ms": round(1000 * median(spent), 2),
                "questions": [judged(*pair, by_file) for pair in zip(questions, found, strict=True)],
                **({"prior": round(fmean(priors), 2)} if priors else {}),
            }
    return rows


def load_recipe_or_source(name):
    if name != "bm25":
        return load_recipe(name)
    return load_recipe("hybrid").model_validate(
        {"name": "bm25", "sources": {"text": {"kind": "bm25", "top_k": 60}}, "fuse": {"kind": "passthrough"}}
    )


def ablation(recipe):
    """The recipe without one kind of evidence after the other."""
    evidence = recipe.sources["evidence"]
    changed = {
        f"without {kind}": recipe.model_copy(
            update={"sources": {**recipe.sources, "evidence": evidence.changed(without=(kind,))}}
        )
        for kind in KINDS
    }
    return {**changed, **({"without graph": recipe} if "graph" in recipe.sources else {})}


def index_tree(tree, file):
    """As `hopweave index` reads a tree."""
    hopweave(["index", str(tree), "--kb", str(file), "--quiet"])


def index_passages(data, name, file):
    corpus = data / f"{name.removesuffix('51') if name == '2wiki51' else name}_corpus.jsonl"
    documents = []
    for line in read(corpus):
        metadata = {key: value for key, value in line.items() if key not in ("id", "text") and value}
        documents.append(Document(line["id"], line["text"], metadata))
    with KnowledgeBase.open(file) as kb:
        kb.add(documents)
        kb.compact()


def path_of(hit):
    return str(hit.metadata.get("source", hit.id.partition("#")[0]))


def judged(question, found, by_file):
    """Recall@5, all gold among the first, reciprocal rank of the first gold, and whether one file answers."""
    depth = 10 if by_file else 8
    ranked = list(dict.fromkeys(stem(one) for one in found) if by_file else found)
    alternatives = question.get("alternatives") or []
    gold = [{key, *(alternatives[place] or () if place < len(alternatives) else ())}
            for place, key in enumerate(question["gold"])]  # fmt: skip
    gold = [{stem(key) for key in keys} if by_file else keys for keys in gold]
    ranks = [min((ranked.index(key) for key in keys if key in ranked), default=None) for keys in gold]
    there = [rank for rank in ranks if rank is not None]
    first = min(there, default=None)
    return [
        sum(rank < 5 for rank in there) / len(gold),
        float(len(there) == len(gold) and max(there) < depth),
        1 / (1 + first) if first is not None and (by_file or first < 10) else 0.0,
        by_file and len(gold) == 1,
    ]


def stem(path):
    return path.removesuffix(".rst").removesuffix(".md")


def pooled(results):
    rows = defaultdict(list)
    for result in results:
        for name, row in result.get("recipes", {}).items():
            rows[name] += row["questions"]
    return {"by_file": True, "recipes": {name: {"questions": questions} for name, questions in rows.items()}}


def print_rows(name, rows, earlier, base):
    print(f"{name}")
    before = {f"before: {one}": row for one, row in earlier.get("recipes", {}).items()}
    for label, row in {**before, **rows["recipes"]}.items():
        extra = "".join(f"  {key} {row[key]}" for key in ("median_ms", "prior") if key in row)
        compared = f"  {base} − it: {differences(rows['recipes'][base], row)}" if label != base else ""
        print(f"    {label:<24} {cell(row['questions'])}{extra}{compared}")


def cell(questions):
    several = np.array([row[:3] for row in questions if not row[3]], float)
    one = [row[2] for row in questions if row[3]]
    means = several.mean(axis=0) if len(several) else []
    return " ".join(f"{value:.3f}" for value in means) + (f" | {fmean(one):.3f}" if one else "")


def differences(base, other):
    """The differences of the measures, with their 95 % intervals."""
    chance = np.random.default_rng(0)
    pairs = np.array([[*one[:3], one[3]] for one in base["questions"]], float)
    others = np.array([[*one[:3], one[3]] for one in other["questions"]], float)
    stated = []
    for single, places in ((0.0, (0, 1, 2)), (1.0, (2,))):
        chosen = pairs[:, 3] == single
        if chosen.any():
            changes = (pairs - others)[chosen][:, places]
            drawn = changes[chance.integers(0, len(changes), (DRAWS, len(changes)))].mean(axis=1)
            low, high = np.quantile(drawn, [0.025, 0.975], axis=0)
            bounds = zip(changes.mean(axis=0), low, high, strict=True)
            stated += [f"{mean:+.3f} [{below:.3f}, {above:.3f}]" for mean, below, above in bounds]
    return "  ".join(stated)


def read(file):
    with file.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


if __name__ == "__main__":
    sys.exit(main())
