"""Whose vectors documents bring along."""

from collections.abc import Sequence
from itertools import islice

import numpy as np

from hopweave.component import Embedder
from hopweave.document import Document

_EXAMINED = 3  # documents; an embedder may be slow
_SAME = 0.99  # cosine from which two vectors are of one model, rounding and truncation included


def are_vectors_of(embedder: Embedder, documents: Sequence[Document]) -> bool:
    """Whether the vectors that documents carry are those of a model, judged by making a few of them again.

    Documents without a vector or text say nothing; where none says anything, the answer is yes.

    >>> from hopweave.vector.embedders import StaticEmbedder
    >>> own = StaticEmbedder().embed(["A ferry."])[0]
    >>> are_vectors_of(StaticEmbedder(), [Document("a", "A ferry.", vector=own)])
    True
    >>> are_vectors_of(StaticEmbedder(), [Document("a", "A ferry.", vector=own[::-1])])
    False
    """
    comparable = (one for one in documents if one.vector is not None and one.text.strip())
    return all(_is_vector_of(embedder, one) for one in islice(comparable, _EXAMINED))


def _is_vector_of(embedder: Embedder, document: Document) -> bool:
    given = np.asarray(document.vector, np.float64)
    made = np.asarray(embedder.embed([document.searchable, document.text]), np.float64)
    if made.shape[1:] != given.shape:
        return False
    lengths = np.linalg.norm(made, axis=1) * np.linalg.norm(given)
    return bool((made @ given >= _SAME * lengths).any())
