"""The index behind BM25: postings in segments, the largest of which may be mapped from an image."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hopweave.concurrency.once import LRUCache, once_property
from hopweave.errors import InvalidImage
from hopweave.scores import ScoreDistribution, best_and_ties
from hopweave.storage.segments import Rows, RowSegment, changed, rows_of
from hopweave.storage.strings import string_hash
from hopweave.text.analyzers import Counts, Keys

K1 = 1.5
B = 0.75
_RECENT = 4  # questions whose scores of all rows are kept
FORMAT = 1  # of the image; another number when the meaning of an array changes

Integers = npt.NDArray[np.integer[Any]]


@dataclass(frozen=True, slots=True)
class Segment(RowSegment):
    """Postings of some rows. Term `keys[i]` occurs in the rows at `places[offsets[i]:offsets[i + 1]]`.

    `rows` and `keys` are sorted, so are the places of a term.
    """

    lengths: Integers
    keys: Keys
    offsets: Rows
    places: Integers
    counts: Integers

    @classmethod
    def of(cls, documents: Sequence[tuple[int, Keys, Counts]]) -> "Segment":
        """The postings of documents given as row, term keys and counts, in the order of rows."""
        sizes = np.array([len(keys) for _, keys, _ in documents], np.int64)
        counts = np.concatenate([np.empty(0, np.int32), *(counts for _, _, counts in documents)])
        ends = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])[np.concatenate([[0], np.cumsum(sizes)])]
        return _sorted(
            np.array([row for row, _, _ in documents], np.int64),
            np.diff(ends),
            np.concatenate([np.empty(0, np.uint64), *(keys for _, keys, _ in documents)]),
            np.repeat(np.arange(len(documents), dtype=np.int32), sizes),
            counts,
        )

    @classmethod
    def merged(cls, segments: Sequence["Segment"]) -> "Segment":
        """The rows of several segments that are not gone, as one."""
        rows, lengths, keys, places, counts, start = [], [], [], [], [], 0
        for one in segments or [cls.of([])]:
            alive = one.kept
            kept = alive[one.places]
            rows.append(one.rows[alive])
            lengths.append(one.lengths[alive])
            keys.append(np.repeat(one.keys, np.diff(one.offsets))[kept])
            places.append((np.cumsum(alive, dtype=np.int32) + np.int32(start - 1))[one.places[kept]])
            counts.append(one.counts[kept])
            start += len(rows[-1])
        return _sorted(*(np.concatenate(parts) for parts in (rows, lengths, keys, places, counts)))

    @property
    def length(self) -> int:
        """How many terms the rows that are not gone have together."""
        alive = self.lengths if self.gone is None else self.lengths[~self.gone]
        return int(alive.sum(dtype=np.int64))

    def postings(self, key: int) -> tuple[Integers, Integers]:
        """Places and counts of a term in the rows, those that are gone left out."""
        number = int(self.keys.searchsorted(np.uint64(key)))
        if number == len(self.keys) or int(self.keys[number]) != key:
            return self.places[:0], self.counts[:0]
        there = slice(int(self.offsets[number]), int(self.offsets[number + 1]))
        places, counts = self.places[there], self.counts[there]
        if self.gone is None:
            return places, counts
        alive = ~self.gone[places]
        return places[alive], counts[alive]


def _sorted(rows: Rows, lengths: Integers, keys: Keys, places: Integers, counts: Integers) -> Segment:
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    first = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]])) if len(keys) else np.empty(0, np.int64)
    return Segment(rows, lengths.astype(np.int32), keys[first], np.append(first, len(keys)).astype(np.int64),
                   places[order].astype(np.int32), counts[order].astype(np.int32))  # fmt: skip


class BM25Index:
    """A BM25 index over numbered rows, never changed: `changed` gives a new one that shares what it can.

    score(t, d) = log(1 + (N - df + 0.5) / (df + 0.5)) · tf / (tf + k1 · (1 - b + b · |d| / mean |d|))

    What is kept are counts; N, df and the mean length are those of the moment of the search. So adding and deleting
    leave exactly the scores that a fresh build would give. Rows that come later make segments of their own, which are
    joined as they grow, so that a change costs its own size and there are never many segments.

    >>> from hopweave.text.analyzers import term_counts
    >>> index = BM25Index().changed([(7, *term_counts(["tide", "gate", "tide"]))])
    >>> rows, scores, _ = index.search({"tide": 1.0}, top_k=5)
    >>> rows.tolist()
    [7]
    """

    def __init__(self, segments: Sequence[Segment] = ()) -> None:
        self.segments = tuple(segments)
        self.size = sum(segment.size for segment in self.segments)
        self._length = sum(segment.length for segment in self.segments)
        self._recent = LRUCache[tuple[tuple[int, float], ...], list[npt.NDArray[np.float64]]](_RECENT)

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> "BM25Index":
        """The index of an image, which may be mapped; `InvalidImage` if the arrays do not fit together."""
        try:
            segment = Segment(**{name: arrays[name] for name in _ARRAYS})
        except KeyError as error:
            raise InvalidImage(f"it lacks the array {error}") from error
        sizes = np.diff(segment.offsets)
        if (
            any(arrays[name].dtype != kind or arrays[name].ndim != 1 for name, kind in _ARRAYS.items())
            or len(segment.lengths) != len(segment.rows)
            or len(segment.offsets) != len(segment.keys) + 1
            or len(segment.counts) != len(segment.places)
            or (int(segment.offsets[0]), int(segment.offsets[-1])) != (0, len(segment.places))
            or bool((sizes < 0).any())
            or not _between(segment.places, 0, len(segment.rows))
            or not _between(segment.counts, 1, 1 << 31)
            or not _between(segment.lengths, 0, 1 << 31)
        ):
            raise InvalidImage("its arrays do not fit together")
        return cls([segment])

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """The whole index for an image."""
        whole = Segment.merged(self.segments)
        return {name: getattr(whole, name) for name in _ARRAYS}

    @property
    def rows(self) -> Rows:
        """The rows of the index, sorted."""
        return rows_of(self.segments)

    def changed(self, added: Iterable[tuple[int, Keys, Counts]] = (), removed: Rows | None = None) -> "BM25Index":
        """The index with rows added (row, term keys, counts) and rows removed. New rows must be the largest."""
        new = list(added)
        made = Segment.of(new) if new else None
        return BM25Index(changed(self.segments, made, removed, Segment.merged, lambda one: len(one.places)))

    @once_property
    def _damping(self) -> list[npt.NDArray[np.floating]]:
        """What is added to the count of a term in each row, by segment: more for a longer row."""
        mean = (self._length / self.size if self.size else 0.0) or 1.0
        return [K1 * (1 - B + B * segment.lengths / mean) for segment in self.segments]

    def scores(self, terms: Mapping[str, float], rows: Rows) -> npt.NDArray[np.float32]:
        """The scores of some rows for weighted terms; 0 for a row that is not there.

        >>> from hopweave.text.analyzers import term_counts
        >>> index = BM25Index().changed([(7, *term_counts(["tide"]))])
        >>> [round(float(score), 3) for score in index.scores({"tide": 1.0}, np.array([3, 7]))]
        [0.0, 0.115]
        """
        found = np.zeros(len(rows), np.float32)
        for segment, sums in zip(self.segments, self._sums(terms), strict=True):
            if len(segment.rows):
                places = np.minimum(np.searchsorted(segment.rows, rows), len(segment.rows) - 1)
                there = segment.rows[places] == rows
                if segment.gone is not None:
                    there &= ~segment.gone[places]
                found[there] = sums[places[there]]
        return found

    def _sums(self, terms: Mapping[str, float]) -> list[npt.NDArray[np.float64]]:
        """The scores of all rows, by segment. Kept for a moment, as candidates are scored after a search."""
        weights = tuple(sorted((string_hash(term), weight) for term, weight in terms.items()))
        kept: list[npt.NDArray[np.float64]] = self._recent.get_or_make(weights, lambda: self._summed(weights))
        return kept

    def _summed(self, weights: Sequence[tuple[int, float]]) -> list[npt.NDArray[np.float64]]:
        sums = [np.zeros(len(segment.rows)) for segment in self.segments]
        for key, weight in weights:
            found = [segment.postings(key) for segment in self.segments]
            frequency = sum(len(places) for places, _ in found)
            idf = math.log(1 + (self.size - frequency + 0.5) / (frequency + 0.5))
            for damping, (places, counts), scores in zip(self._damping, found, sums, strict=True):
                if len(places):
                    there = places.astype(np.intp)  # any other type is slow to index with
                    parts = damping[there]
                    parts += counts
                    np.divide(counts, parts, out=parts)
                    parts *= weight * idf
                    scores[there] += parts
        return sums

    def search(
        self, terms: Mapping[str, float], top_k: int, allowed: Rows | None = None
    ) -> tuple[Rows, npt.NDArray[np.float32], ScoreDistribution]:
        """Rows and scores for weighted terms, and how the scores of all rows lie. Never a row with score 0.

        All rows that tie with the last one are given as well, so that the caller can choose between them by id.
        `allowed` are the rows that may be given, sorted.
        """
        sums = self._sums(terms)
        found_at = [np.flatnonzero(scores > 0) for scores in sums]
        rows = np.concatenate(
            [np.empty(0, np.int64), *(one.rows[at] for one, at in zip(self.segments, found_at, strict=True))]
        )
        totals = np.concatenate([np.empty(0), *(one[at] for one, at in zip(sums, found_at, strict=True))]).astype(
            np.float32
        )
        if allowed is not None:
            visible = np.isin(rows, allowed)
            rows, totals = rows[visible], totals[visible]
        best = best_and_ties(totals, top_k)
        best = best[totals[best] > 0]
        return rows[best], totals[best], ScoreDistribution.of(totals, self.size if allowed is None else len(allowed))


def _between(values: npt.NDArray[Any], low: int, high: int) -> bool:
    return not len(values) or (int(values.min()) >= low and int(values.max()) < high)


_ARRAYS = {"rows": "i8", "lengths": "i4", "keys": "u8", "offsets": "i8", "places": "i4", "counts": "i4"}
