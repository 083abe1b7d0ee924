"""BM25: documents that say the words of the question, rare words first."""

from collections import Counter
from collections.abc import Iterable, Mapping
from copy import copy
from functools import cached_property, lru_cache
from hashlib import blake2b
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from pydantic import AfterValidator, Field

from hopweave.component import Knowledge, Rankings, Source, fetched
from hopweave.hit import Hit
from hopweave.query import Query
from hopweave.scores import best_and_ties
from hopweave.text.analyzers import analyzer, check_analyzer, stem_of, words

K1 = 1.5
B = 0.75

Rows = npt.NDArray[np.int64]
Keys = npt.NDArray[np.uint64]
Counts = npt.NDArray[np.int32]


class TextIndex:
    """A BM25 index over numbered rows, never changed: `changed` gives a new one that shares what it can.

    score(t, d) = log(1 + (N - df + 0.5) / (df + 0.5)) · tf / (tf + k1 · (1 - b + b · |d| / mean |d|))

    The truth is what each document says, terms and counts; the scores that bm25s sums up are worked out from it in one
    sweep when first asked for. So adding and deleting leave exactly the index that a fresh build would.

    >>> index = TextIndex().changed([(7, *term_counts(["tide", "gate", "tide"]))])
    >>> rows, scores = index.search({"tide": 1.0}, top_k=5)
    >>> rows.tolist()
    [7]
    """

    def __init__(self) -> None:
        self.rows: Rows = np.empty(0, np.int64)
        self._sizes: Counts = np.empty(0, np.int32)  # distinct terms of each row
        self._terms: Counts = np.empty(0, np.int32)  # their numbers, row after row
        self._counts: Counts = np.empty(0, np.int32)
        self._keys: Keys = np.empty(0, np.uint64)  # sorted; the number of keys[i] is numbers[i]
        self._numbers: Counts = np.empty(0, np.int32)

    def changed(self, added: Iterable[tuple[int, Keys, Counts]] = (), removed: Rows | None = None) -> "TextIndex":
        """The index with rows added (row, term keys, counts) and rows removed. New rows must be the largest."""
        index = copy(self)
        index.__dict__.pop("_scorer", None)
        if removed is not None and len(removed):
            kept = ~np.isin(self.rows, removed)
            spread = np.repeat(kept, self._sizes)
            index.rows, index._sizes = self.rows[kept], self._sizes[kept]
            index._terms, index._counts = self._terms[spread], self._counts[spread]
        new = list(added)
        if new:
            index.rows = np.concatenate([index.rows, np.array([row for row, _, _ in new], np.int64)])
            index._sizes = np.concatenate([index._sizes, np.array([len(keys) for _, keys, _ in new], np.int32)])
            index._counts = np.concatenate([index._counts, *(counts for _, _, counts in new)])
            index._terms = np.concatenate([index._terms, index._numbered(np.concatenate([keys for _, keys, _ in new]))])
        return index

    def search(
        self, terms: Mapping[str, float], top_k: int, allowed: Rows | None = None
    ) -> tuple[Rows, npt.NDArray[np.float32]]:
        """Rows and scores for weighted terms. Never a row with score 0.

        All rows that tie with the last one are given as well, so that the caller can choose between them by id.
        """
        scores = np.zeros(len(self.rows), np.float32)
        for weight, numbers in self._by_weight(terms).items() if len(self.rows) else ():
            scores += np.float32(weight) * self._scorer.get_scores_from_ids(numbers)
        if allowed is not None:
            scores[~np.isin(self.rows, allowed)] = 0
        found = best_and_ties(scores, top_k)
        found = found[scores[found] > 0]
        return self.rows[found], scores[found]

    def _by_weight(self, terms: Mapping[str, float]) -> dict[float, list[int]]:
        keys = np.array([term_key(term) for term in terms], np.uint64)
        places = np.searchsorted(self._keys, keys)
        groups: dict[float, list[int]] = {}
        for key, place, weight in zip(keys, places, terms.values(), strict=True):
            if place < len(self._keys) and self._keys[place] == key:
                groups.setdefault(weight, []).append(int(self._numbers[place]))
        return dict(sorted(groups.items()))

    def _numbered(self, keys: Keys) -> Counts:
        """Term numbers for keys; a key seen for the first time gets the next free number."""
        distinct, inverse = np.unique(keys, return_inverse=True)
        places = np.searchsorted(self._keys, distinct)
        known = np.zeros(len(distinct), bool)
        inside = places < len(self._keys)
        known[inside] = self._keys[places[inside]] == distinct[inside]
        numbers = np.empty(len(distinct), np.int32)
        numbers[known] = self._numbers[places[known]]
        numbers[~known] = len(self._keys) + np.arange(np.count_nonzero(~known), dtype=np.int32)
        self._keys = np.insert(self._keys, places[~known], distinct[~known])
        self._numbers = np.insert(self._numbers, places[~known], numbers[~known])
        return numbers[inverse]

    @cached_property
    def _scorer(self) -> Any:
        import bm25s
        from scipy.sparse import csr_array

        offsets = np.concatenate([[0], np.cumsum(self._sizes, dtype=np.int64)])
        lengths = np.diff(np.concatenate([[0], np.cumsum(self._counts, dtype=np.int64)])[offsets])
        frequency = np.bincount(self._terms, minlength=len(self._keys))
        idf = np.log(1 + (len(self.rows) - frequency + 0.5) / (frequency + 0.5))
        damping = K1 * (1 - B + B * lengths / (lengths.mean() or 1.0))
        counts = self._counts.astype(np.float64)
        parts = idf[self._terms] * counts / (counts + np.repeat(damping, self._sizes))
        shape = (len(self.rows), len(self._keys))
        columns = csr_array((parts.astype(np.float32), self._terms, offsets), shape=shape).tocsc()
        scorer = bm25s.BM25(k1=K1, b=B, method="lucene", backend="numpy")
        scorer.nonoccurrence_array = None
        scorer.scores = {
            "data": columns.data,
            "indices": columns.indices,
            "indptr": columns.indptr,
            "num_docs": len(self.rows),
        }
        return scorer


