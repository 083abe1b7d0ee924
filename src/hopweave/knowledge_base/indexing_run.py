"""One run of an indexing pipeline: documents go in by source, and what the run should not delete is refused first."""

import logging
import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import PurePath
from typing import Any

from hopweave.document import Document
from hopweave.errors import KnowledgeBaseError
from hopweave.knowledge_base.documents import Added, listed

logger = logging.getLogger(__name__)

MAX_DELETED_SHARE = 0.1
"""How much of what is there may be deleted because a run that is said to be complete does not have it."""

_FILE_FIELDS = frozenset({"file_path", "file_name", "filename", "path"})


def write_run(
    home: Any,
    documents: Sequence[Document],
    *,
    source_field: str = "",
    by_source: bool = True,
    empty_sources: Iterable[str] = (),
    complete: bool = False,
    max_deleted_share: float = MAX_DELETED_SHARE,
    progress: Callable[[int], object] | None = None,
    scope: Mapping[str, Any] | None = None,
    vectors_of: str | None = None,
    **how: Any,
) -> Added:
    """Write documents in place of what their sources had before; those without a source are added one by one.

    `empty_sources` were read and gave no documents. A `complete` run has all documents there are: any other is deleted,
    unless these are all, or more than `max_deleted_share` of those in the home without as many new ones; then nothing
    is written either. `source_field` is the metadata field that sources were taken from: a file name without its folder
    is refused, as two files can share it. The home is a knowledge base or a graph store; it is given `scope`, such as a
    tenant, at every call, and `how` to `add`.

    >>> from hopweave import KnowledgeBase
    >>> with KnowledgeBase.open(embedder=None) as kb:
    ...     _ = write_run(kb, [Document(f"{n}", "A ferry.") for n in range(10)])
    ...     write_run(kb, [], complete=True)
    Traceback (most recent call last):
        ...
    hopweave.errors.KnowledgeBaseError: complete: would delete 10 of the 10 documents that are there, ...
    """
    groups: dict[str, list[Document]] = {source: [] for source in empty_sources}
    alone: list[Document] = []
    for document in documents:
        if by_source and document.source:
            groups.setdefault(document.source, []).append(document)
        else:
            alone.append(document)
    if source_field in _FILE_FIELDS and not complete:
        _check_paths(source_field, groups)
    scope, named = dict(scope or {}), {} if vectors_of is None else {"vectors_of": vectors_of}
    gone = surplus(home, {one.id for one in documents}, groups, max_deleted_share, scope) if complete else []
    by_batch = {} if progress is None else {"progress": progress}
    done: Added = home.add(alone, **how, **by_batch, **named, **scope)
    for source, group in groups.items():
        done += home.replace(source, group, **named, **scope)
        if progress:
            progress(len(group))
    return done + Added(removed=deleted(home, gone, scope))


def deleted(home: Any, ids: Collection[str], scope: Mapping[str, Any] | None = None) -> int:
    """Delete documents and log which."""
    count = int(home.delete(list(ids), **(scope or {}))) if ids else 0
    if count:
        logger.info("deleted %d documents: %s", count, listed(sorted(ids)))
    return count


def check_share(
    gone: int, known: int, max_deleted_share: float, new: int = 0, cause: str = "complete", what: str = "documents"
) -> None:
    """Raise if too many documents would be deleted: all of them, or more than a share without as many new ones.

    >>> check_share(1, 12, 0.1)
    >>> check_share(2_000, 12_000, 0.1)
    Traceback (most recent call last):
        ...
    hopweave.errors.KnowledgeBaseError: complete: would delete 2,000 of the 12,000 documents that are there, ...
    """
    if not 0 <= max_deleted_share <= 1:
        raise ValueError(f"max_deleted_share: {max_deleted_share} is not allowed; it must be from 0 to 1")
    if max_deleted_share < 1 and gone and (gone == known or gone - new > math.ceil(max_deleted_share * known)):
        raise KnowledgeBaseError(
            f"{cause}: would delete {gone:,} of the {known:,} {what} that are there, and max_deleted_share is "
            f"{max_deleted_share:g}; nothing was written or deleted. Check that what was given is complete, or give "
            "max_deleted_share=1 if they are to go"
        )


def check_listing(listed: int, count: int, store: str) -> None:
    """Raise if a store lists fewer documents than it counts, as some list at most 10,000.

    >>> check_listing(10_000, 12_000, "OpenSearchDocumentStore")
    Traceback (most recent call last):
        ...
    hopweave.errors.KnowledgeBaseError: OpenSearchDocumentStore: lists 10,000 of its 12,000 documents; ...
    """
    if listed < count:
        raise KnowledgeBaseError(
            f"{store}: lists {listed:,} of its {count:,} documents; nothing was written or deleted. Read it in parts, "
            "and write them without complete=True"
        )


def _check_paths(field: str, sources: Iterable[str]) -> None:
    for source in sources:
        if "://" not in source and "\\" not in source and PurePath(source).name == source:
            raise KnowledgeBaseError(
                f"source_field: {field!r} is {source!r}, a file name without its folder, and another file of that name "
                "would replace this one; let the converter keep the whole path (store_full_path=True in Haystack), or "
                "give all documents at once with complete=True"
            )


def surplus(
    home: Any, kept: Collection[str], sources: Collection[str], max_deleted_share: float, scope: Mapping[str, Any]
) -> list[str]:
    """The ids of a home that a complete run does not have; an error if too many are of other sources than these."""
    known = home.ids(**scope)
    gone = [key for key in known if key not in kept]
    source_of = home.sources_of(gone) if sources and hasattr(home, "sources_of") else {}
    missing = [key for key in gone if source_of.get(key, "") not in sources]
    check_share(len(missing), len(known), max_deleted_share, new=len(set(kept).difference(known)))
    return gone
