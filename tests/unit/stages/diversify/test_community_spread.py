import copy

import pytest
from pydantic import ValidationError

from hopweave.errors import InvalidScore
from hopweave.hit import Hit
from hopweave.knowledge import Capability
from hopweave.query import Query
from hopweave.stages.diversify.community_spread import CommunitySpread
from hopweave.stages.similarity.vector_finder import VectorFinder

QUERY = Query("ferries")


def hit(name, score, community=None, **more):
    return Hit(name, score, metadata={} if community is None else {"community": community}, **more)


def scores(hits):
    return [(found.id, found.score if found.score is None else pytest.approx(found.score)) for found in hits]


def test_empty():
    assert CommunitySpread().apply([], QUERY) == []


def test_first_of_each_community():
    hits = [hit("a", 0.9, "x"), hit("b", 0.8, "x"), hit("c", 0.78, "y"), hit("d", 0.5, "y")]
    spread = CommunitySpread().apply(hits, QUERY)
    # a 0.9*1.05 = 0.945, c 0.78*1.05 = 0.819
    assert scores(spread) == [("a", 0.945), ("c", 0.819), ("b", 0.8), ("d", 0.5)]
    assert spread[1].receipts[-1].details == {"community": "y", "first": "c", "multiplier": 1.05}
    assert spread[2].receipts[-1].details == {"community": "x", "first": "a", "multiplier": 1.0}


def test_three_hits_are_too_few():
    hits = [hit("a", 0.9, "x"), hit("b", 0.8, "x"), hit("c", 0.78, "y")]
    assert CommunitySpread().apply(hits, QUERY) == hits
    assert scores(CommunitySpread(min_hits=3).apply(hits, QUERY)) == [("a", 0.945), ("c", 0.819), ("b", 0.8)]


def test_without_a_community_or_a_score_nothing_changes():
    hits = [hit("a", 0.9), hit("b", None, "x"), hit("c", 0.5, "x"), hit("d", 0.0, "y")]
    spread = CommunitySpread().apply(hits, QUERY)
    assert scores(spread) == [("a", 0.9), ("c", 0.525), ("d", 0.0), ("b", None)]
    assert spread[0].receipts == ()
    assert spread[-1].receipts[-1].details == {"note": "no score to adjust"}


def test_the_knowledge_base_fills_in():
    class Library(VectorFinder):
        capabilities = frozenset({Capability.COMMUNITIES})

        def communities(self, ids, *, tenant=None):
            return {key: "from the graph" for key in ids if key != "d"}

    hits = [hit("a", 0.9, "x"), hit("b", 0.8), hit("c", 0.7), hit("d", 0.6)]
    spread = CommunitySpread().apply(hits, QUERY, Library())
    assert scores(spread) == [("a", 0.945), ("b", 0.84), ("c", 0.7), ("d", 0.6)]
    assert spread[1].receipts[-1].details["community"] == "from the graph"


def test_a_knowledge_base_without_communities():
    hits = [hit("a", 0.9), hit("b", 0.8), hit("c", 0.7), hit("d", 0.6)]
    assert CommunitySpread().apply(hits, QUERY, VectorFinder()) == hits


def test_another_field_and_falsy_names():
    hits = [Hit(str(n), 0.5, metadata={"cluster": n % 2}) for n in range(4)]
    spread = CommunitySpread(field="cluster").apply(hits, QUERY)
    assert scores(spread) == [("0", 0.525), ("1", 0.525), ("2", 0.5), ("3", 0.5)]
    assert spread[0].receipts[-1].details["community"] == "0"


def test_a_logit_is_raised_not_lowered():
    hits = [hit(str(n), -4.0, n, scale="logit") for n in range(4)]
    # sigmoid(-4) = 0.01799
    assert CommunitySpread().apply(hits, QUERY)[0].score == pytest.approx(0.0179862 * 1.05)


def test_clamped_only_if_asked():
    hits = [hit(str(n), 1.0, n, scale="unit") for n in range(4)]
    assert {found.score for found in CommunitySpread().apply(hits, QUERY)} == {1.05}
    assert {found.score for found in CommunitySpread(clamp=True).apply(hits, QUERY)} == {1.0}


def test_duplicates_bad_scores_and_parameters():
    assert len(CommunitySpread().apply([hit("a", 1.0, "x")] * 5, QUERY)) == 1
    with pytest.raises(InvalidScore, match="'a'"):
        CommunitySpread().apply([hit("a", float("nan"))], QUERY)
    with pytest.raises(ValidationError, match="multiplier"):
        CommunitySpread(multiplier=0.9)


def test_nothing_is_mutated():
    hits = [hit(str(n), 0.5, n) for n in range(5)]
    before = copy.deepcopy(hits)
    CommunitySpread().apply(hits, QUERY)
    assert hits == before
