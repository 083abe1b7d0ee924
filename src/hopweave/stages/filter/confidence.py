"""Confidence: a calibrated probability that the passages which answer a question are among its hits.

A logistic regression (D. R. Cox, 1958: The regression analysis of binary sequences) on four values that are at hand
for any question, without judgements. `benchmarks/confidence.py` fits the constants, and measures them on sets that they
were not fitted on.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from hopweave.document import indexed_heading
from hopweave.hit import Hit
from hopweave.language.terms import content_terms
from hopweave.scores import sigmoid

WORD_SOURCES = ("bm25", "full_text", "keyword")
VECTOR_SOURCES = ("vector",)

READ = 10
"""How many hits have their text read."""

_COVERING = 3  # of these, the first so many have to cover the question
_DEPTH = 5  # the rank whose score is compared with the first, and how many first hits should agree


class Features(NamedTuple):
    """What speaks for an answer among the hits of a question, each in [0, 1]; None where it is not known.

    `coverage`: how much of the question's words the first three hits contain; words that few hits contain count more.
    `margin`: how far the first hit by words stands out, (first score - fifth score) / first score. `agreement`: the
    share of the first five hits by words that are among the first five by vectors. `linking`: how well the names in
    the question were linked to the graph.
    """

    coverage: float | None
    margin: float | None
    agreement: float | None
    linking: float | None


class Formula(NamedTuple):
    """Confidence = 1 / (1 + e^-(intercept + sum of weight · value)); what is not known counts as its mean."""

    intercept: float
    weights: tuple[float, float, float, float]
    means: tuple[float, float, float, float]


FORMULA = Formula(intercept=-3.73, weights=(2.43, 3.18, 1.33, 1.78), means=(0.40, 0.31, 0.24, 0.30))
"""Fitted by `benchmarks/confidence.py`; weights and means in the order of `Features`."""


class Confidence:
    """A probability, and the features that it follows from.

    Both are worked out when first asked for: reading the texts of the hits takes longer than fusing rankings.
    """

    def __init__(self, hits: Sequence[Hit], question: str, formula: Formula, ranked: Iterable[Hit]) -> None:
        self._found = _Found(*_rankings(ranked), tuple(hits[:READ]), len(hits))
        self._question, self._formula = question, formula

    @cached_property
    def features(self) -> Features:
        """The values that the probability follows from."""
        words, vectors, linking, first, size = self._found
        coverage, any_word = _coverage(first, self._question)
        # a question without any word in common with the hits has none in common with the corpus: words found nothing
        return Features(
            coverage,
            _margin(words.values()) if words and size > 1 else (None if any_word else 0.0),
            _agreement(words, vectors) if words and vectors else (None if any_word else 0.0),
            linking,
        )

    @cached_property
    def probability(self) -> float:
        """How likely it is that the passages which answer the question are among the hits; 0 without hits."""
        if not self._found.size:
            return 0.0
        intercept, weights, means = self._formula
        known = [mean if value is None else value for value, mean in zip(self.features, means, strict=True)]
        return sigmoid(intercept + sum(weight * value for weight, value in zip(weights, known, strict=True)))

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON types, rounded for receipts."""
        values = {name: None if one is None else round(one, 3) for name, one in self.features._asdict().items()}
        return {"confidence": round(self.probability, 3), **values}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Confidence):
            return NotImplemented
        return (self.probability, self.features) == (other.probability, other.features)

    def __hash__(self) -> int:
        return hash((self.probability, self.features))

    def __repr__(self) -> str:
        return f"Confidence(probability={self.probability}, features={self.features})"


def confidence(
    hits: Sequence[Hit], question: str, formula: Formula = FORMULA, *, ranked: Iterable[Hit] | None = None
) -> Confidence:
    """The probability that the answer's passages are among the hits; 0 without hits.

    `ranked` are the hits whose receipts say how the sources ranked them, if there are more than those given.

    >>> hits = [Hit("gate", 2.0, "The tide gate opens at six."), Hit("skua", 0.1, "The Skua is a ferry.")]
    >>> confidence(hits, "When does the tide gate open?").probability > 0.5
    True
    >>> confidence(hits, "What is the capital of Mongolia?").probability < 0.1
    True
    """
    return Confidence(hits, question, formula, hits if ranked is None else ranked)


class _Found(NamedTuple):
    """What is kept of hits: scores by words and by vectors, how well names were linked, and the hits to be read."""

    words: Mapping[str, float]
    vectors: Mapping[str, float]
    linking: float | None
    first: tuple[Hit, ...]
    size: int


def _rankings(hits: Iterable[Hit]) -> tuple[dict[str, float], dict[str, float], float | None]:
    """Scores by words and by vectors, and how well names were linked, as receipts have them."""
    words: dict[str, float] = {}
    vectors: dict[str, float] = {}
    ranked = {**dict.fromkeys(WORD_SOURCES, words), **dict.fromkeys(VECTOR_SOURCES, vectors)}
    linking = None
    for key, receipt in ((hit.id, receipt) for hit in hits for receipt in hit.receipts):
        scores = ranked.get(receipt.stage)
        if scores is not None and receipt.after is not None:
            scores.setdefault(key, receipt.after)
        elif linking is None and isinstance(stated := receipt.details.get("linking"), int | float):
            linking = float(stated)
    return words, vectors, linking


def _margin(scores: Iterable[float]) -> float:
    first = sorted(scores, reverse=True)[:_DEPTH]
    return (first[0] - max(first[-1], 0.0)) / first[0] if first[0] > 0 else 0.0


def _agreement(words: Mapping[str, float], vectors: Mapping[str, float]) -> float:
    first, second = (set(sorted(one, key=lambda key: (-one[key], key))[:_DEPTH]) for one in (words, vectors))
    return len(first & second) / max(len(first), len(second))


def _coverage(hits: Sequence[Hit], question: str) -> tuple[float | None, bool]:
    """The weighted share of the question's terms in the first of the hits to read, and whether any of them has one."""
    asked = content_terms(question)
    texts = [content_terms(f"{indexed_heading('', hit.metadata)}\n{hit.text}") for hit in hits if hit.text]
    if not asked or not texts:
        return None, True
    weights = {term: math.log((len(texts) + 1) / (sum(term in text for text in texts) + 0.5)) for term in sorted(asked)}
    covered = [term for term in weights if any(term in text for text in texts[:_COVERING])]
    return sum(weights[term] for term in covered) / sum(weights.values()), any(asked & text for text in texts)
