"""LlamaIndex nodes to hits and documents, and back: the only translator."""

import logging
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from llama_index.core.graph_stores.types import KG_NODES_KEY, KG_RELATIONS_KEY
from llama_index.core.schema import BaseNode, MetadataMode, NodeWithScore, TextNode
from llama_index.core.vector_stores.utils import metadata_dict_to_node, node_to_metadata_dict
from llama_index.hopweave.sources import source_of

from hopweave.document import CONTEXT_PREFIX, Document
from hopweave.hit import Hit, Receipt
from hopweave.metadata.tenants import in_tenant

logger = logging.getLogger(__name__)

RECEIPTS_KEY = "hopweave"
"""Where in a node's metadata the receipts are, excluded from what LLM and embedding model read."""
OTHER_KEY = "hopweave_receipts"
"""Where they are if the node has metadata of the user's own under that name."""
CONNECTIONS_KEY = "hopweave_connections"
"""Where in its metadata a node that says how others are connected has that as data."""

_NODE_KEY = "_node_content"
_DOCUMENT_KEYS = {"document_id", "doc_id", "ref_doc_id"}
_NOT_STORED = {KG_NODES_KEY, KG_RELATIONS_KEY}


class _WithReceipts(dict[str, Any]):
    """Metadata whose receipts do not count for `node.hash`, by which LlamaIndex merges nodes of several retrievers."""

    def __str__(self) -> str:
        return str(_without_receipts(self))


def to_hit(node: NodeWithScore) -> Hit:
    """
    The node as a hit; the node itself is carried along untouched.

    Args:
        node: The node to translate.

    Returns:
        A hit with the node's id, score, text, metadata and embedding.

    """
    inner = node.node
    carried = inner.metadata.get(_receipts_key(inner.metadata)) or {}
    return Hit(
        inner.node_id,
        None if node.score is None else float(node.score),
        inner.get_content(metadata_mode=MetadataMode.NONE),
        _without_receipts(inner.metadata),
        None if inner.embedding is None else np.asarray(inner.embedding, np.float32),
        carried.get("scale"),
        node,
        tuple(Receipt.from_dict(receipt) for receipt in carried.get("receipts", ())),
    )


def to_node(hit: Hit, *, flat_scores: bool = False) -> NodeWithScore:
    """
    The hit as a node, its receipts under `metadata["hopweave"]`. They do not change `node.hash`.

    A hit that began as a node comes back as a copy of it, with the new score, and with the embedding if another source
    knew it.

    Args:
        hit: The hit to translate.
        flat_scores: Whether the metadata has the score of every step, too (`dense_score`, `rrf_score` …), hidden from
            language model and embedding model. A field of that name that the node has already stays as it is, which is
            logged.

    Returns:
        A new node; the one the hit came from is not changed.

    """
    receipts: dict[str, Any] = {"receipts": [receipt.as_dict() for receipt in hit.receipts], "scale": hit.scale}
    inner = hit.origin.node if isinstance(hit.origin, NodeWithScore) else plain_node(hit)
    key = _receipts_key(inner.metadata)
    hidden = [CONTEXT_PREFIX] if CONTEXT_PREFIX in inner.metadata else []
    scores = hit.scores if flat_scores else {}
    if clashes := sorted(scores.keys() & inner.metadata.keys()):
        logger.warning("node %r has fields %s of its own, which stay", hit.id, clashes)
    scores = {name: score for name, score in scores.items() if name not in clashes}
    known: dict[str, Any] = (
        {} if inner.embedding is not None or hit.vector is None else {"embedding": hit.vector.tolist()}
    )
    copy = inner.model_copy(
        update={
            **known,
            "id_": hit.id,  # another one than the node's if it comes from one of several knowledge bases
            "metadata": _WithReceipts({**inner.metadata, **scores, key: receipts}),
            "excluded_llm_metadata_keys": _with_keys(inner.excluded_llm_metadata_keys, key, *hidden, *scores),
            "excluded_embed_metadata_keys": _with_keys(inner.excluded_embed_metadata_keys, key, *scores),
        }
    )
    return NodeWithScore(node=copy, score=hit.score)


