"""One YAML recipe, made into a native Haystack pipeline and a native LlamaIndex query engine.

    python examples/one_recipe_two_frameworks.py

`recipe.yaml` has three sources, a fuser and two stages. In Haystack each becomes a component of a `Pipeline`; in
LlamaIndex they become the retriever and the node postprocessors of a query engine: parts of your framework, to be
changed, traced and served like any other. Both give the same documents with the same scores.
"""

import os
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

os.environ.setdefault("HAYSTACK_TELEMETRY_ENABLED", "False")

from llama_index.core.schema import QueryBundle
from llama_index.query_engine.hopweave import load_query_engine

from haystack_integrations.common.hopweave.recipe_pipeline import to_pipeline
from hopweave import KnowledgeBase, read_documents

HERE = Path(__file__).parent
RECIPE = HERE / "recipe.yaml"
QUESTION = "When does the first weekday ferry from Sørvåg to Ossay leave?"
NOW = datetime(2026, 4, 20, tzinfo=UTC)  # freshness goes by a clock; a fixed one prints the same every day


def in_haystack(file: str) -> list[tuple[str, float]]:
    pipeline = to_pipeline(str(RECIPE), file)
    print(f"In Haystack, a {type(pipeline).__name__} of {', '.join(name for name, _ in pipeline.walk())}.")
    documents = pipeline.run({"query": QUESTION, "now": NOW})["deferral"]["documents"]
    return [(document.id, document.score) for document in documents]


def in_llama_index(file: str) -> list[tuple[str, float]]:
    engine = load_query_engine(RECIPE, file, now=NOW)
    print(f"In LlamaIndex, a {type(engine).__name__}. It answers: {engine.query(QUESTION)}\n")
    return [(node.node_id, node.score) for node in engine.retrieve(QueryBundle(QUESTION))]


def main() -> None:
    print(f"{RECIPE.read_text(encoding='utf-8')}\n{QUESTION}\n")
    with tempfile.TemporaryDirectory() as folder:
        file = f"{folder}/isles.db"
        with KnowledgeBase.open(file) as kb:
            kb.add(read_documents(HERE / "tern_isles" / "corpus.jsonl"))
        haystack, llama_index = in_haystack(file), in_llama_index(file)
    print(f"  {'Haystack':<36}LlamaIndex")
    for row in zip(haystack, llama_index, strict=True):
        print("  " + "".join(f"{f'{key} {score:.6f}':<36}" for key, score in row).rstrip())
    same = haystack == llama_index
    print(f"\nsame ids and scores: {'yes' if same else 'NO'}")
    sys.exit(0 if same else 1)


if __name__ == "__main__":
    main()
