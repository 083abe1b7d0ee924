"""The candidates of other sources, each scored by all that is known of it, and the sum of it."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

from pydantic import Field

from hopweave.component import Rankings, Source, fetched
from hopweave.fusion.trust_weighted import TrustWeighted
from hopweave.hit import Hit
from hopweave.knowledge import Capability, Evidence, Knowledge, require
from hopweave.query import Query
from hopweave.scores import ScoreDistribution
from hopweave.sources.bm25 import BM25
from hopweave.sources.vector_search import VectorSearch

_SAYS_ENOUGH = 0.8  # above_chance at which vectors have their whole say


class EvidenceSum(Source):
    """Passages that other sources have found, by the sum of the evidence for each: score = sum of weight · z.

    z = (score - mean) / deviation over all passages that the asker may see, so that evidence of different kinds adds
    up on one scale, and what is not among the first hits of a source is scored all the same. The kinds are:

    - those of `candidates_from` that rank by words or vectors. Vectors weigh min(above_chance / 0.8, 1)²: nothing where
      they cannot tell passages apart, as an English embedder on Chinese text;
    - `document`, BM25 of the whole document that a passage is a part of, whose length is paid in full (b = 1);
    - `latent` and `latent_document`, the cosines of passage and document with the question in a latent space that is
      learned from the corpus (`hopweave.vector.latent_space`). Like `document`, they weigh the share of passages
      that are parts of larger documents, so they are silent where every passage is a document of its own.

    A source that states its own trust, as `pagerank`, names candidates only; its share is up to the fuser. Receipts
    list the addends, which sum to the score. Where a source says nothing of the scores of all passages, as one in a
    store of yours, the candidates are fused as `trust_weighted` does, and receipts say so.

    >>> EvidenceSum().needs
    ('text', 'vector')
    """

    in_memory: ClassVar[bool] = True
    reads_documents: ClassVar[bool] = False
    pointwise: ClassVar[bool] = True

    kind: Literal["evidence_sum"] = "evidence_sum"
    candidates_from: tuple[str, ...] = Field(
        default=("text", "vector"), min_length=1, description="Sources whose hits are candidates."
    )
    without: tuple[str, ...] = Field(
        default=(), description="Evidence that is left out: document, latent, latent_document, or the name of a source."
    )
    by_words: int = Field(default=200, ge=0, description="How many of the best passages by words are candidates too.")

    @property
    def needs(self) -> tuple[str, ...]:
        """The sources whose hits are candidates."""
        return self.candidates_from

    def search(self, query: Query, knowledge: Knowledge, upstream: Rankings | None = None) -> list[Hit]:
        """Find hits for a question, best first."""
        lists = self._visible(upstream or {}, query, knowledge)
        ranked = {name: hits for name, hits in lists.items() if "trust" not in _said(hits)}
        known = all("mean" in _said(hits) for hits in ranked.values())
        if not known or Capability.SCORES not in knowledge.capabilities:
            return self._as_given(ranked, query, knowledge, lists)
        found, as_given = self._evidence(query, knowledge, ranked, {hit.id for hits in lists.values() for hit in hits})
        counted = {
            name: one
            for name, one in sorted(found.items())
            if name not in self.without and one.share > 0 and one.distribution.deviation > 0
        }
        best = _best(counted, [name for name, hits in ranked.items() if _stage(hits) == "bm25"], found, self.top_k)
        said: dict[str, Any] = {"weights": {name: round(one.share, 3) for name, one in counted.items()}}
        said |= {"as_given": as_given} if as_given else {}
        ranking = sorted(((key, math.fsum(parts.values())) for key, parts in best.items()), key=_best_first)
        by_id = {key: {"addends": parts} for key, parts in best.items()}
        return fetched(ranking, knowledge, query, self.kind, "logit", by_id, upstream, **said)

    def _visible(self, upstream: Rankings, query: Query, knowledge: Knowledge) -> dict[str, list[Hit]]:
        """The lists of candidates that are not empty, without hits that the tenant of the question may not see."""
        lists = {name: list(upstream.get(name, ())) for name in sorted(self.candidates_from)}
        if query.tenant is not None:
            require(knowledge, Capability.TENANTS, "a query with a tenant")
            seen = knowledge.visible(query.tenant, [hit.id for hits in lists.values() for hit in hits])
            lists = {name: [hit for hit in hits if hit.id in seen] for name, hits in lists.items()}
        return {name: hits for name, hits in lists.items() if hits}

    def _as_given(self, ranked: Rankings, query: Query, knowledge: Knowledge, upstream: Rankings) -> list[Hit]:
        """The candidates as `trust_weighted` fuses them, where nothing is known of the scores of all passages."""
        fused = TrustWeighted().best(ranked, query, self.top_k)
        ranking = [(hit.id, hit.score) for hit in fused if hit.score is not None]
        reason = "the scores of all passages are not known: fused as trust_weighted does"
        return fetched(ranking, knowledge, query, self.kind, "unit", None, upstream, as_given=[*ranked], reason=reason)

    def _evidence(
        self, query: Query, knowledge: Knowledge, ranked: Rankings, candidates: set[str]
    ) -> tuple[dict[str, Evidence], list[str]]:
        """What is known of the candidates, by kind of evidence; and which lists could only be taken as they are."""
        found: dict[str, Evidence] = {}
        as_given: list[str] = []
        for name in sorted(ranked, key=lambda name: _stage(ranked[name]) != "bm25"):  # which adds candidates
            hits, said = ranked[name], _said(ranked[name])
            lies = ScoreDistribution(0, said["mean"], said["deviation"])
            share, scores = 1.0, {hit.id: hit.score for hit in hits if hit.score is not None}
            if _stage(hits) == "bm25":
                terms, options = BM25(analyzer=said["analyzer"]).terms(query), {"analyzer": said["analyzer"]}
                options |= {"tenant": query.tenant}
                scores = dict(knowledge.score_text(terms, candidates, best=self.by_words, **options))
                candidates = candidates | scores.keys()
                found |= knowledge.score_documents(terms, candidates, **options)
            elif _stage(hits) == "vector" and "own_share" not in said:
                model, vector = VectorSearch().of_question(query, knowledge)
                others = candidates - scores.keys()
                scores |= knowledge.score_vectors(vector, others, model=model, tenant=query.tenant)
                share = min(said.get("above_chance", 1.0) / _SAYS_ENOUGH, 1.0) ** 2
            else:
                scores |= dict.fromkeys(candidates - scores.keys(), min(scores.values(), default=lies.mean))
                as_given.append(name)
            found[name] = Evidence(scores, lies, share)
        return found, as_given


def _best(
    counted: Mapping[str, Evidence], by_words: Sequence[str], found: Mapping[str, Evidence], top_k: int
) -> dict[str, dict[str, float]]:
    """The addends weight · z of the best candidates; what a search by words does not see is none."""
    totals: dict[str, float] = {}
    for scores, lies, share in counted.values():
        factor, shift = share / lies.deviation, share * lies.mean / lies.deviation
        for key, score in scores.items():
            totals[key] = totals.get(key, 0.0) + factor * score - shift
    for name in by_words:
        totals = {key: total for key, total in totals.items() if key in found[name].scores}
    best = sorted(totals.items(), key=_best_first)[:top_k]
    return {
        key: {name: round(share * (scores[key] - lies.mean) / lies.deviation, 6)
              for name, (scores, lies, share) in counted.items() if key in scores}
        for key, _ in best
    }  # fmt: skip


def _best_first(pair: tuple[str, float]) -> tuple[float, str]:
    return -pair[1], pair[0]


def _said(hits: Sequence[Hit]) -> Mapping[str, Any]:
    """What the source of a list says of all of it."""
    return hits[0].receipts[-1].details if hits[0].receipts else {}


def _stage(hits: Sequence[Hit]) -> str:
    return hits[0].receipts[-1].stage if hits[0].receipts else ""
