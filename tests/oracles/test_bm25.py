"""BM25 against a plain version written from the formula, and against bm25s itself built in its own way."""

import math
from collections import Counter

import bm25s
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hopweave.document import Document
from hopweave.knowledge_base.store import KnowledgeBase
from hopweave.text.analyzers import analyzer, term_counts
from hopweave.text.bm25_index import BM25Index

WORDS = st.sampled_from(["tide", "gate", "ferry", "skua", "hallow", "isle", "storm", "quay", "rope", "mast"])
TEXTS = st.lists(st.lists(WORDS, max_size=12), min_size=1, max_size=12)


def plain_bm25(texts, terms, k1=1.5, b=0.75):
    """Score of every text for weighted terms, straight from the formula."""
    mean = sum(map(len, texts)) / len(texts) or 1.0
    scores = []
    for text in texts:
        counts, score = Counter(text), 0.0
        for term, weight in terms.items():
            frequency = sum(term in other for other in texts)
            idf = math.log((len(texts) - frequency + 0.5) / (frequency + 0.5) + 1)
            score += weight * idf * counts[term] / (counts[term] + k1 * (1 - b + b * len(text) / mean))
        scores.append(score)
    return scores


def index_of(texts):
    return BM25Index().changed([(row, *term_counts(text)) for row, text in enumerate(texts, start=1)])


def scores_of(index, terms, count):
    rows, scores, _ = index.search(terms, top_k=count + 1)
    found = dict(zip(rows.tolist(), scores.tolist(), strict=True))
    return [found.get(row, 0.0) for row in range(1, count + 1)]


@given(TEXTS, st.dictionaries(WORDS, st.sampled_from([0.0, 0.5, 1.0, 2.0, 5.0]), max_size=5))
def test_the_formula(texts, terms):
    assert scores_of(index_of(texts), terms, len(texts)) == pytest.approx(plain_bm25(texts, terms), rel=1e-4, abs=1e-6)


@given(TEXTS, st.lists(WORDS, min_size=1, max_size=5, unique=True))
def test_bm25s_itself(texts, terms):
    texts = [[*text, "filler"] for text in texts]  # bm25s cannot index nothing
    theirs = bm25s.BM25(k1=1.5, b=0.75, method="lucene")
    theirs.index(texts, show_progress=False)
    known = [term for term in terms if any(term in text for text in texts)]
    expected = theirs.get_scores(known).tolist() if known else [0.0] * len(texts)
    assert scores_of(index_of(texts), dict.fromkeys(terms, 1.0), len(texts)) == pytest.approx(expected, rel=1e-4)


@settings(max_examples=30)
@given(TEXTS, st.lists(WORDS, min_size=1, max_size=4))
def test_the_whole_way_through_a_knowledge_base(texts, question):
    analyse = analyzer("nlp")
    with KnowledgeBase.open(embedder=None, builders=[]) as kb:
        kb.add(Document(f"d{number:02}", " ".join(text)) for number, text in enumerate(texts))
        found = kb.rank_text(Counter(analyse(" ".join(question))), analyzer="nlp", top_k=99)
    expected = plain_bm25([analyse(" ".join(text)) for text in texts], Counter(analyse(" ".join(question))))
    assert dict(found) == pytest.approx({f"d{n:02}": one for n, one in enumerate(expected) if one > 0}, rel=1e-4)
    assert found == sorted(found, key=lambda pair: (-pair[1], pair[0]))
