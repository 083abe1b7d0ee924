"""The knowledge base as a Haystack document store."""

import asyncio
import os
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import replace
from functools import wraps
from inspect import signature
from pathlib import Path
from typing import Any, Literal, ParamSpec, TypeVar

from haystack import Document, default_from_dict, default_to_dict
from haystack.document_stores.errors import DuplicateDocumentError
from haystack.document_stores.types import DuplicatePolicy
from haystack.utils.filters import document_matches_filter

from haystack_integrations.common.hopweave.documents import check_documents, from_passage, to_passage
from haystack_integrations.common.hopweave.knowledge_file import MEMORY
from haystack_integrations.common.hopweave.knowledge_settings import Described, check_vectors, open_for_writing
from haystack_integrations.document_stores.hopweave.candidates import candidates
from haystack_integrations.document_stores.hopweave.metadata_fields import distinct_values, field_types, value_range
from hopweave import KnowledgeBase
from hopweave.errors import AlreadyThere
from hopweave.knowledge_base.file_path import FilePath
from hopweave.metadata.tenants import checked_fields, in_context, require_tenant

_ON_CONFLICT: Mapping[DuplicatePolicy, Literal["fail", "skip", "replace"]] = {
    DuplicatePolicy.NONE: "fail",
    DuplicatePolicy.FAIL: "fail",
    DuplicatePolicy.SKIP: "skip",
    DuplicatePolicy.OVERWRITE: "replace",
}

P = ParamSpec("P")
R = TypeVar("R")


def _asynchronous(method: Callable[P, R]) -> Callable[P, Coroutine[Any, Any, R]]:
    """The same without blocking the event loop."""

    @wraps(method)
    async def in_thread(*args: P.args, **kwargs: P.kwargs) -> R:
        return await asyncio.to_thread(method, *args, **kwargs)

    in_thread.__name__ = f"{method.__name__}_async"
    in_thread.__qualname__ = f"{method.__qualname__}_async"
    in_thread.__doc__ = f"See `{method.__name__}`."
    return in_thread


