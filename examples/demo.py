"""One recipe, three ways: in the core, in a Haystack pipeline and in a LlamaIndex retriever.

python examples/demo.py [knowledge base file]
"""

import os
import sys
from pathlib import Path

os.environ.setdefault("HAYSTACK_TELEMETRY_ENABLED", "False")

from hopweave import KnowledgeBase, read_documents

CORPUS = Path(__file__).parent / "tern_isles" / "corpus.jsonl"
QUESTION = "Where was the designer of the ferry that serves Hallow born?"
RECIPE = "hybrid"


def main(file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    with KnowledgeBase.open(file) as kb:
        done = kb.add(read_documents(CORPUS))
        print(f"{file}: {kb.count()} documents ({done.added} new, {done.unchanged} as they were)\n")
        print(f"question: {QUESTION}\nrecipe:   {RECIPE}\n")
        core = [(hit.id, hit.score) for hit in kb.search(QUESTION, recipe=RECIPE, top_k=5).hits]
        best = kb.search(QUESTION, recipe=RECIPE, top_k=1).hits[0]
    haystack = in_haystack(file)
    llama_index = in_llama_index(file)

    print(f"{'':4}{'core':<34}{'Haystack':<34}{'LlamaIndex':<34}")
    for rank, row in enumerate(zip(core, haystack, llama_index, strict=True), start=1):
        print(f"{rank:>2}  " + "".join(f"{f'{key} {score:.5f}':<34}" for key, score in row))
    same = core == haystack == llama_index
    print(f"\nsame ids and scores in all three: {'yes' if same else 'NO'}\n\nwhy {best.id} comes first:")
    for receipt in best.receipts:
        print(f"  {receipt.stage:<16} {receipt.after:.5f}  {dict(receipt.details)}")
    if not same:
        sys.exit(1)


def in_haystack(file: Path) -> list[tuple[str, float]]:
    from haystack import Pipeline

    from haystack_integrations.components.retrievers.hopweave import RecipeRetriever

    pipeline = Pipeline()
    pipeline.add_component("retriever", RecipeRetriever(knowledge_base=str(file), recipe=RECIPE, top_k=5))
    documents = pipeline.run({"retriever": {"query": QUESTION}})["retriever"]["documents"]
    return [(document.id, document.score) for document in documents]


def in_llama_index(file: Path) -> list[tuple[str, float]]:
    from llama_index.retrievers.hopweave import RecipeRetriever

    nodes = RecipeRetriever(file, recipe=RECIPE, similarity_top_k=5).retrieve(QUESTION)
    return [(node.node_id, node.score) for node in nodes]


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else ".demo/tern_isles.db"))
