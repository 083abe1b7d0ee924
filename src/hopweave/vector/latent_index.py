"""The latent spaces of a corpus, of its passages and of its documents, and where each passage lies in them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from hopweave.concurrency.once import once_property
from hopweave.errors import InvalidImage
from hopweave.vector.latent_space import MAX_SAMPLE, LatentSpace, LatentVectors, TermCounts, summed

FORMAT = 1  # of the image; another number when the meaning of an array changes
PART_AXES, DOCUMENT_AXES = 200, 100
_ALWAYS_LEARNED = 256  # parts; so few are learned from in milliseconds
_SHARE = 0.1  # of the parts, that may have changed since the axes were learned

Numbers = npt.NDArray[np.int64]
Hashes = npt.NDArray[np.uint64]
CountsOf = Callable[[Numbers], Sequence[TermCounts]]
"""Rows in, the term counts of each out."""


class Part(NamedTuple):
    """A passage that is a part of a document: its row, and hashes of its id and of what names the document."""

    row: int
    id_hash: int
    document: int


@dataclass(frozen=True, eq=False)
class LatentIndex:
    """Directions of passages and of their documents, never changed: `changed` gives a new one.

    Only parts of documents are in it. What follows is a function of the passages: axes are learned from them in the
    order of the hashes of their ids, and of documents in the order of theirs, or from the first `MAX_SAMPLE` of these.
    Up to 256 parts, axes are learned anew at each change; above, when a tenth of the parts has changed, and whenever an
    image is made (`learned`). Until then a change is projected onto the axes there are. `passages` counts all passages
    of the corpus, parts or not.
    """

    rows: Numbers
    ids: Hashes
    documents: Hashes
    part_space: LatentSpace
    document_space: LatentSpace
    parts: LatentVectors
    wholes: LatentVectors
    changes: int = 0
    passages: int = 0

    @classmethod
    def empty(cls) -> "LatentIndex":
        """No parts."""
        nothing = LatentSpace.learned([], axes=1)
        vectors = LatentVectors(np.zeros((0, 0), np.int8))
        return cls(np.empty(0, np.int64), _NO_HASHES, _NO_HASHES, nothing, nothing, vectors, vectors)

    @once_property
    def whole_keys(self) -> Hashes:
        """The hashes of the documents, sorted, which number them."""
        return np.unique(self.documents)

    @once_property
    def whole_of(self) -> Numbers:
        """The number of the document of each part."""
        return np.searchsorted(self.whole_keys, self.documents)

    def places(self, rows: Numbers) -> Numbers:
        """Where these rows are among the parts; -1 for others."""
        if not len(self.rows):
            return np.full(len(rows), -1)
        found = np.minimum(np.searchsorted(self.rows, rows), len(self.rows) - 1)
        return np.where(self.rows[found] == rows, found, -1)

    def changed(self, added: Sequence[Part], removed: Numbers, counts_of: CountsOf) -> "LatentIndex":
        """The index with parts added and rows removed. New rows must be the largest."""
        kept = ~np.isin(self.rows, removed)
        gone = len(kept) - int(np.count_nonzero(kept))
        if not added and not gone:
            return self
        rows = np.concatenate([self.rows[kept], np.array([one.row for one in added], np.int64)])
        ids = np.concatenate([self.ids[kept], np.array([one.id_hash for one in added], np.uint64)])
        owners = np.array([one.document for one in added], np.uint64)
        documents = np.concatenate([self.documents[kept], owners])
        changes = self.changes + len(added) + gone
        moved = replace(self, rows=rows, ids=ids, documents=documents, changes=changes)
        if len(rows) <= _ALWAYS_LEARNED or changes > _SHARE * len(rows):
            return moved.learned(counts_of)
        new = self.part_space.projected(counts_of(rows[len(rows) - len(added) :]))
        parts = LatentVectors(np.concatenate([self.parts.values[kept], new]))
        touched = np.unique(np.concatenate([owners, self.documents[~kept]]))
        return replace(moved, parts=parts, wholes=moved._projected_wholes(self, touched, counts_of))

    def learned(self, counts_of: CountsOf) -> "LatentIndex":
        """The same parts in spaces that are learned from them now."""
        counts = list(counts_of(self.rows))
        first = np.argsort(self.ids, kind="stable")[:MAX_SAMPLE]
        part_space = LatentSpace.learned([counts[place] for place in first], axes=PART_AXES)
        wholes = self._summed(counts)
        document_space = LatentSpace.learned(wholes[:MAX_SAMPLE], axes=DOCUMENT_AXES, b=1.0)
        return replace(
            self,
            part_space=part_space,
            document_space=document_space,
            parts=LatentVectors(part_space.projected(counts)),
            wholes=LatentVectors(document_space.projected(wholes)),
            changes=0,
        )

    def _summed(self, counts: Sequence[TermCounts]) -> list[TermCounts]:
        """The term counts of every document, from those of all parts."""
        order = np.argsort(self.whole_of, kind="stable")
        ends = np.cumsum(np.bincount(self.whole_of, minlength=len(self.whole_keys)))
        groups = np.split(order, ends[:-1]) if len(ends) else []
        return [summed([counts[place] for place in group]) for group in groups]

    def _projected_wholes(self, before: "LatentIndex", touched: Hashes, counts_of: CountsOf) -> LatentVectors:
        """The directions of documents, of which only those touched are worked out."""
        known = np.searchsorted(before.whole_keys, self.whole_keys)
        fresh = np.isin(self.whole_keys, touched)
        values = np.zeros((len(self.whole_keys), self.document_space.size), np.int8)
        values[~fresh] = before.wholes.values[known[~fresh]]
        numbers = np.flatnonzero(fresh)
        values[numbers] = self.projected_wholes(numbers, self.rows, counts_of)
        return LatentVectors(values)

    def projected_wholes(self, numbers: Numbers, rows: Numbers, counts_of: CountsOf) -> npt.NDArray[np.int8]:
        """The directions of some documents, made of those of their parts that are among the rows."""
        among = np.isin(self.rows, rows)
        groups = [self.rows[(self.whole_of == number) & among] for number in numbers.tolist()]
        return self.document_space.projected([summed(counts_of(group)) for group in groups])

    @classmethod
    def from_arrays(cls, header: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> "LatentIndex":
        """The index of an image, which may be mapped; `InvalidImage` if the arrays do not fit together."""
        spaces = [LatentSpace.from_arrays(header, arrays, name) for name in ("part_space", "document_space")]
        try:
            rows, ids, documents, parts, wholes = (arrays[name] for name in _ARRAYS)
            passages = int(header["passages"])
        except (KeyError, TypeError, ValueError) as error:
            raise InvalidImage(f"it lacks {error}") from error
        vectors = LatentVectors(parts), LatentVectors(wholes)
        found = cls(rows, ids, documents, spaces[0], spaces[1], *vectors, passages=passages)
        types = [array.dtype for array in (rows, ids, documents, parts, wholes)] == list(_ARRAYS.values())
        flat = rows.ndim == ids.ndim == documents.ndim == 1 and parts.ndim == wholes.ndim == 2
        if (
            not (types and flat and len(rows) == len(ids) == len(documents))
            or bool((rows[1:] <= rows[:-1]).any())
            or parts.shape != (len(rows), spaces[0].size)
            or wholes.shape != (len(found.whole_keys), spaces[1].size)
        ):
            raise InvalidImage("its arrays do not fit together")
        return found

    def arrays(self) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
        """The whole index for an image: what its header has to say, and the arrays."""
        part_header, part_arrays = self.part_space.arrays("part_space")
        document_header, document_arrays = self.document_space.arrays("document_space")
        own = (self.rows, self.ids, self.documents, self.parts.values, self.wholes.values)
        return {"passages": self.passages, **part_header, **document_header}, {
            **dict(zip(_ARRAYS, own, strict=True)),
            **part_arrays,
            **document_arrays,
        }


_NO_HASHES = np.empty(0, np.uint64)
_ARRAYS = {
    "rows": np.int64,
    "ids": np.uint64,
    "documents": np.uint64,
    "parts": np.int8,
    "wholes": np.int8,
}
