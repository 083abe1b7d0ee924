"""BM25: documents that say the words of the question, rare words first."""

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Annotated, Any, Literal

import numpy as np
import numpy.typing as npt
from pydantic import AfterValidator, Field

from hopweave.component import Knowledge, Rankings, Source, fetched
from hopweave.hit import Hit
from hopweave.query import Query
from hopweave.scores import best_and_ties
from hopweave.text.analyzers import analyzer, check_analyzer

K1 = 1.5
B = 0.75

Integers = npt.NDArray[np.int32]
Rows = npt.NDArray[np.int64]


class TextIndex:
    """A BM25 index over numbered rows, never changed: `changed` gives a new one that shares what it can.

    score(t, d) = log(1 + (N - df + 0.5) / (df + 0.5)) · tf / (tf + k1 · (1 - b + b · |d| / mean |d|))

    The truth is what each document says, term numbers and counts; the scores that bm25s sums up are worked out from
    it in one sweep when first asked for. So adding and deleting leave exactly the index that a fresh build would.

    >>> index = TextIndex().changed([(7, np.array([0, 1], np.int32), np.array([2, 1], np.int32))])
    >>> rows, scores = index.search({0: 1.0}, top_k=5)
    >>> rows.tolist()
    [7]
    """

    def __init__(self) -> None:
        self.rows: Rows = np.empty(0, np.int64)
        self._sizes: Integers = np.empty(0, np.int32)  # distinct terms of each row
        self._terms: Integers = np.empty(0, np.int32)
        self._counts: Integers = np.empty(0, np.int32)

    def changed(self, added: Iterable[tuple[int, Integers, Integers]] = (), removed: Rows | None = None) -> "TextIndex":
        """The index with rows added (row, term numbers, counts) and rows removed. New rows must be the largest."""
        index = TextIndex()
        index.rows, index._sizes, index._terms, index._counts = self.rows, self._sizes, self._terms, self._counts
        if removed is not None and len(removed):
            kept = ~np.isin(self.rows, removed)
            spread = np.repeat(kept, self._sizes)
            index.rows, index._sizes = self.rows[kept], self._sizes[kept]
            index._terms, index._counts = self._terms[spread], self._counts[spread]
        new = list(added)
        if new:
            index.rows = np.concatenate([index.rows, np.array([row for row, _, _ in new], np.int64)])
            index._sizes = np.concatenate([index._sizes, np.array([len(terms) for _, terms, _ in new], np.int32)])
            index._terms = np.concatenate([index._terms, *(terms for _, terms, _ in new)])
            index._counts = np.concatenate([index._counts, *(counts for _, _, counts in new)])
        return index

    def search(
        self, terms: Mapping[int, float], top_k: int, allowed: Rows | None = None
    ) -> tuple[Rows, npt.NDArray[np.float32]]:
        """Rows and scores for weighted term numbers. Never a row with score 0.

        All rows that tie with the last one are given as well, so that the caller can choose between them by id.
        """
        known = {term: weight for term, weight in terms.items() if 0 <= term < self._vocabulary_size}
        if not known:
            return np.empty(0, np.int64), np.empty(0, np.float32)
        scores = np.zeros(len(self.rows), np.float32)
        for weight in sorted(set(known.values())):
            numbers = [term for term in known if known[term] == weight]
            scores += np.float32(weight) * self._scorer.get_scores_from_ids(numbers)
        if allowed is not None:
            scores[~np.isin(self.rows, allowed)] = 0
        found = best_and_ties(scores, top_k)
        found = found[scores[found] > 0]
        return self.rows[found], scores[found]

    @property
    def _vocabulary_size(self) -> int:
        return len(self._scorer.scores["indptr"]) - 1

    @cached_property
    def _scorer(self) -> Any:
        import bm25s
        from scipy.sparse import csr_array

        lengths = np.add.reduceat(np.append(self._counts, 0), self._offsets[:-1]) if len(self.rows) else self._sizes
        lengths = np.where(self._sizes > 0, lengths, 0)
        total = len(self.rows)
        vocabulary = int(self._terms.max()) + 1 if len(self._terms) else 0
        frequency = np.bincount(self._terms, minlength=vocabulary)
        idf = np.log(1 + (total - frequency + 0.5) / (frequency + 0.5))
        norm = K1 * (1 - B + B * lengths / max(lengths.mean(), 1e-9)) if total else lengths
        counts = self._counts.astype(np.float64)
        parts = idf[self._terms] * counts / (counts + np.repeat(norm, self._sizes))
        columns = csr_array((parts.astype(np.float32), self._terms, self._offsets), shape=(total, vocabulary)).tocsc()
        scorer = bm25s.BM25(k1=K1, b=B, method="lucene", backend="numpy")
        scorer.nonoccurrence_array = None
        scorer.scores = {
            "data": columns.data,
            "indices": columns.indices,
            "indptr": columns.indptr,
            "num_docs": total,
        }
        return scorer

    @property
    def _offsets(self) -> Rows:
        return np.concatenate([[0], np.cumsum(self._sizes, dtype=np.int64)])


class Bm25(Source):
    """Documents by BM25 over the terms of the question.

    Terms that are keywords of the question's intent count `keyword_weight` times. Two of these with different
    analyzers make a dual index: one for prose, one for code.

    >>> Bm25(analyzer="code").terms(Query("maxLevel maxLevel"))
    {'maxlevel': 2.0, 'max': 2.0, 'level': 2.0}
    """

    kind: Literal["bm25"] = "bm25"
    analyzer: Annotated[str, AfterValidator(check_analyzer)] = Field(
        "nlp", description="How text becomes terms: nlp, nlp:<language>, code or light."
    )
    keyword_weight: float = Field(5.0, ge=0, description="How much a keyword of the intent counts.")

    def search(self, query: Query, knowledge: Knowledge, upstream: Rankings | None = None) -> list[Hit]:  # noqa: ARG002
        """Find hits for a question, best first."""
        ranking = knowledge.rank_text(self.terms(query), analyzer=self.analyzer, top_k=self.top_k, tenant=query.tenant)
        return fetched(ranking, knowledge, query, "bm25", "positive", analyzer=self.analyzer)

    def terms(self, query: Query) -> dict[str, float]:
        """The terms of the question and how much each counts."""
        analyse = analyzer(self.analyzer)
        counts = Counter(analyse(query.text))
        keywords = query.intent.keywords if query.intent else ()
        stems = {stem for keyword in keywords for stem in (keyword, *analyse(keyword))}
        prefixes = tuple(stem for stem in stems if len(stem) > 3)
        return {
            term: count * (self.keyword_weight if term in stems or term.startswith(prefixes) else 1.0)
            for term, count in counts.items()
        }
