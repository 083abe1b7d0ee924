import copy
import json

import numpy as np
import pytest
from pydantic import ValidationError

from hopweave.errors import InvalidScore
from hopweave.hit import Hit
from hopweave.query import Query
from hopweave.stages.diversify.mmr import MMR
from hopweave.stages.similarity.vector_finder import VectorFinder

QUERY = Query("ferries")
STRATEGIES = ["mmr", "msd", "dpp", "cover", "ssd"]
every_strategy = pytest.mark.parametrize("strategy", STRATEGIES)


def at(degrees):
    return np.array([np.cos(np.radians(degrees)), np.sin(np.radians(degrees))], np.float32)


def ids(hits):
    return [hit.id for hit in hits]


def values(hits):
    return [pytest.approx(hit.receipts[-1].details["mmr"]) for hit in hits]


@every_strategy
def test_empty_and_one(strategy):
    assert MMR(strategy=strategy).apply([], QUERY) == []
    assert ids(MMR(strategy=strategy).apply([Hit("a", 0.5, vector=at(0))], QUERY)) == ["a"]


def test_by_hand():
    hits = [Hit("a", 0.9, vector=at(0)), Hit("b", 0.8, vector=at(0)), Hit("c", 0.6, vector=at(60))]
    picked = MMR(relevance_weight=0.7).apply(hits, QUERY)
    # a 0.7*0.9 = 0.63; then b 0.56 - 0.3*1 = 0.26, c 0.42 - 0.3*0.5 = 0.27; last b
    assert ids(picked) == ["a", "c", "b"]
    assert values(picked) == [0.63, 0.27, 0.26]
    assert [hit.score for hit in picked] == [0.9, 0.6, 0.8]
    receipt = picked[1].receipts[-1]
    assert (receipt.before, receipt.after) == (0.6, 0.6)
    assert receipt.details["rank"] == 2
    assert receipt.details["relevance"] == pytest.approx(0.6)
    assert receipt.details["vector_from"] == "hit"


def test_similarity_to_all_chosen_not_only_the_last():
    # a is picked, then b; c repeats a, not b, and must still wait for d
    hits = [Hit("a", 1.0, vector=at(0)), Hit("b", 0.9, vector=at(90)), Hit("c", 0.8, vector=at(0)), Hit("d", 0.7)]
    picked = MMR(relevance_weight=0.5).apply(hits, QUERY)
    assert ids(picked) == ["a", "b", "d", "c"]
    assert values(picked) == [0.5, 0.45, 0.35, 0.4 - 0.5]


def test_the_weight():
    hits = [Hit("a", 0.9, vector=at(0)), Hit("b", 0.8, vector=at(1)), Hit("c", 0.1, vector=at(90))]
    assert ids(MMR(relevance_weight=1.0).apply(hits, QUERY)) == ["a", "b", "c"]
    assert ids(MMR(relevance_weight=0.0).apply(hits, QUERY)) == ["a", "c", "b"]


def test_opposite_is_no_better_than_unrelated():
    hits = [Hit("a", 0.9, vector=at(0)), Hit("b", 0.5, vector=at(90)), Hit("c", 0.49, vector=at(180))]
    assert ids(MMR(relevance_weight=0.5).apply(hits, QUERY)) == ["a", "b", "c"]


def test_ties_go_to_the_earlier_hit():
    hits = [Hit(name, 0.5, vector=at(0)) for name in "dbac"]
    assert ids(MMR().apply(hits, QUERY)) == ["d", "b", "a", "c"]


@every_strategy
def test_nothing_is_lost(strategy):
    generator = np.random.default_rng(7)
    hits = [Hit(str(n), float(generator.random()), vector=generator.normal(size=3)) for n in range(12)]
    hits += [Hit("copy", 0.5, vector=hits[0].vector), Hit("bare", 0.4), Hit("bare too", 0.3), Hit("none", None)]
    picked = MMR(strategy=strategy).apply(hits, QUERY)
    assert sorted(ids(picked)) == sorted(ids(hits))
    assert picked[-1].id == "none"
    assert [hit.receipts[-1].details["rank"] for hit in picked] == list(range(1, 17))
    json.dumps([hit.as_dict() for hit in picked], allow_nan=False)


