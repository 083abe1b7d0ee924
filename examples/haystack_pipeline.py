"""Add graph retrieval to a Haystack pipeline that you already have.

    python examples/haystack_pipeline.py

First a hybrid pipeline as you may have it: a document store in memory, BM25, embeddings, Haystack's own joiner. Then
the same pipeline with a walk over the graph. The documents stay in your store; hopweave keeps, in a file beside it, the
graph that their titles, names and links make. No LLM, no server, no download.
"""

import os
import tempfile
from pathlib import Path
from statistics import fmean

os.environ.setdefault("HAYSTACK_TELEMETRY_ENABLED", "False")

from haystack import Document, Pipeline
from haystack.components.joiners import DocumentJoiner
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever, InMemoryEmbeddingRetriever
from haystack.document_stores.in_memory import InMemoryDocumentStore

from haystack_integrations.components.embedders.hopweave import StaticDocumentEmbedder, StaticTextEmbedder
from haystack_integrations.components.joiners.hopweave import WeightedJoiner
from haystack_integrations.components.retrievers.hopweave import PageRankRetriever
from haystack_integrations.components.writers.hopweave import KnowledgeBaseWriter
from hopweave import read_documents
from hopweave.evaluate.metrics import score_each
from hopweave.evaluate.queries import read_queries

ISLES = Path(__file__).parent / "tern_isles"
QUESTION = "What is kept today in the building where the maker of the Hallin Head lens learned her trade?"
NEEDED = ("hallin-head-light", "signe-aune", "kittle-bay")
TOP_K = 8
RECALL, COMPLETE = f"recall@{TOP_K}", f"all_gold@{TOP_K}"


def your_store() -> InMemoryDocumentStore:
    pages = [Document(page.id, page.text, meta=dict(page.metadata)) for page in read_documents(ISLES / "corpus.jsonl")]
    store = InMemoryDocumentStore()
    store.write_documents(StaticDocumentEmbedder().run(documents=pages)["documents"])  # any other embedder will do
    return store


def your_pipeline(store: InMemoryDocumentStore) -> Pipeline:
    pipeline = Pipeline()
    pipeline.add_component("embedder", StaticTextEmbedder())
    pipeline.add_component("text", InMemoryBM25Retriever(store))
    pipeline.add_component("vector", InMemoryEmbeddingRetriever(store))
    pipeline.add_component("joiner", DocumentJoiner(join_mode="reciprocal_rank_fusion"))
    pipeline.connect("embedder.embedding", "vector.query_embedding")
    pipeline.connect("text.documents", "joiner.documents")
    pipeline.connect("vector.documents", "joiner.documents")
    return pipeline


def add_graph(pipeline: Pipeline, store: InMemoryDocumentStore, graph: str) -> None:
    """All that changes: a graph is written once, a walk starts from what was found, and a joiner weighs all three."""
    KnowledgeBaseWriter(knowledge_base=graph).run(documents=store.filter_documents())
    weights = {"text": 0.05, "vector": 0.05, "graph": 0.9}
    pipeline.remove_component("joiner")
    pipeline.add_component("graph", PageRankRetriever(knowledge_base=graph, document_store=store))
    pipeline.add_component("joiner", WeightedJoiner(sources=list(weights), weights=weights))
    pipeline.connect("text.documents", "graph.text")
    pipeline.connect("vector.documents", "graph.vector")
    for source in weights:
        pipeline.connect(f"{source}.documents", f"joiner.{source}")


def ask(pipeline: Pipeline, question: str) -> list[Document]:
    inputs = {"embedder": {"text": question}, "text": {"query": question}, "graph": {"query": question}}
    there = {name: values for name, values in inputs.items() if name in pipeline.graph}
    return pipeline.run(there)["joiner"]["documents"][:TOP_K]


def show(pipeline: Pipeline) -> None:
    """One question in full, then all judged questions in figures."""
    for rank, document in enumerate(ask(pipeline, QUESTION), start=1):
        print(f"  {rank}  {'*' if document.id in NEEDED else ' '} {document.id}")
    judged = read_queries(ISLES / "queries.jsonl")
    found = [[document.id for document in ask(pipeline, one.query.text)] for one in judged]
    scores = score_each(judged, found, [RECALL, COMPLETE])
    several = [whole for whole, one in zip(scores[COMPLETE], judged, strict=True) if one.fields["hops"] > 1]
    print(f"  {RECALL} {fmean(scores[RECALL]):.3f} on {len(judged)} judged questions; everything is found for", end=" ")
    print(f"{sum(several):.0f} of the {len(several)} that take several documents\n")


def main() -> None:
    print(f"{QUESTION}\nNeeded, and marked *: {', '.join(NEEDED)}\n")
    store = your_store()
    pipeline = your_pipeline(store)
    print("Before: BM25 and embeddings, joined by rank")
    show(pipeline)
    with tempfile.TemporaryDirectory() as folder:
        add_graph(pipeline, store, f"{folder}/graph.db")
        print("After: the same, with a walk over the graph")
        show(pipeline)
        last = next(document for document in ask(pipeline, QUESTION) if document.id == NEEDED[-1])
        walk = next(receipt for receipt in last.meta["hopweave"]["receipts"] if receipt["stage"] == "pagerank")
        print(f"How the walk got to {last.id}: {walk['details']['path']}")
        pipeline.get_component("graph").close()


if __name__ == "__main__":
    main()
