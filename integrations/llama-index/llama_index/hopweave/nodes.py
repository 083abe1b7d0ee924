"""LlamaIndex nodes to hits and documents, and back: the only translator."""

from typing import Any

import numpy as np
from llama_index.core.graph_stores.types import KG_NODES_KEY, KG_RELATIONS_KEY
from llama_index.core.schema import BaseNode, MetadataMode, NodeWithScore, TextNode
from llama_index.core.vector_stores.utils import metadata_dict_to_node, node_to_metadata_dict

from hopweave.document import Document
from hopweave.hit import Hit, Receipt

RECEIPTS_KEY = "hopweave"
"""Where in a node's metadata the receipts travel, out of sight of LLM and embedding model."""

_NODE_KEY = "_node_content"
_NOT_STORED = {RECEIPTS_KEY, KG_NODES_KEY, KG_RELATIONS_KEY}


def to_hit(node: NodeWithScore) -> Hit:
    """
    The node as a hit; the node itself is carried along untouched.

    Args:
        node: The node to translate.

    Returns:
        A hit with the node's id, score, text, metadata and embedding.

    """
    inner = node.node
    carried = inner.metadata.get(RECEIPTS_KEY) or {}
    return Hit(
        inner.node_id,
        None if node.score is None else float(node.score),
        inner.get_content(metadata_mode=MetadataMode.NONE),
        {key: value for key, value in inner.metadata.items() if key != RECEIPTS_KEY},
        None if inner.embedding is None else np.asarray(inner.embedding, np.float32),
        carried.get("scale"),
        node,
        tuple(Receipt.from_dict(receipt) for receipt in carried.get("receipts", ())),
    )


def to_node(hit: Hit) -> NodeWithScore:
    """
    The hit as a node, its receipts under `metadata["hopweave"]`.

    A hit that began as a node comes back as a copy of it, with the new score, and with the embedding if another source
    knew it.

    Args:
        hit: The hit to translate.

    Returns:
        A new node; the one the hit came from is not changed.

    """
    receipts: dict[str, Any] = {"receipts": [receipt.as_dict() for receipt in hit.receipts], "scale": hit.scale}
    inner = hit.origin.node if isinstance(hit.origin, NodeWithScore) else plain_node(hit)
    known = {} if inner.embedding is not None or hit.vector is None else {"embedding": hit.vector.tolist()}
    copy = inner.model_copy(
        update={
            **known,
            "metadata": {**inner.metadata, RECEIPTS_KEY: receipts},
            "excluded_llm_metadata_keys": _with_receipts(inner.excluded_llm_metadata_keys),
            "excluded_embed_metadata_keys": _with_receipts(inner.excluded_embed_metadata_keys),
        }
    )
    return NodeWithScore(node=copy, score=hit.score)


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

    Neighbouring nodes, and the entities and relations that a knowledge graph extractor found, go where hopweave's graph
    builders look for them.

    Args:
        node: The node to store.

    Returns:
        A document with the node's id, text, metadata and embedding.

    """
    kept = node.model_copy(update={"metadata": {k: v for k, v in node.metadata.items() if k not in _NOT_STORED}})
    return Document(
        node.node_id,
        node.get_content(metadata_mode=MetadataMode.NONE),
        {**_for_graph_builders(node), **node_to_metadata_dict(kept, remove_text=True)},
        None if node.embedding is None else np.asarray(node.embedding, np.float32),
    )


def _for_graph_builders(node: BaseNode) -> dict[str, Any]:
    """The node's neighbours and triples, in the fields where graph builders look for them."""
    neighbours = {
        "next_id": node.next_node and node.next_node.node_id,
        "parent_id": node.parent_node and node.parent_node.node_id,
        "child_ids": [child.node_id for child in node.child_nodes or ()],
        "triples": [[one.source_id, one.label, one.target_id] for one in node.metadata.get(KG_RELATIONS_KEY) or ()],
        "entities": [one.name for one in node.metadata.get(KG_NODES_KEY) or () if hasattr(one, "name")],
    }
    return {name: value for name, value in neighbours.items() if value}


def _with_receipts(keys: list[str]) -> list[str]:
    return keys if RECEIPTS_KEY in keys else [*keys, RECEIPTS_KEY]
