"""Corpus boost: phrases in the question raise the scores of corpus types that cover the subject."""

import math
from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from hopweave.component import Stage
from hopweave.hit import Hit
from hopweave.knowledge import Knowledge
from hopweave.language.phrases import Phrase, PhraseMatcher
from hopweave.query import Query
from hopweave.stages.adjust.adjusted import Change, adjusted


class CorpusRule(BaseModel):
    """If the question contains one of `phrases` (see `hopweave.language.phrases`), hits of `corpus_types` are boosted.

    >>> CorpusRule(phrases=("ferry", "time table"), corpus_types=("NOTICE",), multiplier=1.2).multiplier
    1.2
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    phrases: tuple[Phrase, ...] = Field(min_length=1, description="Whole words or phrases; one of them is enough.")
    corpus_types: tuple[str, ...] = Field(min_length=1, description="Corpus types of the hits to boost.")
    multiplier: float = Field(gt=0, allow_inf_nan=False, description="Factor for their scores.")


CORPUS_RULES: tuple[CorpusRule, ...] = (
    CorpusRule(
        phrases=("deploy*", "redeploy*", "k8s", "pod", "pods", "container", "containers", "helm"),
        corpus_types=("CODE_DEPLOY", "DOC_RUNBOOK"),
        multiplier=1.3,
    ),
    CorpusRule(
        phrases=(
            "incident",
            "incidents",
            "broke",
            "broken",
            "down",
            "outage",
            "outages",
            "alert",
            "alerts",
        ),
        corpus_types=("CONVO_SLACK", "DOC_RUNBOOK"),
        multiplier=1.3,
    ),
    CorpusRule(
        phrases=("how to", "step", "steps", "procedure", "procedures", "guide", "guides"),
        corpus_types=("DOC_RUNBOOK", "DOC_README"),
        multiplier=1.2,
    ),
)
"""Rules for a corpus about software operations."""


class CorpusBoost(Stage):
    """Score = score · multiplier, for each rule that the question matches and that lists the hit's corpus type.

    Only whole words match: "download" does not contain "down". The built-in rules list the usual inflections. Logits
    are converted to probabilities first, so that a boost always raises a score.

    >>> hits = [Hit("log", 0.5, metadata={"corpus_type": "CONVO_SLACK"}), Hit("code", 0.55)]
    >>> [(hit.id, hit.score) for hit in CorpusBoost().apply(hits, Query("why is the site down?"))]
    [('log', 0.65), ('code', 0.55)]
    """

    kind: Literal["corpus_boost"] = "corpus_boost"
    rules: tuple[CorpusRule, ...] = Field(
        default=CORPUS_RULES, description="Which phrases boost which corpus types, and by how much."
    )
    corpus_type_field: str = Field(default="corpus_type", description="Metadata field with the corpus type.")
    clamp: bool = Field(default=False, description="Whether to keep scores within [0, 1].")

    def apply(self, hits: Sequence[Hit], query: Query, knowledge: Knowledge | None = None) -> list[Hit]:  # noqa: ARG002
        """Multiply the scores of the favoured corpus types, best first."""
        matcher = PhraseMatcher(query.text)
        matching = [(rule, found) for rule in self.rules if (found := matcher.first_match(rule.phrases)) is not None]

        def change(hit: Hit, score: float) -> Change | None:
            corpus_type = hit.metadata.get(self.corpus_type_field)
            favouring = [(rule, found) for rule, found in matching if corpus_type in rule.corpus_types]
            if not favouring:
                return None
            multiplier = math.prod(rule.multiplier for rule, _ in favouring)
            return score * multiplier, {"multiplier": multiplier, "phrases": [found for _, found in favouring]}

        return adjusted(hits, self.kind, change, clamp=self.clamp)
