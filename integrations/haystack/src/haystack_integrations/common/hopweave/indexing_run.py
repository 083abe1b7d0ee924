"""What Haystack's converters, splitters and stores say of a run of an indexing pipeline."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from haystack.dataclasses import ByteStream
from haystack.document_stores.types import DocumentStore

from hopweave.document import Document as Passage
from hopweave.knowledge_base.indexing_run import check_listing


def with_source(passage: Passage, source_field: str | None, otherwise: str = "") -> Passage:
    """
    A passage with its source, as its metadata say.

    :param passage: The passage.
    :param source_field: The metadata field that says where it comes from.
    :param otherwise: The field that does so where `source_field` says nothing.
    :returns: The passage with a source, or without if no field says one.
    """
    named = passage.metadata.get(source_field or "") or passage.metadata.get(otherwise) or ""
    return replace(passage, source=str(named))


def sources_named(sources: Sequence[str | Path | ByteStream] | None, source_field: str | None) -> list[str]:
    """
    The names of the sources of a converter, as it writes them into the metadata of documents.

    :param sources: Paths and byte streams.
    :param source_field: The metadata field for them.
    :returns: Their names.
    :raises ValueError: If there are sources, and no field for them, or a source does not have it.
    """
    if sources is None:
        return []
    if source_field is None:
        raise ValueError("sources: are not allowed without source_field, which says which documents come from them")
    if isinstance(sources, str | Path):
        raise ValueError(f"sources: must be a list, but got {sources!r}")
    names = [str(one.meta.get(source_field) or "") if isinstance(one, ByteStream) else str(one) for one in sources]
    if "" in names:
        raise ValueError(f"sources: number {names.index('')} has no {source_field!r} in its meta")
    return names


def whole_store(document_store: DocumentStore, max_deleted_share: float) -> dict[str, Any]:
    """
    All documents of a store, as a writer takes them.

    :param document_store: The store.
    :param max_deleted_share: How much may be deleted; any share of a listing that the store's own count confirms.
    :returns: Arguments of the writer's `run`.
    :raises KnowledgeBaseError: If it lists fewer than it counts.
    """
    count = document_store.count_documents()  # first, as another process may add some meanwhile
    documents = document_store.filter_documents()
    check_listing(len(documents), count, type(document_store).__name__)
    return {"documents": documents, "complete": True, "max_deleted_share": 1.0 if documents else max_deleted_share}
