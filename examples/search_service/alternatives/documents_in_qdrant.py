"""The documents live in Qdrant; hopweave's graph leads from what Qdrant finds to what belongs with it.

pip install qdrant-haystack hopweave-haystack
hopweave index corpus.jsonl --kb graph.db          # the graph; documents are then fetched from Qdrant
python alternatives/documents_in_qdrant.py "Who leads the team that owns Kestrel?"
"""

import os
import sys

from haystack import Document, Pipeline

from haystack_integrations.components.embedders.hopweave import StaticDocumentEmbedder, StaticTextEmbedder
from haystack_integrations.components.joiners.hopweave import ReciprocalRankJoiner
from haystack_integrations.components.rankers.hopweave import ScoreThresholdRanker
from haystack_integrations.components.retrievers.hopweave import PageRankRetriever
from haystack_integrations.components.retrievers.qdrant import QdrantEmbeddingRetriever
from haystack_integrations.document_stores.qdrant import QdrantDocumentStore
from hopweave import KnowledgeBase


def pipeline(store: QdrantDocumentStore, graph: str) -> Pipeline:
    """Vectors from Qdrant, a walk over the graph from there, fused as in the recipe `service`."""
    made = Pipeline()
    made.add_component("embedder", StaticTextEmbedder())
    made.add_component("vector", QdrantEmbeddingRetriever(document_store=store, top_k=20))
    made.add_component(
        "graph",
        PageRankRetriever(
            knowledge_base=graph, document_store=store, seeds_from=["vector"], word_source=None, top_k=20
        ),
    )
    made.add_component("fuse", ReciprocalRankJoiner(sources=["vector", "graph"], weights={"vector": 1, "graph": 3}))
    made.add_component("minimum", ScoreThresholdRanker(min_score=0.5))
    made.connect("embedder.embedding", "vector.query_embedding")
    made.connect("vector.documents", "graph.vector")
    made.connect("vector.documents", "fuse.vector")
    made.connect("graph.documents", "fuse.graph")
    made.connect("fuse.documents", "minimum.documents")
    return made


def ask(made: Pipeline, question: str, top_k: int = 10) -> list[Document]:
    """The best documents for a question."""
    asked = {"embedder": {"text": question}, "graph": {"query": question}}
    return made.run(asked)["minimum"]["documents"][:top_k]


def copy(graph: str, store: QdrantDocumentStore) -> int:
    """Put the documents of a knowledge base into a store, with vectors, under the same ids."""
    with KnowledgeBase.open(graph, read_only=True) as kb:
        documents = [Document(id=one.id, content=one.text, meta=dict(one.metadata)) for one in kb.documents()]
    return store.write_documents(StaticDocumentEmbedder().run(documents=documents)["documents"])


if __name__ == "__main__":
    qdrant = QdrantDocumentStore(
        url=os.environ.get("QDRANT_URL", "http://localhost:6333"), index="knowledge_base", embedding_dim=256
    )
    if not qdrant.count_documents():
        copy("graph.db", qdrant)
    for found in ask(pipeline(qdrant, "graph.db"), sys.argv[1]):
        print(f"{found.score:.3f}  {found.meta['source']:<28} {found.meta['title']}")
