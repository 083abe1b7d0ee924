"""Reranking with a cross-encoder: a model that scores question and passage together.

R. Nogueira, K. Cho (2019): Passage Re-ranking with BERT.
"""

import math
import threading
from collections.abc import Sequence
from typing import Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from hopweave.component import Stage
from hopweave.document import Document
from hopweave.errors import HopweaveError
from hopweave.extras import of_extra
from hopweave.hit import Hit, Scale
from hopweave.knowledge import Knowledge
from hopweave.query import Query
from hopweave.scores import checked, ranked, sigmoid
from hopweave.stages.adjust.adjusted import unit_scores

_loaded: dict[tuple[str, str | None], tuple[Any, threading.Lock]] = {}
_loading = threading.Lock()


class CrossEncoder(Stage):
    """Rescores the first hits with a sentence-transformers cross-encoder; the remaining hits follow.

    score = blend * sigmoid(logit) + (1 - blend) * original, or the logit itself with `output="logit"`. A hit without
    an original score gets the score of the model alone. The remaining hits keep their order and get at most the lowest
    score of those that were reranked. The model is loaded at the first use, once per process and for all threads.
    Needs the extra `hopweave[sentence-transformers]`.

    >>> CrossEncoder(candidates=20).apply([], Query("which ferries sail in winter?"))
    []
    """

    switch: ClassVar[str | None] = "rerank"

    kind: Literal["cross_encoder"] = "cross_encoder"
    model: str = Field(
        default="cross-encoder/ms-marco-MiniLM-L-6-v2", min_length=1, description="Model name or folder."
    )
    device: str | None = Field(default=None, description="cpu, cuda, mps ...; chosen automatically if not given.")
    candidates: int = Field(default=50, ge=1, description="Number of hits, from the top, that the model scores.")
    batch_size: int = Field(default=32, ge=1, description="Pairs per forward pass.")
    output: Literal["unit", "logit"] = Field(
        default="unit", description="unit: a probability; logit: the model's raw score."
    )
    blend: float = Field(
        default=1.0, ge=0, le=1, description="Share of the model's score; the rest is the original score."
    )
    include_title: bool = Field(default=True, description="Whether the model reads the title in the metadata, too.")

    @model_validator(mode="after")
    def _raw_scores_cannot_be_blended(self) -> Self:
        if self.output == "logit" and self.blend != 1:
            raise ValueError(f"blend is {self.blend}, but with output 'logit' only 1 is allowed: logits do not blend")
        return self

    def apply(self, hits: Sequence[Hit], query: Query, knowledge: Knowledge | None = None) -> list[Hit]:  # noqa: ARG002 - the texts are in the hits
        """Rerank the first hits by the score of the model."""
        hits = checked(hits)
        if not hits:
            return []
        pairs = list(zip(hits, unit_scores(hits), strict=True))
        head, rest = pairs[: self.candidates], pairs[self.candidates :]
        logits = self._read(query.text, [_readable(hit, self.include_title) for hit, _ in head])
        reranked = ranked(
            checked(self._rescored(hit, original, logit) for (hit, original), logit in zip(head, logits, strict=True))
        )
        lowest = reranked[-1].score or 0.0
        return reranked + [self._kept_behind(hit, original, lowest) for hit, original in rest]

    def _rescored(self, hit: Hit, original: float | None, logit: float) -> Hit:
        details = {"model": self.model, "logit": logit, "original": original, "blend": self.blend}
        if self.output == "logit":
            return hit.rescored(logit, self.kind, scale="logit", **details)
        probability = sigmoid(logit)
        score = probability if original is None else self.blend * probability + (1 - self.blend) * original
        return hit.rescored(score, self.kind, scale="unit", **details)

    def _kept_behind(self, hit: Hit, original: float | None, lowest: float) -> Hit:
        scale: Scale = self.output
        score = _log_odds(original) if original is not None and scale == "logit" else original
        return hit.rescored(
            None if score is None else min(score, lowest),
            self.kind,
            scale=scale,
            model=self.model,
            logit=None,
            original=original,
            reason=f"not among the first {self.candidates}",
        )

    def _read(self, question: str, texts: Sequence[str]) -> list[float]:
        model, lock = _load(self.model, self.device)
        from torch.nn import Identity

        with lock:  # a fast tokenizer fails when two threads use it at once
            logits = model.predict(
                [(question, text) for text in texts],
                batch_size=self.batch_size,
                show_progress_bar=False,
                activation_fn=Identity(),
            )
        return [float(logit) for logit in logits]


def _readable(hit: Hit, include_title: bool) -> str:
    return Document(hit.id, hit.text, hit.metadata).searchable if include_title else hit.text


def _log_odds(probability: float) -> float:
    bounded = min(max(probability, 1e-9), 1 - 1e-9)
    return math.log(bounded / (1 - bounded))


def _load(name: str, device: str | None) -> tuple[Any, threading.Lock]:
    with _loading:
        if (name, device) not in _loaded:
            model = of_extra("sentence-transformers", "sentence_transformers").CrossEncoder(name, device=device)
            labels = model.config.num_labels
            if labels != 1:
                raise HopweaveError(f"model {name!r} has {labels} labels; a cross-encoder that ranks has 1")
            _loaded[name, device] = model, threading.Lock()
        return _loaded[name, device]
