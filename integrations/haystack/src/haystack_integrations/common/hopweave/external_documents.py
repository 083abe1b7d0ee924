"""A graph of ours over documents that live in any Haystack document store."""

from collections.abc import Callable
from threading import Lock
from typing import Any, cast
from weakref import WeakKeyDictionary

from haystack import Document, logging
from haystack.document_stores.in_memory import InMemoryDocumentStore
from haystack.document_stores.types import DocumentStore

from haystack_integrations.common.hopweave.documents import from_passage, to_hit
from hopweave import KnowledgeBase
from hopweave.concurrency.threads import can_run_on_loop, run_on_loop
from hopweave.errors import reason_of
from hopweave.graph.external_documents import ExternalDocuments, GraphHome
from hopweave.hit import Hit
from hopweave.knowledge import Knowledge
from hopweave.metadata.filters import Filters

logger = logging.getLogger(__name__)


def documents_in(
    store: DocumentStore | None, index: Knowledge | None = None, graph: GraphHome | None = None
) -> ExternalDocuments:
    """
    Documents that a store holds, under a graph and the index of a knowledge base that have the same ids.

    Sources take it in place of the knowledge base, whose own copies of the documents are not handed out. A graph takes
    the place of that of the knowledge base; without a store, no document is fetched.
    """

    def fetch(ids: list[str]) -> list[Hit]:
        found = [] if store is None or not ids else by_id(store, ids)
        return [to_hit(document)._replace(score=None) for document in found]

    def fetch_passing(ids: list[str], filters: Filters) -> list[Hit]:
        own = getattr(filters, "filters", None)
        found = None if own is None or store is None else by_id_and_filters(store, ids, own)
        return fetch(ids) if found is None else [to_hit(document)._replace(score=None) for document in found]

    return ExternalDocuments(graph, fetch, index=index, fetch_passing=fetch_passing)


def by_id(store: DocumentStore, ids: list[str]) -> list[Document]:
    """The documents that are there, in the quickest way that a store has, and by its asynchronous call in such runs."""
    if isinstance(own := getattr(store, "knowledge_base", None), KnowledgeBase):  # whoever asks sees to tenants
        vectors = own.vectors(ids)
        return [from_passage(passage, vectors.get(passage.id)) for passage in own.documents(ids)]
    if isinstance(store, InMemoryDocumentStore) and store.return_embedding:  # whose filter walks over all documents
        return [found for key in ids if (found := store.storage.get(key)) is not None]
    failure: Exception | None = None
    if can_run_on_loop() and (ask := _call(store, "_async")) is not None:
        try:
            return list(run_on_loop(ask(ids)))
        except Exception as error:  # a store may have a client for one of the two ways alone
            failure = error
    ask = _call(store, "")
    if ask is None:
        raise ValueError(f"document_store: {type(store).__name__} has no filter_documents") from failure
    try:
        with _locks.setdefault(store, Lock()):
            return list(ask(ids))
    except Exception as error:
        raise error from failure


def by_id_and_filters(store: DocumentStore, ids: list[str], filters: dict[str, Any]) -> list[Document] | None:
    """
    Documents by their ids that pass Haystack filters, as far as a store can tell by itself.

    None if the store does not take such filters, or gives documents by id more quickly.
    """
    if isinstance(store, InMemoryDocumentStore) or any(hasattr(store, one) for one in _QUICK):
        return None
    both = {"operator": "AND", "conditions": [{"field": "id", "operator": "in", "value": ids}, filters]}
    try:
        if can_run_on_loop() and _call(store, "_async") is not None and hasattr(store, "filter_documents_async"):
            return list(run_on_loop(store.filter_documents_async(both)))
        with _locks.setdefault(store, Lock()):
            return list(store.filter_documents(both))
    except Exception as error:
        reason = reason_of(error)
        logger.info("{store} does not take ids and filters: {reason}", store=type(store).__name__, reason=reason)
        logger.debug("what it says of them", exc_info=error)
        return None


_QUICK = ("get_documents_by_id", "knowledge_base")  # what stores have that give documents by id quickly
_locks: WeakKeyDictionary[Any, Lock] = WeakKeyDictionary()
"""Stores may share one cursor between threads, and sources and questions may run in several."""


def _call(store: Any, suffix: str) -> Callable[[list[str]], Any] | None:
    """The call of a store that gives documents by id; `suffix` is that of asynchronous calls."""
    if suffix and getattr(store, "location", None) == ":memory:":
        return None  # Qdrant's asynchronous client would open another, empty database
    if quick := getattr(store, f"get_documents_by_id{suffix}", None):  # 100 times as quick in local Qdrant
        return cast("Callable[[list[str]], Any]", quick)
    if filtering := getattr(store, f"filter_documents{suffix}", None):
        return lambda ids: filtering({"field": "id", "operator": "in", "value": ids})
    return None
