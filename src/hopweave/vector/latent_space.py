"""A latent space of texts: terms that occur in the same texts lie close together.

S. Deerwester, S. T. Dumais, G. W. Furnas, T. K. Landauer, R. Harshman (1990): Indexing by Latent Semantic Analysis.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hopweave.concurrency.once import once_property
from hopweave.errors import InvalidImage
from hopweave.scores import ScoreDistribution

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

K1 = 1.5
MAX_TERMS = 80_000
MAX_SAMPLE = 20_000
_AT_ONCE = 2_000  # rows that are projected together
_MIN_SINGULAR = 1e-6  # of the largest; below, an axis holds rounding errors only

TermCounts = tuple[npt.NDArray[np.uint64], npt.NDArray[np.int32]]
"""The keys of the distinct terms of a text, sorted, and how often each occurs."""

Bytes = npt.NDArray[np.int8]
Floats = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class LatentSpace:
    """Axes learned from a sample of texts, onto which texts and questions are projected.

    A text is the vector of its BM25 weights idf · tf / (tf + k1 · (1 - b + b · length / mean length)), of length 1. The
    axes are the right singular vectors of the sample's texts, most important first; both are kept in one byte per
    number. A question is the sum of idf · axes of its different terms. idf and mean length are those of the sample, so
    a text that is added later is projected as all others are.

    >>> texts = [{"tide": 2, "gate": 1}, {"tide": 1, "moon": 1}, {"gate": 1, "moon": 2}, {"ferry": 1, "tide": 1}]
    >>> keys = {"ferry": 1, "gate": 2, "moon": 3, "tide": 4}
    >>> counts = [counts_by_key({keys[term]: count for term, count in text.items()}) for text in texts]
    >>> space = LatentSpace.learned(counts, axes=2)
    >>> space.size, space.projected(counts).shape
    (2, (4, 2))
    """

    keys: npt.NDArray[np.uint64]
    idf: npt.NDArray[np.float64]
    axes: Bytes
    scales: npt.NDArray[np.float64]
    mean_length: float
    b: float

    @property
    def size(self) -> int:
        """How many axes there are; 0 if too few texts share a term."""
        return int(self.axes.shape[1])

    @classmethod
    def learned(cls, sample: Sequence[TermCounts], *, axes: int, b: float = 0.75) -> "LatentSpace":
        """The space of texts. The order of the texts matters in the last digits, so it should follow from contents.

        It has fewer axes than asked for if there are fewer texts, or fewer terms that occur in two of them.
        """
        from scipy.sparse.linalg import svds

        keys, frequency = np.unique(np.concatenate([_NO_KEYS, *(keys for keys, _ in sample)]), return_counts=True)
        shared = np.flatnonzero(frequency >= 2)
        shared = np.sort(shared[np.lexsort((keys[shared], -frequency[shared]))][:MAX_TERMS])
        keys, frequency = keys[shared], frequency[shared]
        idf = np.log(1 + (len(sample) - frequency + 0.5) / (frequency + 0.5))
        lengths = _lengths(sample)
        mean = float(lengths.mean()) if len(lengths) else 1.0
        empty = cls(keys, idf, np.zeros((len(keys), 0), np.int8), np.zeros(len(keys)), mean or 1.0, b)
        texts = empty._weighted(sample)
        count = min(axes, min(texts.shape) - 1)
        if count < 1:
            return empty
        # a start of its own makes the outcome depend on the texts alone
        _, values, vectors = svds(texts, k=count, v0=np.ones(min(texts.shape)), tol=1e-9)
        order = np.argsort(-values, kind="stable")
        order = order[values[order] > _MIN_SINGULAR * values.max(initial=0.0)]
        found, scales = _in_bytes(vectors[order].T)
        return cls(keys, idf, found, scales, mean or 1.0, b)

    @classmethod
    def from_arrays(
        cls, header: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]], prefix: str
    ) -> "LatentSpace":
        """The space that `arrays` gave; `InvalidImage` if its parts do not fit together."""
        try:
            keys, idf, axes, scales = (arrays[f"{prefix}/{name}"] for name in _ARRAYS)
            mean_length, b = float(header[prefix]["mean_length"]), float(header[prefix]["b"])
        except (KeyError, TypeError, ValueError) as error:
            raise InvalidImage(f"it lacks {error} of {prefix}") from error
        types = [array.dtype for array in (keys, idf, axes, scales)] == list(_ARRAYS.values())
        shapes = axes.ndim == 2 and keys.shape == idf.shape == scales.shape == axes.shape[:1] and keys.ndim == 1
        if not types or not shapes or mean_length <= 0 or bool((keys[1:] <= keys[:-1]).any()):
            raise InvalidImage(f"its arrays of {prefix} do not fit together")
        return cls(keys, idf, axes, scales, mean_length, b)

    def arrays(self, prefix: str) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
        """What an image holds of it: a part of its header, and arrays."""
        header = {prefix: {"mean_length": self.mean_length, "b": self.b}}
        return header, {f"{prefix}/{name}": getattr(self, name) for name in _ARRAYS}

    def projected(self, texts: Iterable[TermCounts]) -> Bytes:
        """The directions of texts in the space, in one byte per axis; zeros for a text without a known term."""
        waiting, found = list(texts), [np.zeros((0, self.size), np.int8)]
        for start in range(0, len(waiting), _AT_ONCE):
            weighted = self._weighted(waiting[start : start + _AT_ONCE])
            used = np.unique(weighted.indices)
            axes = self.axes[used] * self.scales[used, None]
            found.append(_in_bytes(weighted[:, used] @ axes)[0])
        return np.concatenate(found)

    def question(self, keys: Iterable[int]) -> Floats | None:
        """The direction of a question's different terms, of length 1; None if none of them is known."""
        wanted = np.unique(np.fromiter(keys, np.uint64))
        places = np.searchsorted(self.keys, wanted)
        places = places[self.keys[np.minimum(places, len(self.keys) - 1)] == wanted] if len(self.keys) else places[:0]
        total: Floats = (self.idf[places] * self.scales[places]) @ self.axes[places].astype(np.float64)
        length = float(np.sqrt(total @ total))
        return total / length if length > 0 else None

    def _weighted(self, texts: Sequence[TermCounts]) -> "csr_matrix":
        """The BM25 weights of texts, one row of length 1 each."""
        from scipy.sparse import csr_matrix

        keys = np.concatenate([_NO_KEYS, *(keys for keys, _ in texts)])
        counts = np.concatenate([np.empty(0), *(counts for _, counts in texts)])
        owners = np.repeat(np.arange(len(texts)), [len(keys) for keys, _ in texts])
        places = np.searchsorted(self.keys, keys)
        known = np.zeros(len(keys), np.bool_)
        if len(self.keys):
            known = self.keys[np.minimum(places, len(self.keys) - 1)] == keys
        places, counts, owners, lengths = places[known], counts[known], owners[known], _lengths(texts)
        damping = K1 * (1 - self.b + self.b * lengths / self.mean_length)
        weights = self.idf[places] * counts / (counts + damping[owners])
        norms = np.sqrt(np.bincount(owners, np.square(weights), len(texts)))
        weights /= np.where(norms > 0, norms, 1)[owners]
        offsets = np.concatenate([[0], np.cumsum(np.bincount(owners, minlength=len(texts)))])
        return csr_matrix((weights, places, offsets), shape=(len(texts), len(self.keys)))


