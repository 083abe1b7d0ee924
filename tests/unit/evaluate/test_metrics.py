from math import log2

import pytest

from hopweave.evaluate.metrics import DEFAULT_MEASURES, depth, score_each

from .conftest import judged

ALL = ("precision@4", "recall@2", "recall@4", "all_gold@3", "all_gold@4", "mrr@4", "mrr@1", "ndcg@4")


def test_by_hand():
    # gold a and b stand at places 2 and 4
    found = score_each(judged(q="ab"), ["xayb"], ALL)
    gain = 1 / log2(1 + 2) + 1 / log2(1 + 4)
    best = 1 / log2(1 + 1) + 1 / log2(1 + 2)
    assert {name: value for name, (value,) in found.items()} == {
        "precision@4": 2 / 4,
        "recall@2": 1 / 2,
        "recall@4": 2 / 2,
        "all_gold@3": 0,
        "all_gold@4": 1,
        "mrr@4": 1 / 2,
        "mrr@1": 0,
        "ndcg@4": pytest.approx(gain / best),
    }


def test_one_value_per_query_in_their_order():
    found = score_each(judged(first="a", second="b", third="c"), ["ab", "ab", "ab"], ["mrr@10", "recall@1"])
    assert found == {"mrr@10": (1.0, 0.5, 0.0), "recall@1": (1.0, 0.0, 0.0)}


def test_nothing_found_is_zero_everywhere():
    assert score_each(judged(q="ab", r="c"), ["", "c"], ["recall@5", "ndcg@5"]) == {
        "recall@5": (0.0, 1.0),
        "ndcg@5": (0.0, 1.0),
    }


def test_more_gold_than_the_cut_can_hold():
    # 3 gold, 2 places: the best possible recall@2 is 2/3, the best possible nDCG@2 is 1
    assert score_each(judged(q="abc"), ["abc"], ["recall@2", "ndcg@2", "all_gold@2"]) == {
        "recall@2": (pytest.approx(2 / 3),),
        "ndcg@2": (1.0,),
        "all_gold@2": (0.0,),
    }


def test_a_class_counts_once_where_the_first_of_its_ids_stands():
    # b at 2 satisfies the class; c at 3 takes its place and counts nothing; d is at 4
    found = score_each(judged(q=[["c", "b"], "d"]), ["xbcd"], ALL)
    assert (found["recall@2"], found["all_gold@3"], found["all_gold@4"], found["mrr@4"]) == (
        (0.5,),
        (0.0,),
        (1.0,),
        (0.5,),
    )


def test_strict_judging_counts_the_first_id_of_a_class_only():
    # c stands at 3, b is as wrong as x
    found = score_each(judged(q=[["c", "b"], "d"]), ["xbcd"], ALL, judging="strict")
    assert (found["recall@2"], found["all_gold@4"], found["mrr@4"]) == ((0.0,), (1.0,), (1 / 3,))


def test_an_id_twice_in_a_ranking_counts_once():
    assert score_each(judged(q="ab"), ["aab"], ["recall@2", "recall@3"]) == {"recall@2": (0.5,), "recall@3": (1.0,)}


def test_without_gold_classes_strict_is_the_same():
    queries = judged(q="ab", r="c")
    assert score_each(queries, ["bca", "cab"], judging="strict") == score_each(queries, ["bca", "cab"])


def test_no_queries_no_values():
    assert score_each([], [], ["recall@5"]) == {"recall@5": ()}


@pytest.mark.parametrize("name", ["recall", "recall@0", "recall@-1", "recall@x", "accuracy@5", "", "R@5", "recall@5 "])
def test_unknown_measures(name):
    with pytest.raises(ValueError, match=r"measure: .* there are recall@K, precision@K, all_gold@K, mrr@K, ndcg@K"):
        depth(name)
    with pytest.raises(ValueError, match="measure: "):
        score_each(judged(q="a"), ["a"], [name])


def test_unknown_judging():
    with pytest.raises(ValueError, match="judging: 'lenient' is not allowed: there are classes and strict"):
        score_each(judged(q="a"), ["a"], judging="lenient")


def test_every_query_needs_a_ranking():
    with pytest.raises(ValueError, match="zip"):
        score_each(judged(q="a", r="b"), ["a"])


def test_depth_of_the_usual_measures():
    assert [depth(name) for name in DEFAULT_MEASURES] == [5, 10, 10, 10, 10]


def test_without_the_library_it_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "ir_measures", None)
    with pytest.raises(Exception, match=r"ir-measures is not installed; run: pip install 'hopweave\[measure\]'"):
        score_each(judged(q="a"), ["a"])
