"""Digests of what is stored, to detect damage."""

from hashlib import blake2b


def digest_of(*parts: str | bytes) -> bytes:
    """The digest of some content, in 16 bytes.

    >>> len(digest_of("text", "{}"))
    16
    """
    digest = blake2b(digest_size=16)
    for part in (part.encode() if isinstance(part, str) else part for part in parts):
        digest.update(len(part).to_bytes(8, "little") + part)
    return digest.digest()


def vector_digest(model: str, row: int, vector: bytes) -> bytes:
    """The digest of a stored vector and of what it belongs to.

    >>> vector_digest("m", 1, bytes(4)) == vector_digest("m", 2, bytes(4))
    False
    """
    return digest_of(model, str(row), vector)


def vector_columns(row: int, model: str, vector: bytes) -> tuple[str, int, bytes, bytes]:
    """A vector as a row of the table of vectors."""
    return model, row, vector, vector_digest(model, row, vector)
