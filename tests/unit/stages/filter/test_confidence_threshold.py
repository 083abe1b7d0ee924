"""Confidence: hand-computed evidence, what is unknown, and a threshold that keeps all hits or none."""

import inspect
import math
import re

import pytest
from pydantic import ValidationError

from hopweave.errors import InvalidScore
from hopweave.hit import Hit
from hopweave.language.terms import content_terms
from hopweave.query import Query
from hopweave.stages.filter.confidence import FORMULA, Features, Formula, confidence
from hopweave.stages.filter.confidence_threshold import ConfidenceThreshold

GATE = Query("When does the tide gate open?")


def hit(key, text, words=None, vector=None, **details):
    made = Hit(key, 1.0, text)
    if words is not None:
        made = made.rescored(words, "bm25", rank=1)
    if vector is not None:
        made = made.rescored(vector, "vector", rank=1)
    return made.rescored(1.0, "pagerank", **details) if details else made


def test_coverage_by_hand():
    hits = [hit("a", "The tide rises."), hit("b", "The tide falls."), hit("c", "A ferry."), hit("d", "A gate.")]
    # four texts: tide is in 2 of them, gate in 1 (the fourth, which does not count), close in none
    tide, gate, close = math.log(5 / 2.5), math.log(5 / 1.5), math.log(5 / 0.5)
    found = confidence(hits, "When does the tide gate close?").features
    assert found.coverage == pytest.approx(tide / (tide + gate + close))


def test_titles_count_as_text():
    with_title = [Hit("a", 1.0, "It opens at six.", {"title": "Tide gate"})]
    assert confidence(with_title, GATE.text).features.coverage == 1.0
    assert confidence([Hit("a", 1.0, "It opens at six.")], GATE.text).features.coverage < 1


def test_margin_agreement_and_linking_by_hand():
    scores = [(8.0, 0.9), (6.0, 0.1), (5.0, 0.8), (4.0, 0.2), (2.0, 0.3), (1.0, 0.7)]
    hits = [hit(str(n), "tide", words, vector, linking=0.75) for n, (words, vector) in enumerate(scores)]
    found = confidence(hits, "tide").features
    assert found.margin == pytest.approx((8 - 2) / 8)
    assert found.agreement == pytest.approx(4 / 5)  # 0, 2, 3, 4 of 0 … 4; by vectors 5 in place of 1
    assert found.linking == 0.75


def test_a_single_hit_by_words_does_not_stand_out_and_hardly_agrees():
    hits = [hit("a", "tide", words=3.0, vector=0.9), *(hit(str(n), "ferry", vector=0.5) for n in range(5))]
    found = confidence(hits, "tide gate").features
    assert found.margin == 0.0
    assert found.agreement == pytest.approx(1 / 5)


def test_what_is_unknown_counts_as_its_mean():
    formula = Formula(-1.0, (1.0, 2.0, 3.0, 4.0), (0.5, 0.25, 0.1, 0.2))
    found = confidence([Hit("a", 1.0, "tide")], "tide", formula)
    assert found.features == Features(1.0, None, None, None)
    assert found.probability == pytest.approx(1 / (1 + math.exp(-(-1 + 1 + 2 * 0.25 + 3 * 0.1 + 4 * 0.2))))
    without_text = confidence([Hit("a", 1.0)], "tide", formula)
    assert without_text.features == Features(None, None, None, None)
    assert without_text.as_dict()["coverage"] is None


def test_nothing_in_common_is_evidence_too():
    found = confidence([hit("a", "A ferry.", vector=0.4)], "What is the capital of Mongolia?").features
    assert found == Features(0.0, 0.0, 0.0, None)


def test_no_hits_no_confidence():
    assert confidence([], "tide").probability == 0.0
    assert ConfidenceThreshold().apply([], GATE) == []
    assert ConfidenceThreshold(min_confidence=0).apply([], GATE) == []


