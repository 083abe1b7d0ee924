import math

import numpy as np
import pytest
from pydantic import ValidationError

from hopweave.errors import InvalidScore, RecipeError
from hopweave.fusion.reciprocal_rank import ReciprocalRank
from hopweave.hit import Hit, Receipt
from hopweave.query import Query
from hopweave.recipe import Recipe
from hopweave.sources.bm25 import BM25


def ranking(ids):
    return [Hit(key) for key in ids]


def fuse(rankings, **parameters):
    return ReciprocalRank(**parameters).fuse({name: ranking(ids) for name, ids in rankings.items()}, Query("?"))


def scores(hits):
    return {hit.id: hit.score for hit in hits}


def test_the_formula_by_hand():
    found = fuse({"text": "abc", "vector": "cad"})
    assert scores(found) == pytest.approx(
        {
            "a": 1 / (60 + 1) + 1 / (60 + 2),
            "c": 1 / (60 + 3) + 1 / (60 + 1),
            "b": 1 / (60 + 2),
            "d": 1 / (60 + 3),
        }
    )
    assert [hit.id for hit in found] == ["a", "c", "b", "d"]


def test_k_and_weights_by_name():
    found = fuse({"text": "ab", "vector": "ba", "graph": "c"}, k=10, weights={"text": 2.0, "graph": 0.5})
    assert scores(found) == pytest.approx(
        {"a": 2 / (10 + 1) + 1 / (10 + 2), "b": 2 / (10 + 2) + 1 / (10 + 1), "c": 0.5 / (10 + 1)}
    )
    details = found[0].receipts[-1].details
    assert details == {"k": 10, "text_rank": 1, "vector_rank": 2, "text_weight": 2.0, "graph_weight": 0.5}


def test_a_weight_of_nothing_counts_for_nothing_but_loses_no_hit():
    found = fuse({"text": "ab", "vector": "b"}, weights={"text": 0})
    assert scores(found) == {"b": 1 / 61, "a": 0}


def test_a_hit_of_one_source_stays_and_a_missing_source_is_simply_absent():
    assert scores(fuse({"text": "a", "vector": ""})) == {"a": 1 / 61}
    assert scores(fuse({"text": "a"}, weights={"vector": 3})) == {"a": 1 / 61}
    assert fuse({"text": "", "vector": ""}) == []
    assert fuse({}) == []


def test_a_hit_twice_in_one_list_counts_once_at_its_first_place():
    found = fuse({"text": "aabab"})
    assert scores(found) == pytest.approx({"a": 1 / 61, "b": 1 / 62})  # the repeated one takes no rank away


def test_nothing_depends_on_the_order_of_the_names():
    one = fuse({"text": "abcd", "vector": "dcba", "graph": "bd"})
    other = fuse({"graph": "bd", "vector": "dcba", "text": "abcd"})
    assert one == other
    assert [hit.score for hit in one] == [hit.score for hit in other]


def test_ties_go_to_the_better_best_rank_then_to_the_id():
    assert [hit.id for hit in fuse({"x": "ba", "y": "dc"})] == ["b", "d", "a", "c"]
    # p: 1/62 + 1/62, q: 2/62, both at rank 2
    tied = fuse({"one": "xp", "two": "yp", "three": "zq"}, weights={"three": 2.0})
    assert scores(tied)["p"] == scores(tied)["q"] == 2 / 62
    assert [hit.id for hit in tied if hit.id in "pq"] == ["p", "q"]


def test_scores_of_the_sources_do_not_matter_but_must_be_numbers():
    rankings = {"text": [Hit("a", -5.0), Hit("b", None)], "vector": [Hit("b", 1e9)]}
    assert [hit.id for hit in ReciprocalRank().fuse(rankings, Query("?"))] == ["b", "a"]
    with pytest.raises(InvalidScore, match="hit 'b' has score nan"):
        ReciprocalRank().fuse({"text": [Hit("a", 1.0), Hit("b", math.nan)]}, Query("?"))


def test_content_comes_from_the_best_rank_and_receipts_from_all():
    vector = np.ones(2, np.float32)
    text = Hit("a", 7.0, "as text has it", {"from": "text"}, receipts=(Receipt("bm25", None, 7.0),))
    near = Hit(
        "a", 0.9, "as vector has it", {"from": "vector"}, vector, "cosine", "node", (Receipt("vector", None, 0.9),)
    )
    (other, hit) = sorted(
        ReciprocalRank().fuse({"text": [text], "vector": [Hit("b"), near]}, Query("?")), key=lambda hit: hit.id == "a"
    )
    assert (hit.text, hit.metadata, hit.scale) == ("as text has it", {"from": "text"}, "positive")
    assert hit.vector is vector  # which the better one lacks
    assert hit.origin == "node"
    assert [receipt.stage for receipt in hit.receipts] == ["bm25", "vector", "reciprocal_rank"]
    fused = hit.receipts[-1]
    assert (fused.before, fused.after) == (None, 1 / 61 + 1 / 62)
    assert fused.details == {"k": 60, "text_rank": 1, "vector_rank": 2}
    assert other.id == "b"


def test_at_equal_ranks_the_name_decides_whose_content_it_is():
    rankings = {"vector": [Hit("a", text="as vector has it")], "text": [Hit("a", text="as text has it")]}
    assert ReciprocalRank().fuse(rankings, Query("?"))[0].text == "as text has it"


def test_the_hits_handed_in_stay_as_they_are():
    rankings = {"text": [Hit("a", 1.0, metadata={"x": 1})], "vector": [Hit("a", 0.5)]}
    ReciprocalRank().fuse(rankings, Query("?"))
    assert rankings == {"text": [Hit("a", 1.0, metadata={"x": 1})], "vector": [Hit("a", 0.5)]}


@pytest.mark.parametrize(
    ("parameters", "name"),
    [
        ({"k": 0}, "k"),
        ({"k": -1}, "k"),
        ({"k": math.inf}, "k"),
        ({"weights": {"text": -1}}, "weights.text"),
        ({"weights": {"text": math.nan}}, "weights.text"),
        ({"weight": {}}, "weight"),
    ],
)
def test_bad_parameters_are_named(parameters, name):
    with pytest.raises(ValidationError, match=name):
        ReciprocalRank(**parameters)


def test_a_recipe_may_not_weigh_a_source_it_does_not_have():
    with pytest.raises(ValidationError, match="there is a weight for 'txet', but the sources are text"):
        Recipe(name="r", sources={"text": BM25()}, fuse=ReciprocalRank(weights={"txet": 2}))
    with pytest.raises(RecipeError, match="txet"):
        ReciprocalRank(weights={"txet": 2, "text": 1}).check_sources(["text"])
    ReciprocalRank(weights={"text": 2}).check_sources(["text", "vector"])
