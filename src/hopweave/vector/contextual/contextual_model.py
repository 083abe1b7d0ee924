"""A vocabulary and the parameters of an encoder: what turns texts into vectors, and can be stored."""

import io
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from hopweave.concurrency.once import once
from hopweave.errors import EmbeddingError
from hopweave.language.words import words
from hopweave.storage.strings import string_hash
from hopweave.vector.contextual.encoder import Floats, Parameters, Tokens, encode
from hopweave.vector.embedders import Matrix, StaticEmbedder

Start = Literal["random", "static"]
"""What token vectors are before training: random numbers that follow from the word, or those of WordLlama."""

DIMENSION = 256
_AT_ONCE = 256
_ARRAYS = ("tokens", "bias", "attention")


@dataclass(frozen=True, slots=True)
class ContextualModel:
    """Embeds texts by the words in them. A word that is not in the vocabulary has the vector it started from.

    >>> model = ContextualModel.untrained(["The Skua is a ferry."], start="random")
    >>> model.embed(["ferry", "Skua ferry", ""]).shape
    (3, 256)
    """

    vocabulary: dict[str, int]
    parameters: Parameters
    start: Start
    max_words: int = 64

    @classmethod
    def untrained(cls, texts: Iterable[str], *, start: Start, max_words: int = 64) -> "ContextualModel":
        """A model whose vocabulary are the words of these texts."""
        vocabulary: dict[str, int] = {}
        for text in texts:
            for word in _words(text, max_words):
                vocabulary.setdefault(word, len(vocabulary))
        tokens = _start_vectors(list(vocabulary), start)
        bias, attention = np.zeros(len(vocabulary), np.float32), np.zeros((DIMENSION, DIMENSION), np.float32)
        return cls(vocabulary, Parameters(tokens, bias, attention), start, max_words)

    def tokens(self, texts: Sequence[str]) -> Tokens:
        """One row of token numbers per text, filled up with -1; words that are not in the vocabulary are left out."""
        rows = [
            [self.vocabulary[word] for word in _words(text, self.max_words) if word in self.vocabulary]
            for text in texts
        ]
        filled = np.full((len(rows), max(map(len, rows), default=0) or 1), -1, np.int32)
        for place, row in zip(filled, rows, strict=True):
            place[: len(row)] = row
        return filled

    def embed(self, texts: Sequence[str]) -> Matrix:
        """One row per text, of length 1, or 0 for a text without words."""
        rows = np.zeros((len(texts), DIMENSION), np.float32)
        for first in range(0, len(texts), _AT_ONCE):
            some = texts[first : first + _AT_ONCE]
            rows[first : first + len(some)] = encode(*self._with_unknown_words(some)).vectors
        return rows

    def _with_unknown_words(self, texts: Sequence[str]) -> tuple[Parameters, Tokens]:
        """The parameters, with rows for words that are not in the vocabulary, and the tokens of the texts."""
        split = [_words(text, self.max_words) for text in texts]
        unknown = sorted({word for one in split for word in one if word not in self.vocabulary})
        if not unknown:
            return self.parameters, self.tokens(texts)
        known = self.parameters
        more = Parameters(
            np.concatenate([known.tokens, _start_vectors(unknown, self.start)]),
            np.concatenate([known.bias, np.zeros(len(unknown), np.float32)]),
            known.attention,
        )
        numbers = self.vocabulary | {word: len(self.vocabulary) + place for place, word in enumerate(unknown)}
        return more, ContextualModel(numbers, more, self.start, self.max_words).tokens(texts)

    def to_bytes(self) -> bytes:
        """The model as bytes for `from_bytes`, in half precision."""
        about = json.dumps({"vocabulary": list(self.vocabulary), "start": self.start, "max_words": self.max_words})
        arrays = {name: getattr(self.parameters, name).astype(np.float16) for name in _ARRAYS}
        with io.BytesIO() as file:
            np.savez_compressed(file, about=np.frombuffer(about.encode(), np.uint8), **arrays)
            return file.getvalue()

    @classmethod
    def from_bytes(cls, data: bytes) -> "ContextualModel":
        """The model that `to_bytes` wrote; bytes that are none raise an error. Nothing in them is executed.

        >>> model = ContextualModel.untrained(["A ferry."], start="random")
        >>> sorted(ContextualModel.from_bytes(model.to_bytes()).vocabulary)
        ['a', 'ferry']
        """
        try:
            with np.load(io.BytesIO(data), allow_pickle=False) as file:
                about = json.loads(file["about"].tobytes())
                arrays: list[Floats] = [file[name].astype(np.float32) for name in _ARRAYS]
            vocabulary = {str(word): number for number, word in enumerate(about["vocabulary"])}
            shapes = [(len(vocabulary), DIMENSION), (len(vocabulary),), (DIMENSION, DIMENSION)]
            if [array.shape for array in arrays] != shapes or not all(np.isfinite(array).all() for array in arrays):
                raise ValueError("its arrays do not belong together")
            return cls(vocabulary, Parameters(*arrays), about["start"], int(about["max_words"]))
        except Exception as error:
            raise EmbeddingError(f"the weights of the graph embedder cannot be read: {error}") from error


def _words(text: str, count: int) -> list[str]:
    return words(text.casefold())[:count]


def _start_vectors(unknown: Sequence[str], start: Start) -> Matrix:
    if start == "random":
        return np.stack([_random_vector(word) for word in unknown]) if unknown else np.empty((0, DIMENSION), np.float32)
    rows = StaticEmbedder().embed(unknown)
    lengths: Matrix = np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), np.float32(1e-9))
    return rows / lengths


@once(max_entries=50_000)
def _random_vector(word: str) -> Matrix:
    random = np.random.default_rng(string_hash(word))
    vector: Matrix = (random.standard_normal(DIMENSION) / DIMENSION**0.5).astype(np.float32)
    return vector
