import itertools
import json

import numpy as np
import pytest
from pydantic import ValidationError

from hopweave.errors import InvalidScore, RecipeError
from hopweave.fusion.confirmatory import Confirmatory
from hopweave.hit import Hit
from hopweave.query import Query
from hopweave.scores import sigmoid

QUERY = Query("ferries")


def fused(rankings, **fields):
    return Confirmatory(**fields).fuse(rankings, QUERY)


def scores(hits):
    return {hit.id: hit.score for hit in hits}


def details(hit):
    return hit.receipts[-1].details


def test_the_three_cases_of_the_memory_system():
    hits = fused(
        {
            "vector": [Hit("both", 0.6), Hit("vector only", 0.4)],
            "text": [Hit("strong text", 12.0), Hit("both", 9.0), Hit("weak text", 2.0)],  # 1, 0.7, 0
        }
    )
    assert scores(hits) == pytest.approx(
        {"strong text": 1.0, "both": 0.6 + 0.15 * 0.6, "weak text": 0.5, "vector only": 0.4}
    )
    assert [hit.id for hit in hits] == ["strong text", "both", "weak text", "vector only"]
    assert {hit.scale for hit in hits} == {"unit"}


def test_receipts_tell_which_case():
    hits = {
        hit.id: hit for hit in fused({"vector": [Hit("a", 0.6), Hit("b", 0.4)], "text": [Hit("a", 3), Hit("c", 1)]})
    }
    assert details(hits["a"]) == {"base": 0.6, "confirmed_by": ["text"], "bonus": 0.15}
    assert details(hits["b"]) == {"base": 0.4, "confirmed_by": []}
    assert details(hits["c"]) == {"base": None, "confirmed_by": ["text"], "confirming": 0.0, "min_score": 0.5}


def test_clamped_to_one():
    hit = fused({"vector": [Hit("a", 0.9)], "text": [Hit("a", 1.0)]})[0]
    assert hit.score == 1.0
    assert details(hit)["clamped_from"] == pytest.approx(0.9 * 1.15)


def test_a_negative_cosine_is_clamped_to_zero():
    assert scores(fused({"vector": [Hit("a", -0.2, scale="cosine")]})) == {"a": 0.0}


def test_base_logits_become_probabilities():
    assert scores(fused({"vector": [Hit("a", -1.0, scale="logit")]})) == {"a": sigmoid(-1.0)}
    same = fused({"vector": [Hit("a", -1.0, scale="logit")]}, base_normalisation="sigmoid")
    assert scores(same) == {"a": sigmoid(-1.0)}


def test_names_bonus_and_floor_are_parameters():
    rankings = {"graph": [Hit("a", 0.5)], "code": [Hit("a", 2.0), Hit("b", 1.0)], "prose": [Hit("a", 1.0)]}
    hits = fused(rankings, base="graph", confirming=("code", "prose"), bonus=0.5, min_score=0.2)
    assert scores(hits) == pytest.approx({"a": 0.75, "b": 0.2})  # two confirmations are still one bonus
    assert details(hits[0])["confirmed_by"] == ["code", "prose"]
    assert scores(fused(rankings, base="graph", bonus=0, min_score=0)) == {"a": 0.5, "b": 0.0}


def test_a_source_that_is_neither_is_an_error():
    with pytest.raises(RecipeError, match="source 'graph' is neither the base vector nor confirming"):
        fused({"graph": [Hit("a", 0.5)]}, confirming=("text",))


def test_the_stronger_of_two_confirming_sources_counts():
    rankings = {"one": [Hit("a", 1.0), Hit("b", 0.0)], "two": [Hit("b", 0.9)]}
    assert scores(fused(rankings)) == {"a": 1.0, "b": 0.9}


def test_without_the_base_all_are_text_only():
    assert scores(fused({"text": [Hit("a", 9.0), Hit("b", 3.0)]})) == {"a": 1.0, "b": 0.5}
    assert scores(fused({"vector": [], "text": [Hit("a", 0.3)]})) == {"a": 0.5}


def test_normalisation_of_the_confirming_scores():
    rankings = {"text": [Hit("a", 10.0), Hit("b", 8.0), Hit("c", 5.0)]}
    assert scores(fused(rankings, confirming_normalisation="max")) == {"a": 1.0, "b": 0.8, "c": 0.5}


def test_scores_that_are_not_there():
    hits = fused({"vector": [Hit("a"), Hit("b"), Hit("c", 0.4)], "text": [Hit("b"), Hit("c"), Hit("d")]})
    # b: the base cannot say, the text found it; c is confirmed by being found; a is unknown
    assert scores(hits) == pytest.approx({"b": 0.5, "d": 0.5, "c": 0.46, "a": None})
    assert [hit.id for hit in hits] == ["b", "d", "c", "a"]


def test_order_of_names_ties_duplicates_empty():
    rankings = {
        "vector": [Hit("a", 0.5), Hit("a", 0.1)],
        "text": [Hit("z", 1.0)],
        "graph": [Hit("b", 0.4), Hit("z", 0.4)],
    }
    results = [fused({name: rankings[name] for name in names}) for names in itertools.permutations(rankings)]
    assert all(result == results[0] for result in results)
    assert scores(results[0]) == {"z": 1.0, "a": 0.5, "b": 0.5}
    assert [hit.id for hit in results[0]] == ["z", "a", "b"]
    assert fused({}) == []
    assert fused({"vector": []}) == []


def test_json_and_bad_scores():
    json.dumps(
        [hit.as_dict() for hit in fused({"vector": [Hit("a", np.float32(0.5))], "text": [Hit("a", np.float32(2))]})]
    )
    with pytest.raises(InvalidScore, match="'a'"):
        fused({"vector": [Hit("a", float("nan"))]})


@pytest.mark.parametrize(
    "fields", [{"bonus": -0.1}, {"bonus": float("inf")}, {"min_score": 1.1}, {"base": ""}, {"base_normalisation": "x"}]
)
def test_bad_configuration(fields):
    with pytest.raises(ValidationError, match=next(iter(fields))):
        Confirmatory(**fields)
