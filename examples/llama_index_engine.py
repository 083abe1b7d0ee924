"""Add graph retrieval to a LlamaIndex query engine that you already have.

    python examples/llama_index_engine.py

First a hybrid engine as you may have it: a vector index, LlamaIndex's own BM25 and fusion. Then the same retrievers in
a recipe that also walks over the graph. The nodes stay in your index; hopweave keeps beside it the graph that their
titles, names and links make. No server and no download; a mock stands in for your LLM.
"""

from pathlib import Path
from statistics import fmean

from llama_index.core import VectorStoreIndex
from llama_index.core.llms import MockLLM
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.retrievers import BaseRetriever, QueryFusionRetriever
from llama_index.core.schema import TextNode
from llama_index.embeddings.hopweave import StaticEmbedding
from llama_index.hopweave import documents_in
from llama_index.ingestion.hopweave import KnowledgeBaseWriter
from llama_index.retrievers.bm25 import BM25Retriever
from llama_index.retrievers.hopweave import RecipeRetriever

from hopweave import KnowledgeBase, read_documents
from hopweave.evaluate.metrics import score_each
from hopweave.evaluate.queries import read_queries

ISLES = Path(__file__).parent / "tern_isles"
QUESTION = "What is kept today in the building where the maker of the Hallin Head lens learned her trade?"
NEEDED = ("hallin-head-light", "signe-aune", "kittle-bay")
TOP_K = 8
RECALL, COMPLETE = f"recall@{TOP_K}", f"all_gold@{TOP_K}"


def your_index() -> VectorStoreIndex:
    pages = read_documents(ISLES / "corpus.jsonl")
    nodes = [TextNode(id_=page.id, text=page.text, metadata=dict(page.metadata)) for page in pages]
    return VectorStoreIndex(nodes, embed_model=StaticEmbedding())  # any other embedding model will do


def your_retrievers(index: VectorStoreIndex) -> dict[str, BaseRetriever]:
    words = BM25Retriever.from_defaults(docstore=index.docstore, similarity_top_k=10)
    return {"text": words, "vector": index.as_retriever(similarity_top_k=10)}


def hybrid(retrievers: dict[str, BaseRetriever]) -> BaseRetriever:
    """Fused by rank, with no questions invented by an LLM."""
    return QueryFusionRetriever(
        list(retrievers.values()),
        mode="reciprocal_rerank",
        num_queries=1,
        similarity_top_k=TOP_K,
        llm=MockLLM(),
        use_async=False,
    )


def with_graph(index: VectorStoreIndex, retrievers: dict[str, BaseRetriever], kb: KnowledgeBase) -> BaseRetriever:
    """All that changes: a graph is written once, and the recipe `multihop` gets your retrievers for its sources."""
    KnowledgeBaseWriter(knowledge_base=kb)(list(index.docstore.docs.values()))
    return RecipeRetriever(
        documents_in(index, kb.graph), recipe="multihop", retrievers=retrievers, similarity_top_k=TOP_K
    )


def show(retriever: BaseRetriever) -> None:
    """One question in full, through a query engine, then all judged questions in figures."""
    engine = RetrieverQueryEngine.from_args(retriever, llm=MockLLM())
    for rank, node in enumerate(engine.query(QUESTION).source_nodes, start=1):
        print(f"  {rank}  {'*' if node.node_id in NEEDED else ' '} {node.node_id}")
    judged = read_queries(ISLES / "queries.jsonl")
    found = [[node.node_id for node in retriever.retrieve(one.query.text)] for one in judged]
    scores = score_each(judged, found, [RECALL, COMPLETE])
    several = [whole for whole, one in zip(scores[COMPLETE], judged, strict=True) if one.fields["hops"] > 1]
    print(f"  {RECALL} {fmean(scores[RECALL]):.3f} on {len(judged)} judged questions; everything is found for", end=" ")
    print(f"{sum(several):.0f} of the {len(several)} that take several documents\n")


def main() -> None:
    print(f"{QUESTION}\nNeeded, and marked *: {', '.join(NEEDED)}\n")
    index = your_index()
    retrievers = your_retrievers(index)
    print("Before: BM25 and embeddings, fused by rank")
    show(hybrid(retrievers))
    with KnowledgeBase.open() as kb:
        retriever = with_graph(index, retrievers, kb)
        print("After: the same, with a walk over the graph")
        show(retriever)
        last = next(node for node in retriever.retrieve(QUESTION) if node.node_id == NEEDED[-1])
        walk = next(receipt for receipt in last.metadata["hopweave"]["receipts"] if receipt["stage"] == "pagerank")
        print(f"How the walk got to {last.node_id}: {walk['details']['path']}")


if __name__ == "__main__":
    main()
