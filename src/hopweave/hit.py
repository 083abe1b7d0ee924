"""A hit: a retrieved passage, its score and its receipts."""

from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float32]

Scale = Literal["unit", "positive", "cosine", "logit"]
"""What a score means: a probability in [0, 1], anything from 0 up, a cosine in [-1, 1], or a log-odds."""


def same_vector(one: Vector | None, other: Vector | None) -> bool:
    """Return whether two vectors hold the same numbers, or both are None.

    >>> same_vector(np.ones(2, np.float32), np.ones(2, np.float32)), same_vector(None, np.ones(2, np.float32))
    (True, False)
    """
    return one is other or (one is not None and other is not None and np.array_equal(one, other))


_NOTHING: Mapping[str, Any] = {}


class Receipt(NamedTuple):
    """Why a hit has the score it has: one receipt for each source, fuser and stage that scored it.

    `details` holds the numbers that explain the change and is made of JSON types only.

    >>> Receipt("freshness", before=0.8, after=0.77, details={"age_days": 90.0, "decay": 0.5}).as_dict()
    {'stage': 'freshness', 'before': 0.8, 'after': 0.77, 'details': {'age_days': 90.0, 'decay': 0.5}}
    """

    stage: str
    before: float | None
    after: float | None
    details: Mapping[str, Any] = _NOTHING

    def as_dict(self) -> dict[str, Any]:
        """The receipt as plain JSON types."""
        return {"stage": self.stage, "before": self.before, "after": self.after, "details": dict(self.details)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Receipt":
        """Read back what `as_dict` wrote.

        >>> Receipt.from_dict({"stage": "bm25", "before": None, "after": 2.5, "details": {"rank": 1}}).after
        2.5
        """
        return cls(data["stage"], data["before"], data["after"], data.get("details", {}))


_SCORE_NAMES = {
    "vector": "dense_score",
    "reciprocal_rank": "rrf_score",
    "cross_encoder": "rerank_score",
    "remote_rerank": "rerank_score",
    "cosine_rerank": "rerank_score",
}
_OWN_SCORES = ("logit", "reranked", "cosine")  # of a reranker, before it is blended with the score there was


class Hit(NamedTuple):
    """One retrieved thing, identified by its `id` and never changed: every stage returns new hits.

    A named tuple, because hits are made by the thousand and it is made three times as fast as a frozen dataclass.

    `score` may be None (unknown, which is not 0). `scale` says what the score means, if known. `origin` is the
    framework's own object, carried through untouched.

    >>> hit = Hit("doc-1", score=0.5, text="Ferries run hourly.")
    >>> boosted = hit.rescored(0.65, "corpus_boost", multiplier=1.3)
    >>> boosted.score, hit.score
    (0.65, 0.5)
    >>> boosted.receipts[-1].details
    {'multiplier': 1.3}
    """

    id: str
    score: float | None = None
    text: str = ""
    metadata: Mapping[str, Any] = _NOTHING
    vector: Vector | None = None
    scale: Scale | None = None
    origin: Any = None
    receipts: tuple[Receipt, ...] = ()

    @property
    def path(self) -> str | None:
        """The path through the graph that led to this hit, from the graph source that scored it highest, or None.

        >>> Hit("oram").rescored(0.9, "pagerank", path="Tide gate —mentions→ Oram").path
        'Tide gate —mentions→ Oram'
        >>> Hit("oram").path is None
        True
        """
        with_path = [one for one in self.receipts if isinstance(one.details.get("path"), str)]
        return max(with_path, key=lambda one: one.after or 0.0).details["path"] if with_path else None

    @property
    def scores(self) -> dict[str, float | None]:
        """The score of every step as flat fields, read from the receipts, and the last one as `final_score`.

        A source, fuser or stage gives `<kind>_score`, but `vector` gives `dense_score`, `bm25` with an analyzer other
        than nlp `bm25_<analyzer>_score`, `reciprocal_rank` gives `rrf_score`, and a reranker `rerank_score`, its own
        score. A stage that goes by age also gives the decay under its kind, as in `freshness`.

        >>> Hit("a").rescored(0.3, "vector").rescored(0.02, "reciprocal_rank").scores
        {'dense_score': 0.3, 'rrf_score': 0.02, 'final_score': 0.02}
        """
        flat: dict[str, float | None] = {}
        for receipt in self.receipts:
            if receipt.stage == "scale" or receipt.details.get("outcome") == "original_order":
                continue
            name = _score_name(receipt)
            own = [receipt.details[key] for key in _OWN_SCORES if receipt.details.get(key) is not None]
            flat[name] = own[0] if own and name == "rerank_score" else receipt.after
            if "decay" in receipt.details:
                flat[receipt.stage] = receipt.details["decay"]
        return {**flat, "final_score": self.score}

    def rescored(self, score: float | None, stage: str, /, *, scale: Scale | None = None, **details: Any) -> "Hit":
        """This hit with a new score and a receipt for the change. `scale` stays as it was unless given.

        >>> Hit("a", score=2.0).rescored(1.0, "halve", factor=0.5).receipts[0].before
        2.0
        """
        return self.with_receipt(Receipt(stage, self.score, score, details), scale=scale)

    def with_receipt(self, receipt: Receipt, *, scale: Scale | None = None) -> "Hit":
        """This hit with the score the receipt arrives at, and the receipt appended.

        >>> Hit("a").with_receipt(Receipt("bm25", None, 2.5)).score
        2.5
        """
        return Hit(
            self.id,
            receipt.after,
            self.text,
            self.metadata,
            self.vector,
            scale or self.scale,
            self.origin,
            (*self.receipts, receipt),
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Hit):
            return NotImplemented
        return same_vector(self.vector, other.vector) and (
            (self.id, self.score, self.text, self.metadata, self.scale, self.receipts)
            == (other.id, other.score, other.text, other.metadata, other.scale, other.receipts)
            and (self.origin is other.origin or bool(self.origin == other.origin))
        )

    def __ne__(self, other: object) -> bool:
        return not self == other  # a tuple's own would stumble over vectors

    def __hash__(self) -> int:
        return hash(self.id)

    def as_dict(self) -> dict[str, Any]:
        """The hit as plain JSON types, without vector and origin.

        >>> Hit("a", score=1.0, text="x").as_dict()
        {'id': 'a', 'score': 1.0, 'text': 'x', 'metadata': {}, 'receipts': []}
        """
        return {
            "id": self.id,
            "score": self.score,
            "text": self.text,
            "metadata": dict(self.metadata),
            "receipts": [receipt.as_dict() for receipt in self.receipts],
        }

    def _repr_html_(self) -> str | None:
        """The hit as a picture, for notebooks; None, so that they show its text, until `hopweave.report` is loaded."""
        return None if _picture is None else _picture(self)


_picture: Callable[[Hit], str] | None = None


def show_hits_as(picture: Callable[[Hit], str]) -> None:
    """Let notebooks show hits as this HTML; `hopweave.report`, which searching loads, does so."""
    global _picture  # noqa: PLW0603 - a hit knows nothing of reports
    _picture = picture


def _score_name(receipt: Receipt) -> str:
    analyzer = str(receipt.details.get("analyzer", "nlp"))
    if receipt.stage == "bm25" and not analyzer.startswith("nlp"):
        return f"bm25_{analyzer}_score"
    return _SCORE_NAMES.get(receipt.stage, f"{receipt.stage}_score")
