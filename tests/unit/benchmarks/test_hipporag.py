import math

import networkx as nx
import numpy as np
import pytest
from hipporag import HippoRag, facts_of, phrase_of

A, B = [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]
VECTORS = {
    "skua sails to harris": A,
    "harris lies in hebrides": B,
    "skua": [1.0, 0.0, 0.0],
    "harris": [0.0, 1.0, 0.0],
    "hebrides": [0.0, 0.0, 1.0],
    "mv skua": [0.9, 0.0, math.sqrt(1 - 0.81)],  # cosine 0.9 with "skua", below 0.8 with all others
}
SAILS, LIES = ["Skua", "sails to", "Harris"], ["Harris", "lies in", "Hebrides"]


def embed(texts):
    return np.array([VECTORS.get(text, [0.0, 0.0, 0.0]) for text in texts], np.float32).reshape(-1, 3)


def build(triples, vectors=(A, B)):
    return HippoRag(["a", "b"], np.array(vectors, np.float32), triples, embed)


@pytest.fixture
def graph():
    return build({"a": [SAILS], "b": [LIES]})


def test_phrases_keep_latin_letters_and_digits_only():
    assert phrase_of(" St. Louis-2 ") == "st  louis 2"
    assert phrase_of("北京") == ""


def test_what_is_no_triple_is_left_out():
    assert facts_of({"a": [SAILS, ["x", "y"], ["", "is", "y"], ["x", None, "y"]]}) == {
        "a": [("skua", "sails to", "harris")]
    }


def test_facts_count_twice_and_passages_once(graph):
    assert graph.edges == {
        ("harris", "skua"): 2.0,
        ("harris", "hebrides"): 2.0,
        ("skua", "a"): 1.0,
        ("harris", "a"): 1.0,
        ("harris", "b"): 1.0,
        ("hebrides", "b"): 1.0,
    }


def test_a_fact_counts_for_every_passage_that_says_it():
    assert build({"a": [SAILS], "b": [SAILS]}).edges["harris", "skua"] == 2 * 2.0


def test_similar_names_are_connected_by_twice_their_cosine():
    edges = build({"a": [SAILS], "b": [["MV Skua", "is", "Hebrides"]]}).edges
    assert edges["mv skua", "skua"] == pytest.approx(2 * 0.9)


def test_a_similarity_takes_the_place_of_a_fact():
    edges = build({"a": [["Skua", "is", "MV Skua"]], "b": [LIES]}).edges
    assert edges["mv skua", "skua"] == pytest.approx(2 * 0.9)  # not 2 + 2 · 0.9


def test_entities_are_linked_through_facts(graph):
    # cosines 1 and 0 stay 1 and 0; Harris is in two facts and two passages: (1/2 + 0/2) / 2
    assert graph.linked(np.array(A, np.float32)) == [("skua", 1.0), ("harris", 0.25), ("hebrides", 0.0)]


def test_passages_rank_by_a_walk_from_entities_and_passages(graph):
    starts = {"skua": 1.0, "harris": 0.25, "hebrides": 0.0, "a": 0.05 * 1.0, "b": 0.05 * 0.0}
    network = nx.Graph()
    network.add_weighted_edges_from((one, other, weight) for (one, other), weight in graph.edges.items())
    expected = nx.pagerank(network, alpha=0.5, personalization=starts, tol=1e-12)
    found = graph.rank(np.array(A, np.float32), top_k=5)
    assert [key for key, _ in found] == ["a", "b"]
    assert dict(found) == pytest.approx({"a": expected["a"], "b": expected["b"]}, abs=1e-6)


def test_without_facts_passages_rank_by_their_vectors():
    bare = build({}, vectors=([0.6, 0.8, 0.0], A))
    assert [key for key, _ in bare.rank(np.array(A, np.float32), top_k=1)] == ["b"]
