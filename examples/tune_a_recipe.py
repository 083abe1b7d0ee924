"""Tune the weights of a recipe on a few judged questions, and find out whether that helped or was luck.

    python examples/tune_a_recipe.py

The same starting recipe on two corpora. Every third of the questions is held out in its turn, so "held out" shows how
tuned weights do on questions they have not seen; what lies within noise is not taken. Needs `hopweave[measure]`.
"""

from collections.abc import Sequence
from pathlib import Path

from hopweave import KnowledgeBase, Recipe, read_documents
from hopweave.evaluate.queries import read_queries
from hopweave.graph.build.builders.builder import GraphBuilder
from hopweave.graph.build.builders.metadata import MetadataBuilder
from hopweave.tune.tune import tune

HERE = Path(__file__).parent
START = Recipe.from_yaml("""
name: start
sources:
  text: {kind: bm25, top_k: 30}
  vector: {kind: vector, top_k: 30}
  graph: {kind: pagerank, top_k: 30}
fuse:
  kind: weighted
  weights: {text: 0.4, vector: 0.4, graph: 0.2}  # a guess
""")
WEIGHTS = [f"fuse.weights.{source}" for source in START.sources]


def tuned(folder: str, what: str, graph: Sequence[GraphBuilder] | None = None) -> Recipe:
    """The recipe to use for a corpus."""
    judged = read_queries(HERE / folder / "queries.jsonl")
    with KnowledgeBase.open(builders=graph) as kb:
        kb.add(read_documents(HERE / folder / "corpus.jsonl"))
        print(f"== {folder}: {what}; {kb.count()} documents, {len(judged)} judged questions\n")
        tuning = tune(kb, START, judged, parameters=WEIGHTS, measure="recall@10", trials=20)
    print(f"{tuning}\n")
    return tuning.recipe


def main() -> None:
    recipes = {
        "tern_isles": tuned("tern_isles", "pages about islands, linked by what they mention"),
        "skills": tuned("skills", "parts of an assistant that need one another", [MetadataBuilder()]),
    }
    print("== What to use")
    for folder, recipe in recipes.items():
        weights = ", ".join(f"{source} {weight:.2f}" for source, weight in recipe.fuse.weights.items())
        print(f"{folder:<12}{'as it was' if recipe == START else 'tuned':<11}{weights}")


if __name__ == "__main__":
    main()
