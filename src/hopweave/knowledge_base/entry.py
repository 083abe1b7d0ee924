"""A document in the form in which it is stored."""

import json
from dataclasses import dataclass
from datetime import date, datetime
from hashlib import blake2b
from typing import Any

import numpy as np

from hopweave.document import Document
from hopweave.errors import KnowledgeBaseError


@dataclass(frozen=True, slots=True)
class Entry:
    """A document with its metadata as JSON and digests that tell whether it has changed."""

    document: Document
    metadata: str
    digest: bytes
    vector_digest: bytes

    @classmethod
    def of(cls, document: Document) -> "Entry":
        """Check a document and prepare it for storing.

        >>> Entry.of(Document("a", "text", {"tags": {"x", "b"}})).metadata
        '{"tags": ["b", "x"]}'
        """
        if not isinstance(document.id, str) or not document.id:
            raise KnowledgeBaseError(f"a document's id must be a non-empty string, but got {document.id!r}")
        if not isinstance(document.text, str):
            raise KnowledgeBaseError(f"document {document.id!r}: its text must be a string, but got {document.text!r}")
        try:
            metadata = json.dumps(
                dict(document.metadata), ensure_ascii=False, allow_nan=False, sort_keys=True, default=_plain
            )
            digest = digest_of(document.text, metadata)
        except (TypeError, ValueError) as error:
            raise KnowledgeBaseError(f"document {document.id!r} cannot be stored: {error}") from error
        given = b"" if document.vector is None else blake2b(np.asarray(document.vector, np.float32).tobytes()).digest()
        return cls(document, metadata, digest, given[:16])

    @property
    def digests(self) -> tuple[bytes, bytes]:
        """Equal for documents that are the same."""
        return self.digest, self.vector_digest


def digest_of(text: str, metadata: str) -> bytes:
    """What a stored document's content comes to in 16 bytes.

    >>> len(digest_of("text", "{}"))
    16
    """
    digest = blake2b(digest_size=16)
    for part in (text.encode(), metadata.encode()):
        digest.update(len(part).to_bytes(8, "little") + part)
    return digest.digest()


def _plain(value: Any) -> Any:
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, set | frozenset):
        return sorted(value)
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"metadata of type {type(value).__name__} is not JSON")
