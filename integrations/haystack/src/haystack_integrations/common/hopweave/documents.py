"""Haystack documents to hits and passages, and back: the only translator."""

from typing import Any

from haystack import Document
from haystack.dataclasses import ByteStream, SparseEmbedding

from haystack_integrations.common.hopweave.carried import Carried, receipts_of
from haystack_integrations.common.hopweave.shared_embedding import SharedEmbedding
from hopweave.document import Document as Passage
from hopweave.hit import Hit, Vector

RECEIPTS_KEY = "hopweave"
"""Where in a document's meta the receipts travel."""

PARTS_KEY = "_haystack"
"""Where in a stored passage's metadata those parts of a document are kept that a passage does not have."""


def to_hit(document: Document, *, vector: bool = True) -> Hit:
    """
    The document as a hit; the document itself is carried along untouched.

    ```python
    hit = to_hit(Document(id="skua", content="A ferry.", score=0.5))
    ```

    :param document: The document to translate.
    :param vector: Whether the hit is to have a vector; to make one of an embedding takes time.
    :returns: A hit with the document's id, score, text, meta and embedding.
    """
    carried = document.meta.get(RECEIPTS_KEY)
    return Hit(
        document.id,
        document.score,
        document.content or "",
        _without(document.meta, RECEIPTS_KEY) if carried else document.meta,
        _vector(document.embedding) if vector and document.embedding is not None else None,
        carried["scale"] if carried else None,
        document,
        receipts_of(carried) if carried else (),
    )


def to_document(hit: Hit) -> Document:
    """
    The hit as a document, its receipts under `meta["hopweave"]`.

    A hit that began as a document comes back as a copy of it, with the new score; what the document lacked and another
    source knew (content, embedding) is filled in.

    :param hit: The hit to translate.
    :returns: A new document; the one the hit came from is not changed.
    """
    if isinstance(hit.origin, Document):
        document = Document.__new__(Document)  # a shallow copy, four times as fast as copy.copy makes it
        parts = vars(document)
        parts.update(vars(hit.origin))
        if document.embedding is None and hit.vector is not None:
            parts["embedding"] = hit.vector.tolist()
        if document.content is None and hit.text:
            parts["content"] = hit.text
        if document.embedding is not None and not isinstance(document.embedding, SharedEmbedding):
            parts["embedding"] = SharedEmbedding(document.embedding)
    else:
        document = from_passage(Passage(hit.id, hit.text, hit.metadata))
        parts = vars(document)
    parts["score"] = hit.score
    parts["meta"] = {**document.meta, RECEIPTS_KEY: Carried.of(hit, document.meta.get(RECEIPTS_KEY))}
    return document


def to_passage(document: Document) -> Passage:
    """
    The document as it is stored in a knowledge base. Its score and receipts belong to a query and are left out.

    :param document: The document to store.
    :returns: A passage from which `from_passage` makes an equal document.
    """
    parts: dict[str, Any] = {}
    if document.content is None:
        parts["content"] = None
    if document.blob is not None:
        parts["blob"] = document.blob.to_dict()
    if document.sparse_embedding is not None:
        parts["sparse_embedding"] = document.sparse_embedding.to_dict()
    vector = None if document.embedding is None else _vector(document.embedding)
    if vector is not None and vector.tolist() != document.embedding:  # finer than what a knowledge base keeps
        parts["embedding"] = document.embedding
    metadata = _without(document.meta, RECEIPTS_KEY)
    return Passage(document.id, document.content or "", {**metadata, PARTS_KEY: parts} if parts else metadata, vector)


def from_passage(passage: Passage, vector: Vector | None = None) -> Document:
    """
    The document that `to_passage` stored.

    :param passage: The passage as the knowledge base gives it.
    :param vector: Its vector, if the document is to have its embedding.
    :returns: A new document without a score.
    """
    parts = passage.metadata.get(PARTS_KEY) or {}
    embedding = None if vector is None else parts.get("embedding") or vector.tolist()
    blob, sparse = parts.get("blob"), parts.get("sparse_embedding")
    return Document(
        id=passage.id,
        content=parts.get("content", passage.text),
        meta=_without(passage.metadata, PARTS_KEY),
        embedding=embedding,
        blob=ByteStream.from_dict(blob) if blob else None,
        sparse_embedding=SparseEmbedding.from_dict(sparse) if sparse else None,
    )


def _vector(embedding: list[float]) -> Vector:
    shared = embedding if isinstance(embedding, SharedEmbedding) else SharedEmbedding(embedding)
    return shared.vector


def _without(metadata: Any, key: str) -> dict[str, Any]:
    return {name: value for name, value in metadata.items() if name != key}