@every_strategy
def test_top_k(strategy):
    hits = [Hit(str(n), 1 - n / 10, vector=at(10 * n)) for n in range(6)] + [Hit("none", None)]
    assert len(MMR(strategy=strategy, top_k=3).apply(hits, QUERY)) == 3
    assert len(MMR(strategy=strategy, top_k=99).apply(hits, QUERY)) == 7
    assert ids(MMR(strategy=strategy, top_k=1).apply([Hit("none", None)], QUERY)) == ["none"]


@pytest.mark.parametrize("strategy", ["mmr", "msd", "dpp", "ssd"])  # cover prefers what stands for many others
def test_a_hit_without_a_vector_counts_as_dissimilar(strategy):
    hits = [Hit("a", 0.9, vector=at(0)), *(Hit(f"copy {n}", 0.8, vector=at(0)) for n in range(3)), Hit("bare", 0.8)]
    assert ids(MMR(strategy=strategy, relevance_weight=0.3).apply(hits, QUERY)).index("bare") <= 1


@pytest.mark.parametrize("strategy", ["msd", "dpp", "cover", "ssd"])
def test_other_strategies_are_pyversitys_own(strategy):
    pyversity = pytest.importorskip("pyversity")
    generator = np.random.default_rng(3)
    rows = generator.normal(size=(20, 5)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    relevance = generator.random(20).astype(np.float32)
    hits = [Hit(str(n), float(relevance[n]), vector=rows[n]) for n in range(20)]
    picked = MMR(strategy=strategy, relevance_weight=0.6, top_k=8).apply(hits, QUERY)
    expected = pyversity.diversify(rows, relevance, k=8, strategy=strategy, diversity=0.4)
    assert ids(picked) == [str(place) for place in expected.indices]
    assert values(picked) == expected.selection_scores.tolist()


def test_relevance_of_unbounded_scores():
    hits = [Hit("a", 20.0, scale="positive", vector=at(0)), Hit("b", 10.0, scale="positive", vector=at(90))]
    assert values(MMR(relevance_weight=1.0).apply(hits, QUERY)) == [1.0, 0.5]
    assert values(MMR(relevance_weight=1.0, relevance="min_max").apply(hits, QUERY)) == [1.0, 0.0]
    small = [Hit("a", 0.03, vector=at(0)), Hit("b", 0.015, vector=at(90))]
    assert values(MMR(relevance_weight=1.0).apply(small, QUERY)) == [0.03, 0.015]
    assert values(MMR(relevance_weight=1.0, relevance="max").apply(small, QUERY)) == [1.0, 0.5]


def test_vectors_of_the_knowledge_base():
    kept = VectorFinder(lambda ids: {"a": at(0), "b": at(0)}, lexical=False)
    hits = [Hit("a", 0.9), Hit("b", 0.8), Hit("c", 0.7)]
    picked = MMR(relevance_weight=0.5).apply(hits, QUERY, kept)
    assert ids(picked) == ["a", "c", "b"]
    assert [hit.receipts[-1].details["vector_from"] for hit in picked] == ["knowledge", None, "knowledge"]


def test_duplicates_bad_scores_and_parameters():
    assert ids(MMR().apply([Hit("a", 1.0), Hit("a", 0.5)], QUERY)) == ["a"]
    with pytest.raises(InvalidScore, match="'a'"):
        MMR().apply([Hit("a", float("nan"))], QUERY)
    for wrong in ({"relevance_weight": 1.1}, {"top_k": 0}, {"strategy": "best"}):
        with pytest.raises(ValidationError, match=next(iter(wrong))):
            MMR(**wrong)


def test_nothing_is_mutated():
    hits = [Hit("a", 0.9, vector=3 * at(0)), Hit("b", 0.8, vector=at(0))]
    before = copy.deepcopy(hits)
    MMR().apply(hits, QUERY)
    assert hits == before
