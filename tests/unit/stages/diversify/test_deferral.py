import copy

import numpy as np
import pytest
from pydantic import ValidationError

from hopweave.errors import InvalidScore
from hopweave.hit import Hit
from hopweave.query import Query
from hopweave.stages.diversify.deferral import Deferral
from hopweave.stages.similarity.vector_finder import VectorFinder

QUERY = Query("ferries")


def at(degrees):
    return np.array([np.cos(np.radians(degrees)), np.sin(np.radians(degrees))], np.float32)


def ids(hits):
    return [hit.id for hit in hits]


def test_empty_and_one():
    assert Deferral().apply([], QUERY) == []
    assert ids(Deferral().apply([Hit("a", vector=at(0))], QUERY)) == ["a"]


def test_a_similar_hit_moves_to_the_end():
    # cos 30 degrees = 0.866 > 0.85, cos 32 degrees = 0.848 < 0.85
    hits = [Hit("a", 0.9, vector=at(0)), Hit("b", 0.8, vector=at(30)), Hit("c", 0.7, vector=at(32))]
    settled = Deferral().apply(hits, QUERY)
    assert ids(settled) == ["a", "c", "b"]
    receipt = settled[-1].receipts[-1]
    assert receipt.details["deferred"] is True
    assert receipt.details["repeats"] == "a"
    assert receipt.details["similarity"] == pytest.approx(0.8660254)
    assert (receipt.before, receipt.after, settled[-1].score) == (0.8, 0.8, 0.8)
    assert settled[0].receipts[-1].details == {"deferred": False, "vector_from": "hit"}


def test_only_chosen_hits_push_back():
    # b repeats a; c is 50 degrees from a and 25 from b, but b was not chosen
    hits = [Hit("a", vector=at(0)), Hit("b", vector=at(25)), Hit("c", vector=at(50))]
    assert ids(Deferral().apply(hits, QUERY)) == ["a", "c", "b"]


def test_deferred_hits_keep_their_order():
    hits = [Hit("a", vector=at(0)), Hit("b", vector=at(1)), Hit("c", vector=at(2)), Hit("d", vector=at(90))]
    assert ids(Deferral().apply(hits, QUERY)) == ["a", "d", "b", "c"]


def test_exactly_the_threshold_is_not_above_it():
    hits = [Hit("a", vector=at(0)), Hit("b", vector=at(0))]
    assert ids(Deferral(max_similarity=1.0).apply(hits, QUERY)) == ["a", "b"]


def test_hits_without_vectors_are_dissimilar():
    hits = [Hit("a", vector=at(0)), Hit("b"), Hit("c"), Hit("d", vector=at(0))]
    assert ids(Deferral(max_similarity=-1.0).apply(hits, QUERY)) == ["a", "b", "c", "d"]


def test_vectors_of_the_knowledge_base():
    kept = VectorFinder(lambda ids: {"b": at(0)}, lexical=False)
    settled = Deferral().apply([Hit("a", vector=at(0)), Hit("b"), Hit("c", vector=at(90))], QUERY, kept)
    assert ids(settled) == ["a", "c", "b"]
    assert settled[-1].receipts[-1].details["vector_from"] == "knowledge"


def test_duplicates_and_bad_scores():
    assert ids(Deferral().apply([Hit("a", 1.0), Hit("a", 0.5)], QUERY)) == ["a"]
    with pytest.raises(InvalidScore, match="'a'"):
        Deferral().apply([Hit("a", float("inf"))], QUERY)


def test_nothing_is_mutated():
    hits = [Hit("a", vector=at(0)), Hit("b", vector=at(0))]
    before = copy.deepcopy(hits)
    Deferral().apply(hits, QUERY)
    assert hits == before


def test_bad_parameters():
    with pytest.raises(ValidationError, match="max_similarity"):
        Deferral(max_similarity=1.5)
