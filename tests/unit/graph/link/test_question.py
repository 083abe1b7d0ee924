import time

import pytest

from hopweave.graph.link.question import read_question


def read(text, max_words=100):
    return read_question(text, max_words)


def names(text):
    asked = read(text)
    return [asked.surface(*place) for place in asked.names]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", []),
        ("how does it work?", []),
        ("How does it work?", []),
        ("Where did Coulson Wallop's father study?", ["Coulson Wallop"]),
        ("Which is older, God'S Gift To Women or Skua?", ["God'S Gift To Women", "Skua"]),
        ('who sang "thinking out loud"?', ["thinking out loud"]),
        ("Harris is where?", ["Harris"]),
        ("谁写了《红楼梦》？", ["红楼梦"]),
        ("Was it in May?", []),
        ("ＮＡＳＡ的数据在哪里？", ["NASA"]),
        ("『ノルウェイの森』とピーター・キャットは？", ["ノルウェイの森", "ピーター・キャット"]),
    ],
)
def test_names(text, found):
    assert names(text) == found


def test_what_may_be_a_name():
    asked = read("Who are The Who of A in May 水 skua")
    #             0   1   2   3   4  5 6  7   8  9
    assert [asked.may_name(word, word + 1) for word in range(10)] == [False] * 9 + [True]
    assert asked.may_name(2, 4)
    assert not asked.may_name(0, 2)  # the start of the question has a capital anyway
    assert asked.may_name(7, 9)


def test_likelihood_follows_the_way_of_writing():
    asked = read("which rugby union club did Skua own in 1974")
    #             0     1     2     3    4   5    6   7  8
    assert asked.likelihood(5, 6) == 1.0
    assert asked.likelihood(3, 4) == 0.2
    assert asked.likelihood(1, 3) == 0.5
    assert asked.likelihood(8, 9) == 0.25


def test_without_capitals_small_letters_say_nothing():
    assert read("where is harris").likelihood(2, 3) == 1.0
    assert read("東京はどこ").likelihood(0, 2) == 1.0


def test_names_that_are_shown_are_not_all_names_of_a_script_without_capitals():
    asked = read("Sonyの盛田昭夫は")
    #             0   1 2 3 4 5 6
    assert asked.coverage([0, 0, 1, 1, 1, 1, 0]) == pytest.approx((4 / 7) ** 0.5)
    assert asked.coverage([1, 0, 0, 0, 0, 0, 0]) == 1.0
    assert asked.coverage([0] * 7) == 0.0
    assert read("Did Sony hire Akio?").coverage([0, 0, 0, 1]) == 0.5


def test_in_a_script_without_spaces_only_names_that_are_shown_are_compared_with_others():
    assert read("北京大学在哪里").unlinked(set()) == []
    assert read("「北京大学」在哪里").unlinked(set()) == [(0, 4)]


def test_unlinked_spans():
    asked = read("Did Ann Lee meet Bob Smith?")
    #             0   1   2   3    4   5
    assert asked.unlinked(set()) == [(1, 3), (4, 6)]
    assert asked.unlinked({1, 2}) == [(4, 6)]
    assert asked.unlinked({5}) == [(1, 3), (4, 5)]
    assert read("where is harris port").unlinked(set()) == [(2, 4)]


def test_coverage_is_the_mean_over_the_words_of_names():
    asked = read("Did Ann Lee meet Bob?")
    assert asked.coverage([0, 1.0, 1.0, 0, 0.5]) == pytest.approx((1 + 1 + 0.5) / 3)
    assert asked.coverage([0] * 5) == 0.0


def test_coverage_without_names():
    asked = read("where is harris port")  # two content words
    assert asked.coverage([0, 0, 1.0, 0]) == pytest.approx((1 / 2) ** 0.5)
    assert read("where is it").coverage([0, 0, 0]) == 0.0


def test_a_long_question_is_cut():
    assert len(read("word " * 1000, 50).words) == 50
    started = time.process_time()
    read_question("A. " * 33_000, 400)
    assert time.process_time() - started < 2
