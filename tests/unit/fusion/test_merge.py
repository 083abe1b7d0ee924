import numpy as np

from hopweave.fusion.merge import in_name_order, in_order, sources_by_id
from hopweave.hit import Hit, Receipt


def test_a_repeated_hit_counts_once_per_source():
    lists = in_name_order({"text": [Hit("a", 2.0), Hit("a", 1.0), Hit("b", 1.0)], "graph": [Hit("b")]})
    assert [(hit.id, hit.score) for hit in lists["text"]] == [("a", 2.0), ("b", 1.0)]
    assert sources_by_id(lists) == {"b": ["graph", "text"], "a": ["text"]}


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


def test_the_best_ranked_hit_is_preferred_and_receipts_keep_the_order_of_the_sources():
    text, graph = Receipt("bm25", None, 2.0), Receipt("pagerank", None, 0.1)
    rankings = {
        "graph": [Hit("x"), Hit("a", 0.1, "Ferries.", receipts=(graph,))],
        "text": [Hit("a", 2.0, metadata={"n": 1}, receipts=(text,))],
    }
    fused = Receipt("sum", None, 0.5)
    assert in_order(in_name_order(rankings), {"a": 0.5}, lambda key: fused, None) == [
        Hit("a", 0.5, "Ferries.", {"n": 1}, receipts=(graph, text, fused))
    ]
    rankings = {"graph": rankings["graph"], "text": [Hit("a", 2.0, "Boats.", {"n": 1}, receipts=(text,))]}
    assert in_order(in_name_order(rankings), {"a": 0.5}, lambda key: fused, None)[0].text == "Boats."


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
    assert sources_by_id({}) == {}
    assert in_order({}, {}, lambda key: Receipt(key, None, None), None) == []
