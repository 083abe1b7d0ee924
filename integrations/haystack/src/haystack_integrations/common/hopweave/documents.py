"""Haystack documents to hits and passages, and back: the only translator."""

from collections.abc import Mapping
from typing import Any

from haystack import Document, logging
from haystack.dataclasses import ByteStream, SparseEmbedding

from haystack_integrations.common.hopweave.receipts_in_meta import ReceiptsInMeta
from haystack_integrations.common.hopweave.shared_embedding import SharedEmbedding
from hopweave.document import Document as Passage
from hopweave.hit import Hit, Vector

logger = logging.getLogger(__name__)

PARTS_KEY = "_haystack"
"""Where in a stored passage's metadata those parts of a document are kept that a passage does not have."""

_OURS = "kept by hopweave"
"""Marks what is kept there as ours; without the mark it is a field of the user's that happens to have the name."""


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
    meta = document.meta
    return Hit(
        document.id,
        document.score,
        document.content or "",
        dict(meta) if isinstance(meta, ReceiptsInMeta) else meta,
        _vector(document.embedding) if vector and document.embedding is not None else None,
        meta.scale if isinstance(meta, ReceiptsInMeta) else None,
        document,
        meta.receipts if isinstance(meta, ReceiptsInMeta) else (),
    )


def to_document(hit: Hit) -> Document:
    """
    The hit as a document; `meta["hopweave"]` gives its receipts, though they are no item of `meta`.

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
            parts["embedding"] = SharedEmbedding.of(document.embedding)
    else:
        document = from_passage(Passage(hit.id, hit.text, hit.metadata))
        parts = vars(document)
    parts["score"] = hit.score
    parts["meta"] = ReceiptsInMeta.of(document.meta, hit.receipts, hit.scale)
    return document


def with_flat_scores(document: Document) -> Document:
    """
    A copy of a document with the score of every step as a field of its meta: `dense_score`, `rrf_score` …

    A field of that name that the document has already stays as it is, which is logged.

    :param document: A document that one of our components handed on.
    :returns: A new document.
    """
    hit = to_hit(document, vector=False)
    if clashes := sorted(hit.scores.keys() & hit.metadata.keys()):
        logger.warning("document '{key}' has fields {fields} of its own, which stay", key=hit.id, fields=clashes)
    copied = to_document(hit)
    meta = ReceiptsInMeta.of({**hit.scores, **hit.metadata}, hit.receipts, hit.scale)
    vars(copied)["meta"] = meta
    return copied


def receipts(document: Document) -> list[dict[str, Any]]:
    """
    Why a document has the score it has.

    ```python
    from haystack_integrations.common.hopweave import receipts, to_document

    receipts(to_document(to_hit(Document(id="a", content="A ferry.", score=0.5)).rescored(0.25, "halve")))
    ```

    :param document: A document that one of our components handed on.
    :returns: One entry per step, as plain data that JSON can hold; none for any other document.
    """
    return [one.as_dict() for one in document.meta.receipts] if isinstance(document.meta, ReceiptsInMeta) else []


def check_documents(documents: Any, parameter: str = "documents") -> None:
    """Raise `ValueError` unless this is a list of documents."""
    if not isinstance(documents, list):
        raise ValueError(f"{parameter}: must be a list of Documents, but got {type(documents).__name__}")
    for number, one in enumerate(documents):
        if not isinstance(one, Document):
            raise ValueError(f"{parameter}: must be a list of Documents, but number {number} is a {type(one).__name__}")


def to_passage(document: Document) -> Passage:
    """
    The document as a knowledge base stores it, so that `from_passage` makes an equal one.

    Its score and receipts belong to a query and are left out.
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
    if PARTS_KEY in document.meta:
        parts["meta"] = document.meta[PARTS_KEY]
    metadata = {**document.meta, PARTS_KEY: {**parts, _OURS: True}} if parts else dict(document.meta)
    return Passage(document.id, document.content or "", metadata, vector)


def from_passage(passage: Passage, vector: Vector | None = None) -> Document:
    """The document that `to_passage` stored, with `vector` as its embedding if there is one."""
    meta = dict(passage.metadata)
    parts: Any = meta.get(PARTS_KEY)
    if isinstance(parts, Mapping) and parts.get(_OURS) is True:
        del meta[PARTS_KEY]
    else:
        parts = {}
    if "meta" in parts:
        meta[PARTS_KEY] = parts["meta"]
    embedding = None if vector is None else parts.get("embedding") or vector.tolist()
    blob, sparse = parts.get("blob"), parts.get("sparse_embedding")
    return Document(
        id=passage.id,
        content=parts.get("content", passage.text),
        meta=meta,
        embedding=embedding,
        blob=ByteStream.from_dict(blob) if blob else None,
        sparse_embedding=SparseEmbedding.from_dict(sparse) if sparse else None,
    )


def _vector(embedding: list[float]) -> Vector:
    shared = embedding if isinstance(embedding, SharedEmbedding) else SharedEmbedding.of(embedding)
    return shared.vector
