"""The documents live in Elasticsearch, which searches words and vectors; hopweave adds the graph and fuses by id.

pip install elasticsearch-haystack hopweave-haystack
hopweave index corpus.jsonl --kb graph.db          # the graph; documents are then fetched from Elasticsearch
python alternatives/documents_in_elasticsearch.py "Who leads the team that owns Kestrel?"
"""

import os
import sys

from haystack import Document, Pipeline

from haystack_integrations.components.embedders.hopweave import StaticDocumentEmbedder, StaticTextEmbedder
from haystack_integrations.components.joiners.hopweave import ReciprocalRankJoiner
from haystack_integrations.components.rankers.hopweave import ScoreThresholdRanker
from haystack_integrations.components.retrievers.elasticsearch import (
    ElasticsearchBM25Retriever,
    ElasticsearchEmbeddingRetriever,
)
from haystack_integrations.components.retrievers.hopweave import PageRankRetriever
from haystack_integrations.document_stores.elasticsearch import ElasticsearchDocumentStore
from hopweave import KnowledgeBase

SOURCES = {"text": 2, "vector": 1, "graph": 3}


def pipeline(store: ElasticsearchDocumentStore, graph: str) -> Pipeline:
    """Words and vectors from Elasticsearch, a walk over the graph from both, fused as in the recipe `service`."""
    made = Pipeline()
    made.add_component("embedder", StaticTextEmbedder())
    made.add_component("text", ElasticsearchBM25Retriever(document_store=store, top_k=20))
    made.add_component("vector", ElasticsearchEmbeddingRetriever(document_store=store, top_k=20))
    made.add_component("graph", PageRankRetriever(knowledge_base=graph, document_store=store, top_k=20))
    made.add_component("fuse", ReciprocalRankJoiner(sources=list(SOURCES), weights=SOURCES))
    made.add_component("minimum", ScoreThresholdRanker(min_score=0.5))
    made.connect("embedder.embedding", "vector.query_embedding")
    for source in ("text", "vector"):
        made.connect(f"{source}.documents", f"graph.{source}")
    for source in SOURCES:
        made.connect(f"{source}.documents", f"fuse.{source}")
    made.connect("fuse.documents", "minimum.documents")
    return made


def ask(made: Pipeline, question: str, top_k: int = 10) -> list[Document]:
    """The best documents for a question."""
    asked = {"embedder": {"text": question}, "text": {"query": question}, "graph": {"query": question}}
    return made.run(asked)["minimum"]["documents"][:top_k]


def copy(graph: str, store: ElasticsearchDocumentStore) -> int:
    """Put the documents of a knowledge base into a store, with vectors, under the same ids."""
    with KnowledgeBase.open(graph, read_only=True) as kb:
        documents = [Document(id=one.id, content=one.text, meta=dict(one.metadata)) for one in kb.documents()]
    return store.write_documents(StaticDocumentEmbedder().run(documents=documents)["documents"])


if __name__ == "__main__":
    elasticsearch = ElasticsearchDocumentStore(
        hosts=os.environ.get("ELASTICSEARCH_URL", "http://localhost:9200"), index="knowledge_base"
    )
    if not elasticsearch.count_documents():
        copy("graph.db", elasticsearch)
    for found in ask(pipeline(elasticsearch, "graph.db"), sys.argv[1]):
        print(f"{found.score:.3f}  {found.meta['source']:<28} {found.meta['title']}")