def visible_nodes(nodes: Iterable[NodeWithScore], tenant: Mapping[str, Any] | None) -> list[NodeWithScore]:
    """
    The nodes that a tenant may see.

    Args:
        nodes: Nodes from anywhere.
        tenant: Metadata values a node must have to be seen at all; None sees everything.

    Returns:
        Those nodes of the list, in their order.

    """
    nodes = list(nodes)
    for number, one in enumerate(nodes):
        if not isinstance(one, NodeWithScore):
            raise ValueError(f"nodes: must be NodeWithScore objects, but number {number} is a {type(one).__name__}")
    return [node for node in nodes if in_tenant(node.node.metadata, tenant)]


def plain_node(hit: Hit) -> BaseNode:
    """
    What a knowledge base keeps under this id, as a node: the very one that was stored, if a node was.

    Args:
        hit: A hit of a knowledge base.

    Returns:
        A new node without score and receipts.

    """
    if _NODE_KEY in hit.metadata:
        return metadata_dict_to_node(dict(hit.metadata), text=hit.text)
    return TextNode(id_=hit.id, text=hit.text, metadata=dict(hit.metadata))


def to_document(node: BaseNode) -> Document:
    """
    The node as a document for a knowledge base, with everything needed to make the node again.

    Indexes see what LlamaIndex embeds, `node.get_content(MetadataMode.EMBED)`: titles, keywords and summaries that
    extractors have put into the metadata are searched with the text. Neighbouring nodes, and the entities and relations
    that a knowledge graph extractor found, go where hopweave's graph builders look for them.

    Args:
        node: The node to store.

    Returns:
        A document with the node's id, text, metadata and embedding; its source is that of `source_of`.

    """
    stored = {key: value for key, value in _without_receipts(node.metadata).items() if key not in _NOT_STORED}
    kept = node.model_copy(update={"metadata": stored})
    text = node.get_content(metadata_mode=MetadataMode.NONE)
    embedded = kept.get_content(metadata_mode=MetadataMode.EMBED)
    return Document(
        node.node_id,
        text,
        {**_for_graph_builders(node), **_as_stored(kept)},
        None if node.embedding is None else np.asarray(node.embedding, np.float32),
        source_of(node),
        "" if embedded == text else embedded.removesuffix(f"\n{text.rstrip()}"),
    )


def _as_stored(node: BaseNode) -> dict[str, Any]:
    """The metadata that LlamaIndex's stores keep of a node; one that has no document is not of a document "None"."""
    kept = node_to_metadata_dict(node, remove_text=True)
    if node.ref_doc_id is not None:
        return kept
    own = {name: value for name, value in node.metadata.items() if name in _DOCUMENT_KEYS}
    return {name: value for name, value in kept.items() if name not in _DOCUMENT_KEYS} | own


def _for_graph_builders(node: BaseNode) -> dict[str, Any]:
    """The node's neighbours and triples, in the fields where graph builders look for them."""
    is_first = node.ref_doc_id is not None and node.next_node is not None and node.prev_node is None
    neighbours = {
        "part": 1 if is_first else None,  # LlamaIndex does not count the nodes of a document
        "next_id": node.next_node and node.next_node.node_id,
        "parent_id": node.parent_node and node.parent_node.node_id,
        "child_ids": [child.node_id for child in node.child_nodes or ()],
        "triples": [[one.source_id, one.label, one.target_id] for one in node.metadata.get(KG_RELATIONS_KEY) or ()],
        "entities": [one.name for one in node.metadata.get(KG_NODES_KEY) or () if hasattr(one, "name")],
    }
    return {name: value for name, value in neighbours.items() if value}


def _with_keys(keys: list[str], *others: str) -> list[str]:
    return [*keys, *(key for key in others if key not in keys)]


def _receipts_key(metadata: Mapping[str, Any]) -> str:
    """Where the receipts are, or would be put: not where the user has something of their own."""
    there = metadata.get(RECEIPTS_KEY)
    own = there is None or (isinstance(there, Mapping) and there.keys() == {"receipts", "scale"})
    return RECEIPTS_KEY if own else OTHER_KEY


def _without_receipts(metadata: Mapping[str, Any]) -> dict[str, Any]:
    hidden = _receipts_key(metadata)
    return {key: value for key, value in metadata.items() if key != hidden or value is None}
