import pytest

from hopweave.hit import Hit
from hopweave.knowledge import Capability, Knowledge, Ranking
from hopweave.query import Query
from hopweave.sources.keyword import Keyword


class Desk(Knowledge):
    """Answers both text paths from tables."""

    version = 1
    capabilities = frozenset({Capability.WORDS, Capability.FULL_TEXT})

    def __init__(self, bm25: Ranking, full_text: Ranking) -> None:
        self.bm25, self.full_text = bm25, full_text
        self.asked = []

    def get(self, ids, *, tenant=None):
        return {key: Hit(key) for key in ids}

    def rank_text(self, terms, *, analyzer, top_k, tenant=None):
        self.asked.append(("bm25", terms, analyzer, top_k, tenant))
        return self.bm25[:top_k]

    def rank_full_text(self, expression, *, top_k, tenant=None):
        self.asked.append(("full_text", expression, top_k, tenant))
        return self.full_text[:top_k]


def scores(hits):
    return {hit.id: hit.score for hit in hits}


def test_the_better_of_two_normalised_scores_counts():
    desk = Desk([("a", 10.0), ("b", 8.0), ("c", 5.0)], [("c", 3.0), ("b", 2.0), ("d", 1.0)])
    hits = Keyword().search(Query("tide"), desk)
    # bm25: a (10-5)/5, b (8-5)/5, c 0; full text: c (3-1)/2, b (2-1)/2, d 0
    assert scores(hits) == pytest.approx({"a": 1.0, "c": 1.0, "b": max(3 / 5, 1 / 2), "d": 0.0})
    assert [hit.id for hit in hits] == ["a", "c", "b", "d"]  # a and c tie in score and best rank, so the id decides
    assert hits[2].receipts[0].details == {"rank": 3, "bm25": pytest.approx(3 / 5), "full_text": pytest.approx(1 / 2)}
    assert hits[3].receipts[0].details == {"rank": 4, "full_text": 0.0}
    assert {hit.scale for hit in hits} == {"unit"}


def test_a_single_hit_keeps_its_strength():
    assert scores(Keyword().search(Query("tide"), Desk([("a", 7.0)], []))) == {"a": 1.0}
    assert scores(Keyword().search(Query("tide"), Desk([("a", 0.4)], [("a", 0.2)]))) == {"a": 0.4}


def test_top_k_is_kept_and_everything_is_handed_on():
    desk = Desk([("a", 2.0), ("b", 1.0)], [("c", 2.0), ("d", 1.0)])
    query = Query("maxLevel", tenant={"owner": "ann"})
    assert len(Keyword(analyzer="code", top_k=2).search(query, desk)) == 2
    assert desk.asked == [
        ("bm25", {"maxlevel": 1.0, "max": 1.0, "level": 1.0}, "code", 2, {"owner": "ann"}),
        ("full_text", '"maxlevel"', 2, {"owner": "ann"}),
    ]


def test_a_question_without_words_asks_no_full_text():
    desk = Desk([], [("x", 1.0)])
    assert Keyword().search(Query("?!"), desk) == []
    assert [asked[0] for asked in desk.asked] == ["bm25"]


def test_on_a_real_knowledge_base_exact_words_and_stems_both_count(kb):
    found = {hit.id for hit in Keyword().search(Query('"tide gate" ferries'), kb)}
    assert found == {"gate", "notice", "skua", "petrel"}