def test_more_evidence_more_confidence():
    assert all(weight > 0 for weight in FORMULA.weights)
    good = [hit("a", "The tide gate opens at six.", 9.0, 0.9, linking=1.0), hit("b", "A gate.", 1.0, 0.1)]
    poor = [hit("a", "The gate of a castle.", 1.1, 0.3, linking=0.0), hit("b", "A gate.", 1.0, 0.35)]
    assert confidence(good, GATE.text).probability > 0.6 > 0.2 > confidence(poor, GATE.text).probability


def test_the_documented_formula_is_the_one_in_use():
    stated = re.findall(r"-?\d+\.\d+", inspect.getdoc(ConfidenceThreshold).split("e^-(")[1].split(")")[0])
    assert [float(one) for one in stated] == [FORMULA.intercept, *FORMULA.weights]


def test_all_or_none_with_a_receipt():
    hits = [hit("a", "The tide gate opens at six.", 9.0, 0.9), hit("b", "A ferry.", 1.0, 0.1)]
    kept = ConfidenceThreshold(min_confidence=0.3).apply(hits, GATE)
    assert [one.id for one in kept] == ["a", "b"]
    assert [one.score for one in kept] == [one.score for one in hits]
    details = kept[1].receipts[-1].details
    assert details == confidence(hits, GATE.text).as_dict()
    assert details["confidence"] >= 0.3
    assert ConfidenceThreshold(min_confidence=1).apply(hits, GATE) == []


@pytest.mark.parametrize("question", ["What is the capital of Mongolia?", "asdf qwer zxcv", "ウランバートルの人口は？"])
def test_nonsense_gets_nothing(question):
    hits = [hit("a", "The tide gate opens at six.", vector=0.3), hit("b", "A ferry.", vector=0.2)]
    assert ConfidenceThreshold().apply(hits, Query(question)) == []


def test_duplicates_scores_of_none_and_odd_scores():
    hits = [Hit("a", None, "The tide gate opens."), Hit("a", 2.0, "Another."), Hit("b", None, "")]
    assert [one.id for one in ConfidenceThreshold(min_confidence=0.1).apply(hits, GATE)] == ["a", "b"]
    with pytest.raises(InvalidScore):
        ConfidenceThreshold().apply([Hit("a", float("nan"))], GATE)
    assert confidence([hit("a", "tide", words=0.0), hit("b", "tide")], "tide").features.margin == 0.0


@pytest.mark.parametrize("value", [-0.1, 1.1, "high"])
def test_bad_levels_are_named(value):
    with pytest.raises(ValidationError, match="min_confidence"):
        ConfidenceThreshold(min_confidence=value)


def test_texts_are_read_when_somebody_asks(monkeypatch):
    read = []
    monkeypatch.setattr(
        "hopweave.stages.filter.confidence.content_terms", lambda text: read.append(text) or content_terms(text)
    )
    hits = [hit("gate", "The tide gate opens at six.", words=2.0), hit("skua", "The Skua is a ferry.", words=0.1)]
    found = confidence(hits, GATE.text)
    assert read == []
    assert found == confidence(hits, GATE.text) != confidence(hits, "What is the capital of Mongolia?")
    assert hash(found) == hash(confidence(hits, GATE.text))
    assert repr(found) == f"Confidence(probability={found.probability}, features={found.features})"
    asked = len(read)
    assert found.as_dict()["confidence"] == round(found.probability, 3)
    assert len(read) == asked > 0


def test_a_near_vector_is_enough_by_itself():
    hits = [Hit("gate", text="Ships pass at high water.").rescored(0.4, "vector"), Hit("skua", text="A ferry.")]
    question = Query("What is the capital of Mongolia?")
    assert ConfidenceThreshold(min_cosine=0.41).apply(hits, question) == []
    assert ConfidenceThreshold(min_cosine=0.4).apply(hits[1:], question) == []
    kept = ConfidenceThreshold(min_cosine=0.4).apply(hits, question)
    assert [hit.id for hit in kept] == ["gate", "skua"]
    assert kept[1].receipts[-1].details["best_cosine"] == 0.4
