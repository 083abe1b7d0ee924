"""Texts, vectors and graph in one PostgreSQL, with PgvectorDocumentStore of Haystack and PGVectorStore of LlamaIndex.

    pip install "hopweave[postgres]" pgvector-haystack llama-index-vector-stores-postgres pgserver
    python examples/postgres_graph.py

The example starts a server of its own. The answer is two hops away: its passage shares no word with the question.
"""

import os
import sys
from pathlib import Path
from urllib.parse import urlsplit

os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"
sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))  # where the server comes from

from postgres_server import PostgresServer

PASSAGES = {
    "skua": ("MV Skua", "MV Skua is a ferry. She was built at Sorvag Yard."),
    "yard": ("Sorvag Yard", "Sorvag Yard is a shipyard. It was founded by Ingrid Falk."),
    "falk": ("Ingrid Falk", "Ingrid Falk was born in Lunn."),
    "plover": ("MV Plover", "MV Plover is a smaller ferry."),
    "gate": ("Tide gate", "The tide gate opens at six."),
}
QUESTION = "Who founded the yard where MV Skua was built?"


def with_haystack(url: str) -> list[str]:
    from haystack import Document, Pipeline
    from haystack.utils import Secret

    from haystack_integrations.components.embedders.hopweave import StaticDocumentEmbedder, StaticTextEmbedder
    from haystack_integrations.components.retrievers.hopweave import RecipeRetriever
    from haystack_integrations.components.retrievers.pgvector import (
        PgvectorEmbeddingRetriever,
        PgvectorKeywordRetriever,
    )
    from haystack_integrations.components.writers.hopweave import GraphWriter
    from haystack_integrations.document_stores.pgvector import PgvectorDocumentStore

    secret = Secret.from_token(url)
    documents = [Document(id=key, content=text, meta={"title": title}) for key, (title, text) in PASSAGES.items()]
    documents = StaticDocumentEmbedder().run(documents=documents)["documents"]
    store = PgvectorDocumentStore(
        connection_string=secret, table_name="passages", embedding_dimension=len(documents[0].embedding)
    )
    store.write_documents(documents)
    writer = GraphWriter(graph=secret, schema="haystack_graph")
    writer.run(documents=documents)
    writer.close()

    pipeline = Pipeline()
    pipeline.add_component("embedder", StaticTextEmbedder())
    pipeline.add_component("words", PgvectorKeywordRetriever(document_store=store, top_k=5))
    pipeline.add_component("vectors", PgvectorEmbeddingRetriever(document_store=store, top_k=5))
    recipe = RecipeRetriever(
        graph=secret,
        graph_schema="haystack_graph",
        document_store=store,
        recipe="multihop",
        upstream=["text", "vector"],
    )
    pipeline.add_component("recipe", recipe)
    pipeline.connect("embedder.embedding", "vectors.query_embedding")
    pipeline.connect("words.documents", "recipe.text")
    pipeline.connect("vectors.documents", "recipe.vector")
    found = pipeline.run(
        {"embedder": {"text": QUESTION}, "words": {"query": QUESTION}, "recipe": {"query": QUESTION, "top_k": 3}}
    )
    recipe.close()
    return [document.id for document in found["recipe"]["documents"]]


def with_llama_index(url: str) -> list[str]:
    from llama_index.core import VectorStoreIndex
    from llama_index.core.schema import TextNode
    from llama_index.embeddings.hopweave import StaticEmbedding
    from llama_index.hopweave import documents_in
    from llama_index.ingestion.hopweave import GraphWriter
    from llama_index.retrievers.hopweave import RecipeRetriever
    from llama_index.vector_stores.postgres import PGVectorStore

    from hopweave import GraphStore

    model = StaticEmbedding()
    place = urlsplit(url)
    vectors = PGVectorStore.from_params(
        host=place.hostname,
        port=str(place.port),
        user=place.username,
        password=place.password,
        database=place.path.strip("/"),
        table_name="nodes",
        embed_dim=len(model.get_text_embedding("?")),
    )
    nodes = [TextNode(id_=key, text=text, metadata={"title": title}) for key, (title, text) in PASSAGES.items()]
    index = VectorStoreIndex.from_vector_store(vectors, embed_model=model)
    index.insert_nodes(nodes)
    with GraphStore.open(url, schema="llama_index_graph") as graph:
        GraphWriter(graph=graph)(nodes)
        nearest = index.as_retriever(similarity_top_k=5)
        retriever = RecipeRetriever(
            documents_in(index, graph),
            recipe="multihop",
            retrievers={"text": nearest, "vector": nearest},
            similarity_top_k=3,
        )
        return [found.node.node_id for found in retriever.retrieve(QUESTION)]


if __name__ == "__main__":
    with PostgresServer() as server:
        print(QUESTION)
        print("Haystack:  ", ", ".join(with_haystack(server.url)))
        print("LlamaIndex:", ", ".join(with_llama_index(server.url)))
