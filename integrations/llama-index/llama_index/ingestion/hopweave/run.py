"""Runs of an ingestion pipeline, into a knowledge base or a graph."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from llama_index.core.schema import BaseNode
from llama_index.hopweave.sources import outdated, source_of
from llama_index.hopweave.stores import Present, count_in, gone_from, keeper_of, names_in, stored_nodes

from hopweave.document import Document
from hopweave.graph_store.store import GraphStore
from hopweave.knowledge_base.indexing_run import check_listing, check_share, deleted, surplus, write_run
from hopweave.knowledge_base.store import KnowledgeBase
from hopweave.notices import warn_once

Home = KnowledgeBase | GraphStore
"""What nodes are written to."""


class Writer(Protocol):
    """A transformation that writes nodes."""

    max_deleted_share: float

    def _write(self, nodes: Sequence[BaseNode]) -> None: ...


def write_nodes(
    writer: Writer,
    home: Home,
    documents: Sequence[Document],
    scope: Mapping[str, Any] | None = None,
    vectors_of: str | None = None,
) -> None:
    """
    Write nodes in place of those that were written of the same documents.

    Args:
        writer: The transformation.
        home: Where they are written.
        documents: The nodes.
        scope: A tenant.
        vectors_of: The model of their vectors.

    """
    if not documents and not home.ids():
        warn_once(
            writer,
            "nothing to write",
            "%s: was given no nodes, and nothing has been written before; a docstore skips documents that it knows: "
            "clear it, or run the pipeline without",
            type(writer).__name__,
        )
    sources = {one.source for one in documents if one.source}
    old = outdated(home.sources(**(scope or {})), sources) if sources else []
    write_run(home, documents, empty_sources=old, scope=scope, vectors_of=vectors_of)


def sync_home(writer: Writer, home: Home, present: Present, scope: Mapping[str, Any] | None = None) -> int:
    """
    Remove the nodes of documents that are no longer there, and say if nodes of others are missing.

    Args:
        writer: The transformation.
        home: Where the nodes were written.
        present: The documents that there are.
        scope: A tenant.

    Returns:
        The number of nodes removed.

    """
    scope, known = dict(scope or {}), list(home.sources(**(scope or {})))
    gone = gone_from(present, known)
    names = names_in(present if isinstance(present, Sequence) else present.docs.values())
    check_share(len(gone), len(known), writer.max_deleted_share, len(names), cause="sync", what="sources of nodes")
    removed = sum(home.replace(source, (), **scope).removed for source in gone)
    if lacking := len(names - set(known) - set(home.ids(**scope))):
        warn_once(
            writer,
            "documents are missing",
            "%s: %d of %d documents were never written here, or have been lost; a docstore skips documents that it "
            "knows: clear it, or run the pipeline without",
            type(writer).__name__,
            lacking,
            len(names),
        )
    return removed


def mirror_store(writer: Writer, home: Home, store: Any, scope: Mapping[str, Any] | None = None) -> int:
    """
    Make a home hold the nodes of a store, and no others.

    Args:
        writer: The transformation.
        home: Where the nodes are written.
        store: An index or a store.
        scope: A tenant.

    Returns:
        The number of nodes that the home had besides.

    """
    keeper = keeper_of(store)
    count = count_in(keeper)  # first, as others may add nodes meanwhile
    nodes = stored_nodes(store)
    if count is not None:
        check_listing(len(nodes), count, type(keeper).__name__)
    sure = nodes and (count is not None or hasattr(keeper, "docs") or hasattr(keeper, "docstore"))
    share = 1.0 if sure else writer.max_deleted_share
    sources = {source_of(node) for node in nodes} - {""}
    gone = surplus(home, {node.node_id for node in nodes}, sources, share, scope or {})
    writer._write(nodes)
    return deleted(home, gone, scope)