class HopweaveDocumentStore:
    """
    Documents, vectors, full-text index and graph in one SQLite file.

    What is written here can be searched by all of hopweave's retrievers over the same file. Documents are stored with
    the embeddings that they bring; unlike `KnowledgeBaseWriter`, the store makes none unless it has an `embedder`.

    ```python
    from haystack import Document
    from haystack_integrations.document_stores.hopweave import HopweaveDocumentStore

    store = HopweaveDocumentStore(embedder="static")
    store.write_documents([Document(content="The tide gate opens at six.", meta={"type": "notice"})])
    store.filter_documents({"field": "meta.type", "operator": "==", "value": "notice"})
    ```
    """

    def __init__(
        self,
        path: str | Path | None = None,
        *,
        embedder: Described | None = None,
        analyzers: Sequence[str] | None = None,
        builders: Sequence[Described] | None = None,
        own_share: float | None = None,
        read_only: bool = False,
        tenant_required: Sequence[str] = (),
    ) -> None:
        """
        Create the store; the file is opened on first use. All but the path matters only when the file is new; an
        embedder that an existing file does not have is ignored, with a warning in the log.

        :param path: The file; without one, or with ":memory:", the store is temporary.
        :param embedder: What makes the vectors of documents that come without an embedding, by kind ("static") or as a
            mapping with kind and parameters; None leaves them without.
        :param analyzers: How text becomes terms: nlp, nlp:<language>, code, light.
        :param builders: What connects documents, by kind or as mappings; None for the usual builders, an empty list
            for no graph.
        :param own_share: With less than 1, vector search blends the vector of a document with those of its neighbours
            in the graph, which get the rest; None for 1.
        :param read_only: Whether to open the file for reading alone; a file that cannot be written is opened so anyway.
        :param tenant_required: Metadata fields for which a tenant is needed, by `hopweave.tenant(...)`, to list
            documents; a file that only tenants have written knows them by itself.
        """
        self._file = None if path is None or path == MEMORY else FilePath(path, "path")
        self.path = None if path is None else str(path)
        self.embedder = embedder
        self.analyzers = None if analyzers is None else list(analyzers)
        self.builders = None if builders is None else list(builders)
        self.own_share = own_share
        self.read_only = read_only
        self.tenant_required = list(checked_fields(tenant_required))
        self._opened: KnowledgeBase | None = None

    @property
    def knowledge_base(self) -> KnowledgeBase:
        """The knowledge base behind the store."""
        if self._opened is None:
            self._opened = self._open()
        return self._opened

    def _open(self) -> KnowledgeBase:
        path = None if self._file is None else self._file.absolute()
        if path is not None and (self.read_only or (path.exists() and not os.access(path, os.W_OK))):
            return KnowledgeBase.open(path, read_only=True)
        return open_for_writing(path, self.embedder, self.analyzers, self.builders, own_share=self.own_share)

    def close(self) -> None:
        """Close the file."""
        if self._opened is not None:
            self._opened.close()
            self._opened = None

    def to_dict(self) -> dict[str, Any]:
        """
        The store as serialised data.

        :returns: Its type and the parameters of its constructor.
        """
        return default_to_dict(self, **{name: getattr(self, name) for name in signature(type(self)).parameters})

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "HopweaveDocumentStore":
        """
        Make the store that `to_dict` wrote.

        :param data: What `to_dict` returned.
        :returns: An equal store.
        """
        return default_from_dict(cls, data)

    # Haystack's protocol

    def count_documents(self) -> int:
        """
        How many documents there are, within `hopweave.tenant(...)` those of the tenant.

        :returns: The number.
        """
        return self.knowledge_base.count(tenant=in_context(None))

    def filter_documents(self, filters: dict[str, Any] | None = None) -> list[Document]:
        """
        The documents that match, within `hopweave.tenant(...)` those of the tenant.

        :param filters: Haystack filters; all documents when not given.
        :returns: The documents, with their embeddings, in the order in which they were written, or in which the filters
            name their ids.
        :raises TenantRequired: If the documents are those of tenants, and the context does not say whose are meant.
        """
        if filters and "operator" not in filters and "conditions" not in filters:
            raise ValueError("filters: must have an operator, with field and value or with conditions")
        seen_by = in_context(None)
        require_tenant(self.tenant_required, seen_by, type(self).__name__)
        self.knowledge_base.check_tenant(seen_by)
        passages = candidates(self.knowledge_base, filters, seen_by)
        vectors = self.knowledge_base.vectors(passage.id for passage in passages)
        documents = [from_passage(passage, vectors.get(passage.id)) for passage in passages]
        return [one for one in documents if document_matches_filter(filters, one)] if filters else documents

    def write_documents(self, documents: list[Document], policy: DuplicatePolicy = DuplicatePolicy.NONE) -> int:
        """
        Write documents, all of them or none.

        :param documents: The documents.
        :param policy: What to do about ids that are taken: FAIL (also the default), SKIP or OVERWRITE.
        :returns: How many were written.
        :raises ValueError: If it is not a list of documents, or they bring embeddings of another model than the file's.
        :raises DuplicateDocumentError: If an id is taken and the policy is to fail.
        """
        check_documents(documents)
        if policy not in _ON_CONFLICT:
            known = ", ".join(f"DuplicatePolicy.{one.name}" for one in _ON_CONFLICT)
            raise ValueError(f"policy: {policy!r} is not allowed; allowed are {known}")
        passages = [to_passage(one) for one in documents]
        if policy == DuplicatePolicy.OVERWRITE:  # the last of those with the same id counts
            passages = list({one.id: one for one in passages}.values())
        check_vectors(self.knowledge_base, passages)
        try:
            added = self.knowledge_base.add(
                passages,
                on_conflict=_ON_CONFLICT[policy],
                batch_size=max(len(documents), 1),
                vectors_of=self.knowledge_base.settings.model,
            )
        except AlreadyThere as error:
            raise DuplicateDocumentError(str(error)) from error
        return len(documents) if policy == DuplicatePolicy.OVERWRITE else added.added

    def delete_documents(self, document_ids: list[str]) -> None:
        """
        Delete documents and all that was derived from them; unknown ids are passed over.

        :param document_ids: Their ids.
        """
        self.knowledge_base.delete(document_ids)

    # What most stores offer beyond the protocol

    def delete_all_documents(self) -> None:
        """Delete every document."""
        self.knowledge_base.delete([passage.id for passage in self.knowledge_base.documents()])

    def delete_by_filter(self, filters: dict[str, Any]) -> int:
        """
        Delete the documents that match.

        :param filters: Haystack filters.
        :returns: How many were deleted.
        """
        return self.knowledge_base.delete(one.id for one in self.filter_documents(filters))

    def update_by_filter(self, filters: dict[str, Any], meta: dict[str, Any]) -> int:
        """
        Change metadata of the documents that match.

        :param filters: Haystack filters.
        :param meta: The fields to set; all others stay.
        :returns: How many documents match.
        """
        matching = self.filter_documents(filters)
        changed = [to_passage(replace(one, meta={**one.meta, **meta})) for one in matching]
        self.knowledge_base.add(changed, vectors_of=self.knowledge_base.settings.model)
        return len(matching)

    def count_documents_by_filter(self, filters: dict[str, Any]) -> int:
        """
        How many documents match.

        :param filters: Haystack filters.
        :returns: The number.
        """
        return len(self.filter_documents(filters))

    def count_unique_metadata_by_filter(self, filters: dict[str, Any], metadata_fields: list[str]) -> dict[str, int]:
        """
        How many different values fields have among the documents that match.

        :param filters: Haystack filters.
        :param metadata_fields: The fields, with or without `meta.` in front.
        :returns: The number of values by field.
        """
        documents = self.filter_documents(filters)
        names = [name.removeprefix("meta.") for name in metadata_fields]
        return {name: len(distinct_values(documents, name)) for name in names}

    def get_metadata_fields_info(self) -> dict[str, dict[str, str]]:
        """
        The metadata fields there are and what kind of value they hold.

        :returns: By field, a mapping with `type`: boolean, int, float or keyword.
        """
        return field_types(self.filter_documents())

    def get_metadata_field_min_max(self, metadata_field: str) -> dict[str, Any]:
        """
        The smallest and the largest value of a field.

        :param metadata_field: The field, with or without `meta.` in front.
        :returns: `min` and `max`, None if there are no values that compare.
        """
        return value_range(self.filter_documents(), metadata_field.removeprefix("meta."))

    def get_metadata_field_unique_values(
        self,
        metadata_field: str,
        search_term: str | None = None,
        from_: int = 0,
        size: int = 10,
        filters: dict[str, Any] | None = None,
    ) -> tuple[list[Any], int]:
        """
        The different values of a field, a page at a time.

        :param metadata_field: The field, with or without `meta.` in front.
        :param search_term: Only values that contain this, whatever the case.
        :param from_: Where the page begins.
        :param size: How many values a page has.
        :param filters: Only documents that match these Haystack filters.
        :returns: The values of the page, and how many there are in all.
        """
        values = distinct_values(self.filter_documents(filters), metadata_field.removeprefix("meta."), search_term)
        return values[from_ : from_ + size], len(values)

    # The same without blocking the event loop

    count_documents_async = _asynchronous(count_documents)
    filter_documents_async = _asynchronous(filter_documents)
    write_documents_async = _asynchronous(write_documents)
    delete_documents_async = _asynchronous(delete_documents)
    delete_all_documents_async = _asynchronous(delete_all_documents)
    delete_by_filter_async = _asynchronous(delete_by_filter)
    update_by_filter_async = _asynchronous(update_by_filter)
    count_documents_by_filter_async = _asynchronous(count_documents_by_filter)
    count_unique_metadata_by_filter_async = _asynchronous(count_unique_metadata_by_filter)
    get_metadata_fields_info_async = _asynchronous(get_metadata_fields_info)
    get_metadata_field_min_max_async = _asynchronous(get_metadata_field_min_max)
    get_metadata_field_unique_values_async = _asynchronous(get_metadata_field_unique_values)
