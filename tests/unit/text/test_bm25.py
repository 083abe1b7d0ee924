import math

import numpy as np
import pytest

from hopweave.component import Knowledge
from hopweave.document import Document
from hopweave.knowledge_base.store import KnowledgeBase
from hopweave.query import Intent, Query
from hopweave.text.bm25 import Bm25, TextIndex, term_counts, term_key

TEXTS = {1: "tide gate tide", 2: "gate", 5: "ferry ferry ferry harbour"}


def index_of(texts):
    return TextIndex().changed([(row, *term_counts(text.split())) for row, text in texts.items()])


def found(index, terms, top_k=10, allowed=None):
    rows, scores = index.search(terms, top_k, allowed)
    return dict(zip(rows.tolist(), scores.tolist(), strict=True))


def test_the_formula_by_hand():
    # N 3, mean length (3 + 1 + 4) / 3 = 8/3
    tide = math.log(1 + (3 - 1 + 0.5) / (1 + 0.5)) * 2 / (2 + 1.5 * (1 - 0.75 + 0.75 * 3 / (8 / 3)))
    gate = math.log(1 + (3 - 2 + 0.5) / (2 + 0.5))
    gate_in_1 = gate * 1 / (1 + 1.5 * (1 - 0.75 + 0.75 * 3 / (8 / 3)))
    gate_in_2 = gate * 1 / (1 + 1.5 * (1 - 0.75 + 0.75 * 1 / (8 / 3)))
    index = index_of(TEXTS)
    assert found(index, {"tide": 1.0}) == pytest.approx({1: tide})
    assert found(index, {"gate": 1.0}) == pytest.approx({1: gate_in_1, 2: gate_in_2})
    assert found(index, {"tide": 1.0, "gate": 1.0}) == pytest.approx({1: tide + gate_in_1, 2: gate_in_2})
    assert found(index, {"tide": 5.0, "gate": 0.5}) == pytest.approx(
        {1: 5 * tide + 0.5 * gate_in_1, 2: 0.5 * gate_in_2}
    )


@pytest.mark.parametrize("terms", [{}, {"sail": 1.0}, {"tide": 0.0}])
def test_what_is_not_said_is_not_found(terms):
    assert found(index_of(TEXTS), terms) == {}


def test_an_empty_index_finds_nothing():
    assert found(TextIndex(), {"tide": 1.0}) == {}
    assert found(index_of({1: ""}), {"tide": 1.0}) == {}
    assert found(index_of({1: "", 2: "tide"}), {"tide": 1.0}).keys() == {2}


def test_ties_at_the_end_come_along():
    index = index_of({1: "tide", 2: "tide", 3: "tide", 4: "tide tide ebb"})
    assert found(index, {"tide": 1.0}, top_k=1).keys() == {1, 2, 3}
    assert found(index, {"ebb": 1.0}, top_k=1).keys() == {4}


def test_only_allowed_rows_are_given_but_statistics_stay():
    index = index_of(TEXTS)
    assert found(index, {"gate": 1.0}, allowed=np.array([2, 5])) == pytest.approx({2: found(index, {"gate": 1.0})[2]})
    assert found(index, {"gate": 1.0}, allowed=np.array([], np.int64)) == {}


def test_a_changed_index_is_a_new_one():
    index = index_of(TEXTS)
    before = found(index, {"gate": 1.0})
    later = index.changed([(9, *term_counts(["gate"]))], np.array([1]))
    assert found(later, {"gate": 1.0}).keys() == {2, 9}
    assert found(later, {"tide": 1.0}) == {}
    assert found(index, {"gate": 1.0}) == before
    assert index.rows.tolist() == [1, 2, 5]


def test_adding_and_deleting_leaves_no_trace():
    index = index_of(TEXTS)
    there_and_back = index.changed([(9, *term_counts(["gate", "ebb"]))]).changed(removed=np.array([9]))
    for term in ("tide", "gate", "ferry", "harbour", "ebb"):
        assert found(there_and_back, {term: 1.0}) == found(index, {term: 1.0})


