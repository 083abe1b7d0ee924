import numpy as np
import pytest

from hopweave.document import Document
from hopweave.knowledge import Knowledge
from hopweave.knowledge_base.store import KnowledgeBase
from hopweave.query import Intent, Query
from hopweave.sources.bm25 import BM25


@pytest.fixture
def harbour():
    with KnowledgeBase.open(embedder=None, analyzers=["nlp", "code"]) as kb:
        kb.add(
            [
                Document("a", "The crash of the pump was an error."),
                Document("b", "The pump runs. The pump is new. The pump hums."),
                Document("c", "def openGate(maxLevel): raise GateError"),
            ]
        )
        yield kb


def ids(hits):
    return [hit.id for hit in hits]


def test_the_source_gives_ranked_hits_with_receipts(harbour: Knowledge):
    hits = BM25().search(Query("crash of the pump"), harbour)
    assert ids(hits) == ["a", "b"]
    assert hits[0].score > hits[1].score > 0
    assert (hits[0].scale, hits[0].text[:9]) == ("positive", "The crash")
    scores = [hits[0].score, hits[1].score, 0.0]
    lies = {"mean": pytest.approx(np.mean(scores)), "deviation": pytest.approx(np.std(scores))}
    assert hits[0].receipts[0].as_dict() == {
        "stage": "bm25",
        "before": None,
        "after": hits[0].score,
        "details": {"rank": 1, "analyzer": "nlp", "above_chance": pytest.approx(1.167, abs=2e-3), **lies},
    }
    assert ids(BM25(top_k=1).search(Query("crash of the pump"), harbour)) == ["a"]


@pytest.mark.parametrize("text", ["", "  ", "?!", "the of and", "zeppelin", "\ud800"])
def test_a_question_without_known_words_finds_nothing(harbour, text):
    assert BM25().search(Query(text), harbour) == []


def test_two_analyzers_make_two_sources(harbour):
    assert ids(BM25().search(Query("gate"), harbour)) == []
    assert ids(BM25(analyzer="code").search(Query("gate"), harbour)) == ["c"]
    assert ids(BM25(analyzer="code").search(Query("opengate"), harbour)) == ["c"]
    assert ids(BM25(analyzer="light").search(Query("pumping"), harbour)) == ["b", "a"]  # worked out when asked for


DEBUGGING = Intent("debugging", keywords=("error", "fail", "crash", "issu", "bug", "except"))
WORKFLOW = Intent("workflow", keywords=("step", "pipelin", "automat", "process"))


@pytest.mark.parametrize("analyzer", ["nlp", "light", "code"])
@pytest.mark.parametrize(
    ("intent", "word"),
    [
        (DEBUGGING, "errors"),
        (DEBUGGING, "crashes"),
        (DEBUGGING, "issue"),
        (DEBUGGING, "Bugs"),
        (DEBUGGING, "exceptions"),
        (WORKFLOW, "automate"),
        (WORKFLOW, "automation"),
        (WORKFLOW, "pipelines"),
    ],
)
def test_keywords_of_the_intent_count_five_times_in_every_analyzer(analyzer, intent, word):
    terms = BM25(analyzer=analyzer).terms(Query(f"pump {word}", intent=intent))
    assert terms.pop("pump") == 1
    assert set(terms.values()) == {5}


@pytest.mark.parametrize("word", ["list", "listing"])
def test_a_short_keyword_is_not_taken_for_the_beginning_of_a_word(word):
    listing = Intent("exploratory", keywords=("list", "show"))
    assert BM25().terms(Query(f"{word} listeners showers", intent=listing)) == {"list": 5, "listen": 1, "shower": 1}


def test_keywords_inside_identifiers_count_too():
    assert BM25(analyzer="code").terms(Query("getErrors", intent=DEBUGGING)) == {"geterrors": 1, "get": 1, "errors": 5}


def test_repeated_words_count_as_often_and_the_weight_may_be_nothing():
    assert BM25().terms(Query("pump pump error")) == {"pump": 2, "error": 1}
    assert BM25(keyword_weight=0).terms(Query("pump error", intent=DEBUGGING)) == {"pump": 1, "error": 0}
    assert BM25().terms(Query("pump error", intent=Intent("none"))) == {"pump": 1, "error": 1}


def test_keywords_change_the_order(harbour):
    plain = BM25().search(Query("pump error"), harbour)
    heavy = BM25().search(Query("pump error", intent=DEBUGGING), harbour)
    assert heavy[0].id == "a"
    assert heavy[0].score > plain[0].score


def test_a_megabyte_of_words_is_only_slow(harbour):
    assert ids(BM25().search(Query("pump " * 200_000 + "crash"), harbour))[0] in {"a", "b"}
