import logging

import numpy as np
import pytest
from pydantic import ValidationError

from hopweave.document import Document
from hopweave.hit import Hit
from hopweave.knowledge_base.store import KnowledgeBase
from hopweave.query import Query
from hopweave.stages.rerank.cosine_rerank import CosineRerank

NORTH, EAST = np.array([0, 1], np.float32), np.array([1, 0], np.float32)
BETWEEN = np.array([3, 4], np.float32)  # cosine .8 to north, .6 to east
QUESTION = Query("?", vector=NORTH * 7)


def scores(hits):
    return [(hit.id, None if hit.score is None else round(hit.score, 6)) for hit in hits]


def test_blends_score_and_cosine():
    hits = [Hit("east", 0.9, vector=EAST, scale="unit"), Hit("between", 0.6, vector=BETWEEN, scale="unit")]
    reranked = CosineRerank(blend=0.5).apply(hits, QUESTION)
    assert scores(reranked) == [("between", 0.7), ("east", 0.45)]  # (.6 + .8) / 2, (.9 + 0) / 2
    assert reranked[0].scale == "unit"
    assert reranked[0].receipts[-1].details == {"cosine": pytest.approx(0.8), "original": 0.6, "blend": 0.5}
    assert scores(CosineRerank().apply(hits, QUESTION)) == [("between", 0.66), ("east", 0.63)]


def test_edges():
    assert CosineRerank().apply([], QUESTION) == []
    south = Hit("south", 0.1, vector=-NORTH, scale="unit")
    hits = [Hit("plain", 0.5, scale="unit"), Hit("unscored", vector=BETWEEN), south]
    reranked = CosineRerank(blend=1).apply(hits, QUESTION)
    # without a vector the score stays, without a score the cosine counts, a negative result is 0
    assert scores(reranked) == [("unscored", 0.8), ("plain", 0.5), ("south", 0.0)]
    assert len(CosineRerank().apply([south, south], QUESTION)) == 1
    ties = [Hit("b", 0.5, vector=NORTH, scale="unit"), Hit("a", 0.5, vector=NORTH, scale="unit")]
    assert [hit.id for hit in CosineRerank().apply(ties, QUESTION)] == ["b", "a"]


@pytest.mark.parametrize(
    ("hits", "query", "reason"),
    [
        ([Hit("a", 0.2, vector=NORTH), Hit("b", 0.9, vector=NORTH)], Query("?"), "the question has no vector"),
        ([Hit("a", 0.2), Hit("b", 0.9)], QUESTION, "no hit has a vector of 2 dimensions"),
        ([Hit("a", 0.2, vector=np.ones(3, np.float32))], QUESTION, "no hit has a vector of 2 dimensions"),
        ([Hit("a", 0.2, vector=NORTH)], Query("?", vector=NORTH * 0), "zero or not finite"),
    ],
)
def test_without_vectors_the_order_stays_and_the_reason_is_given(hits, query, reason, caplog):
    with caplog.at_level(logging.WARNING):
        kept = CosineRerank().apply(hits, query)
    assert scores(kept) == scores(hits)
    assert all(reason in hit.receipts[-1].details["reason"] for hit in kept)
    assert reason in caplog.text


def test_a_knowledge_base_embeds_question_and_hits():
    with KnowledgeBase.open() as kb:
        kb.add([Document("gate", "The tide gate opens at six."), Document("bread", "Bake bread for an hour.")])
        hits = [Hit("bread", 0.5, scale="unit"), Hit("gate", 0.5, scale="unit")]
        assert [hit.id for hit in CosineRerank().apply(hits, Query("When does the gate open?"), kb)] == [
            "gate",
            "bread",
        ]


def test_bounds():
    with pytest.raises(ValidationError, match="blend"):
        CosineRerank(blend=1.1)