def term_counts(terms: Iterable[str]) -> tuple[Keys, Counts]:
    """What a document says: the keys of its distinct terms, sorted, and how often each occurs.

    >>> term_counts(["tide", "gate", "tide"])[1].tolist()
    [1, 2]
    """
    counts = sorted((term_key(term), count) for term, count in Counter(terms).items())
    return np.array([key for key, _ in counts], np.uint64), np.array([count for _, count in counts], np.int32)


@lru_cache(200_000)
def term_key(term: str) -> int:
    """A number that stands for a term in every process, so that no list of all words has to be kept.

    >>> term_key("tide")
    16623407075753676503
    """
    return int.from_bytes(blake2b(term.encode(errors="surrogatepass"), digest_size=8).digest(), "little")


class Bm25(Source):
    """Documents by BM25 over the terms of the question.

    Terms that are keywords of the question's intent count `keyword_weight` times. Two of these with different
    analyzers make a dual index: one for prose, one for code.

    >>> Bm25(analyzer="code").terms(Query("maxLevel maxLevel"))
    {'maxlevel': 2.0, 'max': 2.0, 'level': 2.0}
    """

    in_memory: ClassVar[bool] = True

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
        counts = Counter(analyzer(self.analyzer)(query.text))
        heavy = self._keyword_terms(query, counts) if query.intent and query.intent.keywords else ()
        return {term: count * (self.keyword_weight if term in heavy else 1.0) for term, count in counts.items()}

    def _keyword_terms(self, query: Query, terms: Iterable[str]) -> set[str]:
        analyse, stem = analyzer(self.analyzer), stem_of(self.analyzer)
        keywords = query.intent.keywords if query.intent else ()
        stems = {stem(keyword) for keyword in keywords}
        # stems often differ between stemmers, so a long one may also be the beginning of a word: compar, comparison
        beginnings = tuple(keyword for keyword in keywords if len(keyword) >= 5)
        said = (word for word in {*words(query.text), *terms} if stem(word) in stems or word.startswith(beginnings))
        return {term for word in said for term in analyse(word)}
