"""Haystack documents to hits and back: the only translator."""

from dataclasses import replace
from typing import Any

import numpy as np
from haystack import Document

from hopweave.hit import Hit, Receipt

RECEIPTS_KEY = "hopweave"
"""Where in a document's meta the receipts travel."""


def to_hit(document: Document) -> Hit:
    """
    The document as a hit; the document itself is carried along untouched.

    ```python
    hit = to_hit(Document(id="skua", content="A ferry.", score=0.5))
    ```

    :param document: The document to translate.
    :returns: A hit with the document's id, score, text, meta and embedding.
    """
    carried = document.meta.get(RECEIPTS_KEY) or {}
    return Hit(
        document.id,
        document.score,
        document.content or "",
        {key: value for key, value in document.meta.items() if key != RECEIPTS_KEY},
        None if document.embedding is None else np.asarray(document.embedding, np.float32),
        carried.get("scale"),
        document,
        tuple(Receipt.from_dict(receipt) for receipt in carried.get("receipts", ())),
    )


def to_document(hit: Hit) -> Document:
    """
    The hit as a document, its receipts under `meta["hopweave"]`.

    A hit that began as a document comes back as a copy of it, with the new score.

    :param hit: The hit to translate.
    :returns: A new document; the one the hit came from is not changed.
    """
    receipts: dict[str, Any] = {"receipts": [receipt.as_dict() for receipt in hit.receipts], "scale": hit.scale}
    if isinstance(hit.origin, Document):
        return replace(hit.origin, score=hit.score, meta={**hit.origin.meta, RECEIPTS_KEY: receipts})
    return Document(id=hit.id, content=hit.text, score=hit.score, meta={**hit.metadata, RECEIPTS_KEY: receipts})