def test_everything_can_be_deleted_and_added_again():
    index = index_of(TEXTS)
    empty = index.changed(removed=index.rows)
    assert found(empty, {"gate": 1.0}) == {}
    again = empty.changed([(row + 10, *term_counts(text.split())) for row, text in TEXTS.items()])
    assert found(again, {"gate": 1.0}) == {row + 10: score for row, score in found(index, {"gate": 1.0}).items()}


def test_terms_are_counted_under_keys_that_every_process_knows():
    keys, counts = term_counts(["tide", "gate", "tide"])
    assert dict(zip(keys.tolist(), counts.tolist(), strict=True)) == {term_key("tide"): 2, term_key("gate"): 1}
    assert keys.tolist() == sorted(keys.tolist())
    assert term_key("tide") == 16623407075753676503
    assert [len(part) for part in term_counts([])] == [0, 0]
    assert isinstance(term_key("\ud800"), int)


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
    hits = Bm25().search(Query("crash of the pump"), harbour)
    assert ids(hits) == ["a", "b"]
    assert hits[0].score > hits[1].score > 0
    assert (hits[0].scale, hits[0].text[:9]) == ("positive", "The crash")
    assert hits[0].receipts[0].as_dict() == {
        "stage": "bm25",
        "before": None,
        "after": hits[0].score,
        "details": {"rank": 1, "analyzer": "nlp"},
    }
    assert ids(Bm25(top_k=1).search(Query("crash of the pump"), harbour)) == ["a"]


@pytest.mark.parametrize("text", ["", "  ", "?!", "the of and", "zeppelin", "\ud800"])
def test_a_question_without_known_words_finds_nothing(harbour, text):
    assert Bm25().search(Query(text), harbour) == []


def test_two_analyzers_make_two_sources(harbour):
    assert ids(Bm25().search(Query("gate"), harbour)) == []
    assert ids(Bm25(analyzer="code").search(Query("gate"), harbour)) == ["c"]
    assert ids(Bm25(analyzer="code").search(Query("opengate"), harbour)) == ["c"]
    assert ids(Bm25(analyzer="light").search(Query("pumping"), harbour)) == ["b", "a"]  # worked out when asked for


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
    terms = Bm25(analyzer=analyzer).terms(Query(f"pump {word}", intent=intent))
    assert terms.pop("pump") == 1
    assert set(terms.values()) == {5}


@pytest.mark.parametrize("word", ["list", "listing"])
def test_a_short_keyword_is_not_taken_for_the_beginning_of_a_word(word):
    listing = Intent("exploratory", keywords=("list", "show"))
    assert Bm25().terms(Query(f"{word} listeners showers", intent=listing)) == {"list": 5, "listen": 1, "shower": 1}


def test_keywords_inside_identifiers_count_too():
    assert Bm25(analyzer="code").terms(Query("getErrors", intent=DEBUGGING)) == {"geterrors": 1, "get": 1, "errors": 5}


def test_repeated_words_count_as_often_and_the_weight_may_be_nothing():
    assert Bm25().terms(Query("pump pump error")) == {"pump": 2, "error": 1}
    assert Bm25(keyword_weight=0).terms(Query("pump error", intent=DEBUGGING)) == {"pump": 1, "error": 0}
    assert Bm25().terms(Query("pump error", intent=Intent("none"))) == {"pump": 1, "error": 1}


def test_keywords_change_the_order(harbour):
    plain = Bm25().search(Query("pump error"), harbour)
    heavy = Bm25().search(Query("pump error", intent=DEBUGGING), harbour)
    assert heavy[0].id == "a"
    assert heavy[0].score > plain[0].score


def test_a_megabyte_of_words_is_only_slow(harbour):
    assert ids(Bm25().search(Query("pump " * 200_000 + "crash"), harbour))[0] in {"a", "b"}
