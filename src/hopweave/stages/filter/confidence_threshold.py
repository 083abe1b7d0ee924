"""Confidence threshold: no hits at all if the answer is probably not among them."""

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from hopweave.component import Stage
from hopweave.hit import Hit, Receipt
from hopweave.knowledge import Knowledge
from hopweave.query import Query
from hopweave.scores import checked
from hopweave.stages.filter.confidence import VECTOR_SOURCES, confidence


class ConfidenceThreshold(Stage):
    """Kept if the probability that the answer's passages are among the hits is at least the minimum: all hits or none.

    confidence = 1 / (1 + e^-(-3.73 + 2.43 coverage + 3.18 margin + 1.33 agreement + 1.78 linking)). Coverage is how
    much of the question's words the first three hits contain, where words of few hits count more; margin is how far
    the first hit by words stands out from the fifth; agreement is the share of the first five hits by words that are
    among the first five by vectors; linking is how well names in the question were linked to the graph. They are read
    from texts and receipts; what cannot be told (there is no graph, say) counts as its mean. Receipts have the
    probability and the four values. As the first stage, it sees the hits as the fuser ranked them. Scores stay.
    With `min_cosine`, hits are kept as well if the best of them by vectors is that near to the question, though they
    have no word in common; which cosines unrelated texts have depends on the embedder.

    >>> hits = [Hit("gate", 2.0, "The tide gate opens at six.")]
    >>> [hit.id for hit in ConfidenceThreshold().apply(hits, Query("When does the tide gate open?"))]
    ['gate']
    >>> ConfidenceThreshold().apply(hits, Query("What is the capital of Mongolia?"))
    []
    """

    kind: Literal["confidence_threshold"] = "confidence_threshold"
    min_confidence: float = Field(
        default=0.15, ge=0, le=1, description="The lowest probability with which hits are returned."
    )

    min_cosine: float | None = Field(
        default=None,
        ge=-1,
        le=1,
        description="A cosine of the best hit by vectors that is enough by itself; None for none.",
    )

    def apply(self, hits: Sequence[Hit], query: Query, knowledge: Knowledge | None = None) -> list[Hit]:  # noqa: ARG002
        """Keep all hits or none."""
        hits = checked(hits)
        found = confidence(hits, query.text)
        nearest = max((one for hit in hits if (one := _cosine(hit)) is not None), default=None)
        near = self.min_cosine is not None and nearest is not None and nearest >= self.min_cosine
        if found.probability < self.min_confidence and not near:
            return []
        details = found.as_dict() | ({} if self.min_cosine is None else {"best_cosine": nearest})
        return [hit.with_receipt(Receipt(self.kind, hit.score, hit.score, details)) for hit in hits]


def _cosine(hit: Hit) -> float | None:
    """The cosine by which a source of vectors found a hit."""
    return next((one.after for one in hit.receipts if one.stage in VECTOR_SOURCES), None)
