"""BM25 of whole documents, from the postings of their parts."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from hopweave.storage.strings import string_hash
from hopweave.text.bm25_index import K1, Segment

Numbers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

NO_DOCUMENT = -1


class Wholes:
    """Which rows are parts of which document; documents are numbers from 0, rows are sorted.

    >>> Wholes(np.array([3, 4, 8]), np.array([0, 1, 0])).of(np.array([8, 9])).tolist()
    [0, -1]
    """

    def __init__(self, rows: Numbers, documents: Numbers) -> None:
        self.rows, self.documents = rows, documents
        self.count = int(documents.max(initial=-1)) + 1
        self.sizes: Numbers = np.bincount(documents, minlength=self.count)
        self._by_segment: dict[int, tuple[Segment, Numbers, Floats]] = {}

    def of(self, rows: Numbers) -> Numbers:
        """The document of each row; -1 for a row that is part of none."""
        if not len(self.rows):
            return np.full(len(rows), NO_DOCUMENT)
        places = np.minimum(np.searchsorted(self.rows, rows), len(self.rows) - 1)
        return np.where(self.rows[places] == rows, self.documents[places], NO_DOCUMENT)

    def in_segment(self, segment: Segment) -> tuple[Numbers, Floats]:
        """The document of each row of a segment, and the length of what each document has there."""
        known = self._by_segment.get(id(segment))
        if known is None or known[0] is not segment:
            documents = self.of(segment.rows)
            if segment.gone is not None:
                documents[segment.gone] = NO_DOCUMENT
            there = documents >= 0
            lengths = np.bincount(documents[there], segment.lengths[there], self.count).astype(np.float64)
            known = self._by_segment[id(segment)] = (segment, documents, lengths)
        return known[1], known[2]


def document_scores(segments: Sequence[Segment], terms: Mapping[str, float], wholes: Wholes) -> Floats:
    """BM25 of every document for weighted terms, with b = 1: the length of a whole file is paid in full.

    The term frequency of a document is the sum of those of its parts, so there is no second index. Parts that `wholes`
    does not have count nothing, so that a document is what the asker may see of it.
    """
    scores = np.zeros(wholes.count)
    parts: list[tuple[Segment, Numbers, Floats]] = [(one, *wholes.in_segment(one)) for one in segments]
    lengths = np.sum([np.zeros(wholes.count), *(length for _, _, length in parts)], axis=0)
    mean = float(lengths.mean()) if wholes.count else 0.0
    damping = K1 * lengths / (mean or 1.0)
    for key, weight in sorted((string_hash(term), weight) for term, weight in terms.items()):
        documents, counts = _postings(parts, key)
        if not len(documents):
            continue
        frequency = np.bincount(documents, counts, wholes.count)
        found = np.flatnonzero(frequency)
        idf = math.log(1 + (wholes.count - len(found) + 0.5) / (len(found) + 0.5))
        scores[found] += weight * idf * frequency[found] / (frequency[found] + damping[found])
    return scores


def _postings(parts: Sequence[tuple[Segment, Numbers, Floats]], key: int) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """The documents with a term, once for each part that has it, and how often it has it."""
    documents: list[npt.NDArray[Any]] = [np.empty(0, np.int64)]
    counts: list[npt.NDArray[Any]] = [np.empty(0, np.int32)]
    for segment, of_rows, _ in parts:
        places, numbers = segment.postings(key)
        owners = of_rows[places]
        documents.append(owners[owners >= 0])
        counts.append(numbers[owners >= 0])
    return np.concatenate(documents), np.concatenate(counts)
