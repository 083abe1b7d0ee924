import pytest

from hopweave.fusion.diagnostics import Observation, diagnose
from hopweave.fusion.reciprocal_rank import ReciprocalRank
from hopweave.hit import Hit
from hopweave.query import Query


def observation(relevant=None, **rankings):
    return Observation(
        Query("ferries"), {name: [Hit(key) for key in keys.split()] for name, keys in rankings.items()}, relevant
    )


def report(*observations, top_k=2):
    return diagnose(observations, ReciprocalRank(), top_k=top_k)


def pair(*observations):
    return report(*observations).pairs[0]


def test_identical_rankings_correlate_fully():
    found = pair(observation(text="a b c", vector="a b c"))
    assert (found.first, found.second, found.correlation, found.overlap) == ("text", "vector", 1.0, 1.0)


def test_reversed_rankings():
    assert pair(observation(text="a b c", vector="c b a")).correlation == -1.0


def test_what_a_source_did_not_find_stands_last():
    # over a b c: text 0 1 2, vector 0 2 1: ab and ac agree, bc disagrees: (2 - 1) / 3
    found = pair(observation(text="a b", vector="a c"))
    assert found.correlation == pytest.approx(1 / 3)
    assert found.overlap == pytest.approx(1 / 3)


def test_disjoint_rankings():
    # over a b c d: text 0 1 2 2, vector 2 2 0 1; the four crossing pairs disagree, ab and cd are tied in one list
    # each: -4 / sqrt(5 · 5)
    found = pair(observation(text="a b", vector="c d"))
    assert found.correlation == pytest.approx(-4 / 5)
    assert found.overlap == 0.0


def test_mean_over_the_questions_where_both_found_something():
    found = pair(
        observation(text="a b c", vector="a b c"),
        observation(text="a b c", vector="c b a"),
        observation(text="a b c", vector=""),
        observation(text="a b c"),
    )
    assert found.correlation == 0.0
    assert found.overlap == 1.0


def test_one_common_hit_has_no_correlation():
    assert pair(observation(text="a", vector="a")).correlation is None


def test_hits_and_alone():
    sources = {one.name: one for one in report(observation(text="a b c", vector="a x"), observation(text="q")).sources}
    assert (sources["text"].hits, sources["vector"].hits) == (4 / 2, 2 / 2)
    assert sources["text"].alone == pytest.approx(3 / 4)  # b, c, q of a, b, c, q
    assert sources["vector"].alone == pytest.approx(1 / 2)


def test_leave_one_out():
    # fused with both: a, then b and x tie by rank: b (2nd in text), x (2nd in vector), smaller id first: a b
    found = report(observation({"a", "x"}, text="a b", vector="a x"))
    assert found.recall == 1 / 2
    adds = {one.name: one.adds for one in found.sources}
    assert adds == {"text": 1 / 2 - 1, "vector": 1 / 2 - 1 / 2}
    assert found.redundant == ("text", "vector")


def test_a_copy_of_a_source_adds_nothing():
    found = report(
        observation({"a", "b"}, bm25="a b", copy="a b", vector="x y"),
        observation({"x"}, bm25="q", copy="q", vector="x"),
    )
    adds = {one.name: one.adds for one in found.sources}
    assert adds["vector"] > 0
    assert found.pairs[0].correlation == 1.0


def test_unjudged_questions_have_no_recall():
    found = report(observation(text="a b", vector="a"), observation(set(), text="a", vector="b"))
    assert (found.judged, found.recall) == (0, None)
    assert all(one.adds is None for one in found.sources)
    assert found.redundant == ()
    assert "–" in str(found)


def test_a_single_source():
    found = report(observation({"a"}, text="a b"))
    assert found.pairs == ()
    assert found.sources[0].adds == 1.0
    assert "pair" not in str(found)


def test_nothing():
    found = report()
    assert (found.questions, found.sources, found.pairs) == (0, (), ())
    assert str(found).startswith("questions 0, judged 0")


def test_the_table_lines_up():
    text = str(report(observation({"a"}, text="a b", intent_edges="c d")))
    lines = text.splitlines()
    assert lines[0] == "questions 1, judged 1, recall@2 1.000"
    assert len({len(line) for line in lines[1:4]}) == 1
    assert len({len(line) for line in lines[4:]}) == 1


def test_bad_top_k():
    with pytest.raises(ValueError, match="top_k: 0 is not allowed"):
        report(observation(text="a"), top_k=0)


def test_subsets_show_that_two_sources_beat_three():
    good = {"text": [Hit("a"), Hit("x")], "vector": [Hit("b"), Hit("y")]}
    noise = {"noise": [Hit("z"), Hit("x"), Hit("y")]}
    report = diagnose([Observation(Query("?"), good | noise, {"a", "b"})], ReciprocalRank(), top_k=2)
    recalls = {one.sources: one.recall for one in report.subsets}
    assert recalls[("text", "vector")] == 1.0
    assert recalls[("noise", "text", "vector")] < 1.0
    assert len(recalls) == 7
    assert report.best_subset.sources == ("text", "vector")
    assert recalls[("noise", "text", "vector")] == report.recall


def test_of_many_sources_only_small_and_large_subsets():
    rankings = {f"s{number}": [Hit("a")] for number in range(9)}
    report = diagnose([Observation(Query("?"), rankings, {"a"})], ReciprocalRank())
    assert {len(one.sources) for one in report.subsets} == {1, 2, 8, 9}
    assert report.best_subset.sources == ("s0",)  # as good as all of them


def test_without_judgements_there_are_no_subsets():
    report = diagnose([Observation(Query("?"), {"text": [Hit("a")]})], ReciprocalRank())
    assert report.subsets == ()
    assert report.best_subset is None
