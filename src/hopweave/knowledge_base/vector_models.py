"""Whose vectors documents bring along: all vectors of a file are of one model."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from hopweave.component import Embedder
from hopweave.document import Document
from hopweave.vector.embedders import StaticEmbedder

_EXAMINED = 8  # documents of a batch; an embedder may be slow
_SAME = 0.99  # cosine from which two vectors are of one model, rounding and truncation included


def are_vectors_of(embedder: Embedder, documents: Sequence[Document]) -> bool:
    """Whether the vectors that documents carry are those of a model, judged by making some of them again.

    Documents without a vector or text say nothing; where none says anything, the answer is yes.

    >>> own = StaticEmbedder().embed(["A ferry."])[0]
    >>> are_vectors_of(StaticEmbedder(), [Document("a", "A ferry.", vector=own)])
    True
    >>> are_vectors_of(StaticEmbedder(), [Document("a", "A ferry.", vector=own[::-1])])
    False
    """
    return foreign_vector(embedder, documents) is None


def foreign_vector(embedder: Embedder, documents: Sequence[Document]) -> Document | None:
    """The first document whose vector is not that of a model; all are examined if the model is fast, else some."""
    comparable = [one for one in documents if one.vector is not None and one.text.strip()]
    if not isinstance(embedder, StaticEmbedder) and len(comparable) > _EXAMINED:
        places = np.linspace(0, len(comparable) - 1, _EXAMINED).round().astype(int)
        comparable = [comparable[place] for place in places]
    own = made_by(embedder, comparable)
    return next((one for one, same in zip(comparable, own, strict=True) if not same), None)


def made_by(embedder: Embedder, documents: Sequence[Document]) -> list[bool]:
    """Whether each of these vectors is what an embedder makes of the document, with or without its heading."""
    if not documents:
        return []
    texts = [text for one in documents for text in (one.searchable, one.text)]
    made = np.asarray(embedder.embed(texts), np.float64).reshape(len(documents), 2, -1)
    return [_is_one_of(np.asarray(one.vector, np.float64), rows) for one, rows in zip(documents, made, strict=True)]


def _is_one_of(given: Any, rows: Any) -> bool:
    if rows.shape[1:] != given.shape:
        return False
    return bool((rows @ given >= _SAME * np.linalg.norm(rows, axis=1) * np.linalg.norm(given)).any())
