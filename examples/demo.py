"""One recipe, three ways: in the core, in a Haystack pipeline and in a LlamaIndex retriever.

python examples/demo.py [knowledge base file]
"""

import json
import os
import sys
from pathlib import Path

os.environ.setdefault("HAYSTACK_TELEMETRY_ENABLED", "False")

from hopweave import KnowledgeBase, read_documents

FOLDER = Path(__file__).parent / "tern_isles"
QUESTION_ID = "q07"
RECIPE = "multihop"
TOP_K = 8


def main(file: Path) -> None:
    judged = [json.loads(line) for line in (FOLDER / "queries.jsonl").read_text(encoding="utf-8").splitlines()]
    asked = next(query for query in judged if query["id"] == QUESTION_ID)
    question, needed = asked["question"], asked["gold"]
    file.parent.mkdir(parents=True, exist_ok=True)
    with KnowledgeBase.open(file) as kb:
        done = kb.add(read_documents(FOLDER / "corpus.jsonl"))
        print(f"{file}: {kb.count()} documents ({done.added} new, {done.unchanged} as they were)\n")
        plain = [hit.id for hit in kb.search(question, recipe="hybrid", top_k=TOP_K).hits]
        hits = kb.search(question, recipe=RECIPE, top_k=TOP_K).hits
    core = [(hit.id, hit.score) for hit in hits]
    haystack = in_haystack(file, question)
    llama_index = in_llama_index(file, question)

    print(f"{question}\nThe answer takes three documents: {', '.join(needed)}.\n")
    print(f"Words and vectors alone find {sum(key in plain for key in needed)} of them among the first {TOP_K}.")
    print(f"The recipe {RECIPE!r} finds {sum(hit.id in needed for hit in hits)}, marked *:\n")
    print(f"{'':5}{'core':<36}{'Haystack':<36}{'LlamaIndex':<36}".rstrip())
    for rank, row in enumerate(zip(core, haystack, llama_index, strict=True), start=1):
        mark = "*" if row[0][0] in needed else " "
        print(f"{rank:>2} {mark} " + "".join(f"{f'{key} {score:.5f}':<36}" for key, score in row).rstrip())
    same = core == haystack == llama_index
    print(f"\nsame ids and scores in all three: {'yes' if same else 'NO'}\n\nhow the walk got there:")
    for hit in hits:
        path = next((receipt.details.get("path") for receipt in hit.receipts if receipt.stage == "pagerank"), None)
        print(f"  {hit.id:<22} {path or 'found by words or vectors alone'}")
    if not same:
        sys.exit(1)


def in_haystack(file: Path, question: str) -> list[tuple[str, float]]:
    from haystack import Pipeline

    from haystack_integrations.components.retrievers.hopweave import RecipeRetriever

    pipeline = Pipeline()
    pipeline.add_component("retriever", RecipeRetriever(knowledge_base=str(file), recipe=RECIPE, top_k=TOP_K))
    documents = pipeline.run({"retriever": {"query": question}})["retriever"]["documents"]
    return [(document.id, document.score) for document in documents]


def in_llama_index(file: Path, question: str) -> list[tuple[str, float]]:
    from llama_index.retrievers.hopweave import RecipeRetriever

    nodes = RecipeRetriever(file, recipe=RECIPE, similarity_top_k=TOP_K).retrieve(question)
    return [(node.node_id, node.score) for node in nodes]


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else ".demo/tern_isles.db"))
