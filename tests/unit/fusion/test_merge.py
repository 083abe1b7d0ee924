import numpy as np

from hopweave.fusion.merge import gathered, in_order, merged
from hopweave.hit import Hit, Receipt


def test_gathered_counts_a_hit_once_per_source():
    found = gathered({"text": [Hit("a", 2.0), Hit("a", 1.0), Hit("b", 1.0)]})
    assert [(one.rank, one.hit.score) for one in found["a"]] == [(1, 2.0)]
    assert [one.rank for one in found["b"]] == [2]


def test_what_the_best_source_left_out_comes_from_the_next():
    vector = np.array([1.0], np.float32)
    rich = Hit("a", 0.1, "Ferries.", {"type": "log"}, vector, origin="node")
    found = gathered({"graph": [Hit("a", 0.9, metadata={"type": "graph"})], "text": [Hit("x"), rich]})
    hit = merged(found["a"], Receipt("sum", None, 0.5), "unit")
    assert (hit.id, hit.score, hit.text, hit.metadata, hit.origin) == ("a", 0.5, "Ferries.", {"type": "graph"}, "node")
    assert hit.vector is vector
    assert hit.scale == "unit"


def test_receipts_of_all_sources_stay_each_told_once():
    text, graph = Receipt("bm25", None, 2.0), Receipt("pagerank", None, 0.1)
    found = gathered({"text": [Hit("a", receipts=(text,))], "graph": [Hit("a", receipts=(text, graph))]})
    fused = Receipt("sum", None, 0.5)
    assert merged(found["a"], fused, None).receipts == (text, graph, fused)


def test_order_by_score_then_best_rank_then_id_and_none_last():
    found = gathered({"text": [Hit("z"), Hit("c"), Hit("n")], "vector": [Hit("b"), Hit("a"), Hit("m")]})
    scores = {"z": 0.5, "c": 0.5, "b": 0.5, "a": 0.5, "n": None, "m": None}
    receipts = {key: Receipt("same", None, score) for key, score in scores.items()}
    assert [hit.id for hit in in_order(found, receipts, None)] == ["b", "z", "a", "c", "m", "n"]


def test_empty():
    assert gathered({}) == {}
    assert in_order({}, {}, None) == []
