import numpy as np

from hopweave.fusion.merge import in_name_order, in_order, merged, occurrences
from hopweave.hit import Hit, Receipt


def test_a_repeated_hit_counts_once_per_source():
    found = occurrences({"text": [Hit("a", 2.0), Hit("a", 1.0), Hit("b", 1.0)]})
    assert [(one.rank, one.hit.score) for one in found["a"]] == [(1, 2.0)]
    assert [one.rank for one in found["b"]] == [2]


def test_what_the_best_source_left_out_comes_from_the_next():
    vector = np.array([1.0], np.float32)
    rich = Hit("a", 0.1, "Ferries.", {"type": "log"}, vector, origin="node")
    lists = in_name_order({"graph": [Hit("a", 0.9, metadata={"type": "graph"})], "text": [Hit("x"), rich]})
    hit = in_order(lists, {"a": 0.5}, lambda key: Receipt("sum", None, 0.5), "unit")[0]
    assert (hit.id, hit.score, hit.text, hit.metadata, hit.origin) == ("a", 0.5, "Ferries.", {"type": "graph"}, "node")
    assert hit.vector is vector
    assert hit.scale == "unit"


def test_the_receipts_of_all_sources_are_kept_without_repetition():
    text, graph = Receipt("bm25", None, 2.0), Receipt("pagerank", None, 0.1)
    lists = in_name_order({"text": [Hit("a", receipts=(text,))], "graph": [Hit("a", receipts=(text, graph))]})
    fused = Receipt("sum", None, 0.5)
    assert in_order(lists, {"a": 0.5}, lambda key: fused, None)[0].receipts == (text, graph, fused)


def test_merged_prefers_the_hit_it_is_asked_to_and_keeps_the_order_of_receipts():
    text, graph = Receipt("bm25", None, 2.0), Receipt("pagerank", None, 0.1)
    first, second = Hit("a", 2.0, "Ferries.", receipts=(text,)), Hit("a", 0.1, metadata={"n": 1}, receipts=(graph,))
    assert merged(first, second) == Hit("a", 2.0, "Ferries.", {"n": 1}, receipts=(text, graph))
    assert merged(first, second, prefer_second=True) == Hit("a", 0.1, "Ferries.", {"n": 1}, receipts=(text, graph))
    assert merged(first, Hit("a", 0.5, "Boats.")) is first


def test_order_by_score_then_best_rank_then_id_and_none_last():
    lists = in_name_order({"text": [Hit("z"), Hit("c"), Hit("n")], "vector": [Hit("b"), Hit("a"), Hit("m")]})
    scores = {"z": 0.5, "c": 0.5, "b": 0.5, "a": 0.5, "n": None, "m": None}
    asked = []

    def receipt(key):
        asked.append(key)
        return Receipt("same", None, scores[key])

    assert [hit.id for hit in in_order(lists, scores, receipt, None)] == ["b", "z", "a", "c", "m", "n"]
    asked.clear()
    assert [hit.id for hit in in_order(lists, scores, receipt, None, 5)] == asked == ["b", "z", "a", "c", "m"]


def test_empty():
    assert occurrences({}) == {}
    assert in_order({}, {}, lambda key: Receipt(key, None, None), None) == []
