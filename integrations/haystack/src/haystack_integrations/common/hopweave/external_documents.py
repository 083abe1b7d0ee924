"""A graph of ours over documents that live in any Haystack document store."""

from threading import Lock
from typing import Any

from haystack import Document
from haystack.document_stores.in_memory import InMemoryDocumentStore
from haystack.document_stores.types import DocumentStore

from haystack_integrations.common.hopweave.documents import to_hit
from hopweave import GraphStore
from hopweave.graph.external_documents import ExternalDocuments
from hopweave.hit import Hit
from hopweave.knowledge import Knowledge


def documents_in(
    store: DocumentStore, index: Knowledge | None = None, graph: GraphStore | None = None
) -> ExternalDocuments:
    """
    Documents that a store holds, under a graph and the index of a knowledge base that have the same ids.

    :param store: Any document store.
    :param index: The knowledge base; its own copies of the documents are not handed out.
    :param graph: The graph, in place of that of the knowledge base.
    :returns: What a source takes in place of the knowledge base.
    """
    one_at_a_time = Lock()  # stores may share one cursor between threads, and sources may run in several

    def fetch(ids: list[str]) -> list[Hit]:
        with one_at_a_time:
            found = by_id(store, ids) if ids else []
        return [to_hit(document)._replace(score=None) for document in found]

    return ExternalDocuments(graph, fetch, index=index)


def by_id(store: DocumentStore, ids: list[str]) -> list[Document]:
    """
    Documents by their ids, in the quickest way that a store has.

    :param store: Any document store.
    :param ids: The ids.
    :returns: The documents that are there.
    """
    quick: Any = getattr(store, "get_documents_by_id", None)  # filtering takes 100 times as long in local Qdrant
    if quick is not None:
        found: list[Document] = quick(ids)
        return found
    if isinstance(store, InMemoryDocumentStore) and store.return_embedding:  # whose filter walks over all documents
        return [store.storage[key] for key in ids if key in store.storage]
    return store.filter_documents({"field": "id", "operator": "in", "value": ids})
