"""The Haystack stores that settings name, and what can be searched in each."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from haystack.utils import Secret

from search_service.settings import Place


@dataclass(frozen=True, slots=True)
class Home:
    """A document store, and its retrievers by the name of the recipe's source they stand for."""

    name: str
    store: Any
    retrievers: dict[str, Any]


def homes(place: Place, embedding_dimension: int, top_k: int) -> list[Home]:
    """PostgreSQL alone, or Elasticsearch and Qdrant: then words are searched in the one and vectors in the other."""
    if place.postgres_url is not None:
        return [_postgres(place, embedding_dimension, top_k)]
    found = []
    if place.elasticsearch_url is not None:
        found.append(_elasticsearch(place, top_k, vectors=place.qdrant_url is None))
    if place.qdrant_url is not None:
        found.append(_qdrant(place, embedding_dimension, top_k))
    return found


def _postgres(place: Place, embedding_dimension: int, top_k: int) -> Home:
    from haystack_integrations.components.retrievers.pgvector import (
        PgvectorEmbeddingRetriever,
        PgvectorKeywordRetriever,
    )
    from haystack_integrations.document_stores.pgvector import PgvectorDocumentStore

    assert place.postgres_url is not None
    store = PgvectorDocumentStore(
        connection_string=Secret.from_token(place.postgres_url.get_secret_value()),
        table_name=place.postgres_table,
        keyword_index_name=f"{place.postgres_table}_keywords",
        embedding_dimension=embedding_dimension,
    )
    retrievers = {
        "text": PgvectorKeywordRetriever(document_store=store, top_k=top_k),
        "vector": PgvectorEmbeddingRetriever(document_store=store, top_k=top_k),
    }
    return Home("postgres", store, retrievers)


def _elasticsearch(place: Place, top_k: int, *, vectors: bool) -> Home:
    from haystack_integrations.components.retrievers.elasticsearch import (
        ElasticsearchBM25Retriever,
        ElasticsearchEmbeddingRetriever,
    )
    from haystack_integrations.document_stores.elasticsearch import ElasticsearchDocumentStore

    key = place.elasticsearch_api_key
    secret = {"api_key": Secret.from_token(key.get_secret_value())} if key else {}
    store = ElasticsearchDocumentStore(hosts=place.elasticsearch_url, index=place.elasticsearch_index, **secret)
    retrievers: dict[str, Any] = {"text": ElasticsearchBM25Retriever(document_store=store, top_k=top_k)}
    if vectors:
        retrievers["vector"] = ElasticsearchEmbeddingRetriever(document_store=store, top_k=top_k)
    return Home("elasticsearch", store, retrievers)


def _qdrant(place: Place, embedding_dimension: int, top_k: int) -> Home:
    from haystack_integrations.components.retrievers.qdrant import QdrantEmbeddingRetriever
    from haystack_integrations.document_stores.qdrant import QdrantDocumentStore

    url, key = str(place.qdrant_url), place.qdrant_api_key
    where: dict[str, Any] = {"url": url} if url.startswith("http") else {"path": str(Path(url))}
    secret = {"api_key": Secret.from_token(key.get_secret_value())} if key else {}
    store = QdrantDocumentStore(
        **where,
        **secret,
        index=place.qdrant_collection,
        embedding_dim=embedding_dimension,
        similarity="cosine",
        progress_bar=False,
        force_disable_check_same_thread=True,
    )
    return Home("qdrant", store, {"vector": QdrantEmbeddingRetriever(document_store=store, top_k=top_k)})