@dataclass(frozen=True, eq=False)
class LatentVectors:
    """Directions in a latent space. Cosines of some of them are read; how those of all lie follows from two moments.

    >>> vectors = LatentVectors(np.array([[127, 0], [0, 127], [127, 127]], np.int8))
    >>> vectors.cosines(np.array([1.0, 0.0]), np.array([0, 2])).round(3).tolist()
    [1.0, 0.707]
    >>> vectors.distribution(np.array([1.0, 0.0])) == ScoreDistribution.of(np.array([1, 0, 0.5**0.5]), 3)
    True
    """

    values: Bytes

    def cosines(self, direction: Floats, places: Numbers | None = None) -> Floats:
        """The cosines of a direction of length 1 with some of the vectors, or with all."""
        values = self.values if places is None else self.values[places]
        # row by row, so that the last digit of a cosine does not depend on which others are asked for
        products: Floats = np.einsum("ij,j->i", values, direction)
        lengths: Floats = np.sqrt(np.einsum("ij,ij->i", values, values, dtype=np.float64))
        return products / np.where(lengths > 0, lengths, 1)

    def distribution(self, direction: Floats) -> ScoreDistribution:
        """How the cosines of all vectors with a direction lie, without looking at any."""
        mean, moments = self._moments
        first, second = float(direction @ mean), float(direction @ moments @ direction)
        return ScoreDistribution(len(self.values), first, max(second - first**2, 0.0) ** 0.5)

    @once_property
    def _moments(self) -> tuple[Floats, Floats]:
        size = self.values.shape[1]
        mean, moments = np.zeros(size), np.zeros((size, size))
        for start in range(0, len(self.values), _AT_ONCE):
            part = self.values[start : start + _AT_ONCE].astype(np.float64)
            part /= np.maximum(np.sqrt(np.einsum("ij,ij->i", part, part)), 1)[:, None]
            mean += part.sum(axis=0)
            moments += part.T @ part
        count = max(len(self.values), 1)
        return mean / count, moments / count


def counts_by_key(counts: Mapping[int, int]) -> TermCounts:
    """Term counts from a mapping.

    >>> counts_by_key({7: 1, 3: 2})[0].tolist()
    [3, 7]
    """
    keys = sorted(counts)
    return np.array(keys, np.uint64), np.array([counts[key] for key in keys], np.int32)


def summed(texts: Sequence[TermCounts]) -> TermCounts:
    """The term counts of several texts as one.

    >>> keys, counts = summed([counts_by_key({3: 2, 7: 1}), counts_by_key({7: 4})])
    >>> keys.tolist(), counts.tolist()
    ([3, 7], [2, 5])
    """
    if len(texts) == 1:
        return texts[0]
    keys, places = np.unique(np.concatenate([_NO_KEYS, *(keys for keys, _ in texts)]), return_inverse=True)
    counts = np.concatenate([np.empty(0, np.int32), *(counts for _, counts in texts)])
    return keys, np.bincount(places, counts, len(keys)).astype(np.int32)


def _lengths(texts: Sequence[TermCounts]) -> Floats:
    return np.array([counts.sum() for _, counts in texts], np.float64)


def _in_bytes(matrix: Floats) -> tuple[Bytes, Floats]:
    """Rows in one byte per number, each with its largest number at 127, and what they have to be multiplied by."""
    largest = np.abs(matrix).max(axis=1, initial=0.0)
    scales = largest / 127
    return np.rint(matrix / np.where(scales > 0, scales, 1)[:, None]).astype(np.int8), scales


_NO_KEYS = np.empty(0, np.uint64)
_ARRAYS = {"keys": np.uint64, "idf": np.float64, "axes": np.int8, "scales": np.float64}
