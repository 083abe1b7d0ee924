"""Keyword search: the maximum of BM25 and full-text search."""

from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, Field

from hopweave.component import Rankings, Source, fetched
from hopweave.hit import Hit
from hopweave.knowledge import Capability, Knowledge
from hopweave.query import Query
from hopweave.scores import normalised, top_ids
from hopweave.sources.bm25 import BM25
from hopweave.sources.full_text import match_expression
from hopweave.text.analyzers import check_analyzer


class Keyword(Source):
    """Score = max(BM25, FTS5), each scaled to [0, 1] over its own hits.

    >>> Keyword().kind
    'keyword'
    """

    requires: ClassVar[frozenset[Capability]] = frozenset({Capability.WORDS, Capability.FULL_TEXT})
    in_memory: ClassVar[bool] = True
    reads_documents: ClassVar[bool] = False

    kind: Literal["keyword"] = "keyword"
    analyzer: Annotated[str, AfterValidator(check_analyzer)] = Field(default="nlp", description="Analyzer of BM25.")
    keyword_weight: float = Field(default=5.0, ge=0, description="Weight of a keyword of the intent in BM25.")

    def search(self, query: Query, knowledge: Knowledge, upstream: Rankings | None = None) -> list[Hit]:  # noqa: ARG002
        """Find hits for a question, best first."""
        self.check_capabilities(knowledge)
        terms = BM25(analyzer=self.analyzer, keyword_weight=self.keyword_weight).terms(query)
        expression = match_expression(query.text)
        sides = {
            "bm25": knowledge.rank_text(terms, analyzer=self.analyzer, top_k=self.top_k, tenant=query.tenant),
            "full_text": knowledge.rank_full_text(expression, top_k=self.top_k, tenant=query.tenant)
            if expression
            else [],
        }
        parts: dict[str, dict[str, float]] = {}
        best_rank: dict[str, int] = {}
        for side, ranking in sides.items():
            strengths = normalised([score for _, score in ranking])
            for rank, ((key, _), strength) in enumerate(zip(ranking, strengths, strict=True), start=1):
                parts.setdefault(key, {})[side] = strength
                best_rank[key] = min(best_rank.get(key, rank), rank)
        order = top_ids({key: max(sides.values()) for key, sides in parts.items()}, best_rank, self.top_k)
        return fetched(order, knowledge, query, "keyword", "unit", parts)
