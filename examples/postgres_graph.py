"""Texts, vectors and graph in one PostgreSQL, with PgvectorDocumentStore of Haystack and PGVectorStore of LlamaIndex.

    pip install hopweave-postgres pgvector-haystack llama-index-vector-stores-postgres pgserver
    python examples/postgres_graph.py

The example starts a server of its own. The passage with the answer, `falk`, shares no word with the question, so the
nearest vectors are others; the graph leads to it.
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
    "falk": ("Ingrid Falk", "Ingrid Falk grew up in Lunn."),
    "havn": ("Havn", "The town of Havn is home to many ferries."),
    "plover": ("MV Plover", "MV Plover is a smaller ferry, built in the town."),
}
QUESTION = "Which town is home to the founder of the yard that built MV Skua?"


def with_haystack(url: str) -> tuple[list[str], list[str]]:
    """The ids that vectors find, and those that the recipe finds."""
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

    secret = Secret.from_token(url)  # in a service: Secret.from_env_var("GRAPH_URL")
    documents = [Document(id=key, content=text, meta={"title": title}) for key, (title, text) in PASSAGES.items()]
    documents = StaticDocumentEmbedder().run(documents=documents)["documents"]
    dimension = len(documents[0].embedding)
    store = PgvectorDocumentStore(connection_string=secret, table_name="passages", embedding_dimension=dimension)
    store.write_documents(documents)
    GraphWriter(graph=secret, graph_schema="haystack_graph").run(documents=documents)

    place = {"graph": secret, "graph_schema": "haystack_graph", "document_store": store}
    pipeline = Pipeline()
    pipeline.add_component("embedder", StaticTextEmbedder())
    pipeline.add_component("words", PgvectorKeywordRetriever(document_store=store, top_k=5))
    pipeline.add_component("vectors", PgvectorEmbeddingRetriever(document_store=store, top_k=3))
    pipeline.add_component("recipe", RecipeRetriever(**place, recipe="multihop", upstream=["text", "vector"]))
    pipeline.connect("embedder.embedding", "vectors.query_embedding")
    pipeline.connect("words.documents", "recipe.text")
    pipeline.connect("vectors.documents", "recipe.vector")
    asked = {"embedder": {"text": QUESTION}, "words": {"query": QUESTION}, "recipe": {"query": QUESTION, "top_k": 3}}
    found = pipeline.run(asked, include_outputs_from={"vectors"})
    best = found["recipe"]["documents"]
    return [one.id for one in found["vectors"]["documents"]], [one.id for one in best]


def with_llama_index(url: str) -> tuple[list[str], list[str]]:
    """The same with nodes."""
    from llama_index.core import VectorStoreIndex
    from llama_index.core.bridge.pydantic import SecretStr
    from llama_index.core.schema import TextNode
    from llama_index.core.vector_stores.types import VectorStoreQueryMode
    from llama_index.embeddings.hopweave import StaticEmbedding
    from llama_index.hopweave import documents_in
    from llama_index.ingestion.hopweave import GraphWriter
    from llama_index.retrievers.hopweave import RecipeRetriever
    from llama_index.vector_stores.postgres import PGVectorStore

    model, place = StaticEmbedding(), urlsplit(url)
    vectors = PGVectorStore.from_params(
        host=place.hostname,
        port=str(place.port),
        user=place.username,
        password=place.password,
        database=place.path.strip("/"),
        table_name="nodes",
        embed_dim=len(model.get_text_embedding("?")),
        hybrid_search=True,
        text_search_config="english",
    )
    nodes = [TextNode(id_=key, text=text, metadata={"title": title}) for key, (title, text) in PASSAGES.items()]
    index = VectorStoreIndex.from_vector_store(vectors, embed_model=model)
    index.insert_nodes(nodes)
    graph = SecretStr(url)
    GraphWriter(graph=graph, graph_schema="llama_index_graph")(nodes)  # or a transformation of an IngestionPipeline

    nearest = index.as_retriever(similarity_top_k=3)
    words = index.as_retriever(vector_store_query_mode=VectorStoreQueryMode.SPARSE, sparse_top_k=5)
    retriever = RecipeRetriever(
        documents_in(index, graph, graph_schema="llama_index_graph"),
        recipe="multihop",
        retrievers={"text": words, "vector": nearest},
        similarity_top_k=3,
    )
    best = retriever.retrieve(QUESTION)
    return [one.node_id for one in nearest.retrieve(QUESTION)], [one.node_id for one in best]


if __name__ == "__main__":
    print(QUESTION)
    with PostgresServer() as server:
        for framework, answer in (("Haystack", with_haystack), ("LlamaIndex", with_llama_index)):
            nearest, found = answer(server.url)
            print(f"{framework}, pgvector alone: {', '.join(nearest)}")
            print(f"{framework}, with the graph: {', '.join(found)}")
