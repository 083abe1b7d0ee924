"""Questions that name a subject favour the corpus that covers it."""

import math
from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from hopweave.component import Knowledge, Stage
from hopweave.hit import Hit
from hopweave.phrases import Phrase, Words
from hopweave.query import Query
from hopweave.stages.adjust import Change, adjusted


class CorpusRule(BaseModel):
    """When the question says one of `phrases` (see `hopweave.phrases`), hits of `corpus_types` count more.

    >>> CorpusRule(phrases=("ferry", "time table"), corpus_types=("NOTICE",), multiplier=1.2).multiplier
    1.2
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    phrases: tuple[Phrase, ...] = Field(min_length=1, description="Whole words or phrases, any of which is enough.")
    corpus_types: tuple[str, ...] = Field(min_length=1, description="Corpus types of the hits that count more.")
    multiplier: float = Field(gt=0, allow_inf_nan=False, description="What their scores are multiplied by.")


CORPUS_RULES: tuple[CorpusRule, ...] = (
    CorpusRule(
        phrases=("deploy", "k8s", "pod", "container", "helm"),
        corpus_types=("CODE_DEPLOY", "DOC_RUNBOOK"),
        multiplier=1.3,
    ),
    CorpusRule(
        phrases=("incident", "broke", "down", "outage", "alert"),
        corpus_types=("CONVO_SLACK", "DOC_RUNBOOK"),
        multiplier=1.3,
    ),
    CorpusRule(
        phrases=("how to", "steps", "procedure", "guide"),
        corpus_types=("DOC_RUNBOOK", "DOC_README"),
        multiplier=1.2,
    ),
)
"""The rules of an operations corpus."""


class CorpusBoost(Stage):
    """Score = score · multiplier, for each rule that the question fires and that lists the hit's corpus type.

    Words are whole words: "download" does not say "down". Logits become probabilities first, so that a boost always
    raises a score.

    >>> hits = [Hit("log", 0.5, metadata={"corpus_type": "CONVO_SLACK"}), Hit("code", 0.55)]
    >>> [(hit.id, hit.score) for hit in CorpusBoost().apply(hits, Query("why is the site down?"))]
    [('log', 0.65), ('code', 0.55)]
    """

    kind: Literal["corpus_boost"] = "corpus_boost"
    rules: tuple[CorpusRule, ...] = Field(
        CORPUS_RULES, description="Which words favour which corpus types, and how much."
    )
    corpus_type_field: str = Field("corpus_type", description="Metadata field with the corpus type.")
    clamp: bool = Field(False, description="Whether to keep scores within [0, 1].")

    def apply(self, hits: Sequence[Hit], query: Query, knowledge: Knowledge | None = None) -> list[Hit]:  # noqa: ARG002
        """Multiply the scores of the favoured corpus types, best first."""
        words = Words(query.text)
        fired = [(rule, said) for rule in self.rules if (said := words.first_said(rule.phrases)) is not None]

        def change(hit: Hit, score: float) -> Change | None:
            corpus_type = hit.metadata.get(self.corpus_type_field)
            favouring = [(rule, said) for rule, said in fired if corpus_type in rule.corpus_types]
            if not favouring:
                return None
            multiplier = math.prod(rule.multiplier for rule, _ in favouring)
            return score * multiplier, {"multiplier": multiplier, "said": [said for _, said in favouring]}

        return adjusted(hits, self.kind, change, clamp=self.clamp)
