import pytest

from hopweave.graph.phrases import WordTable, find_names
from hopweave.graph.words import word_string


def occurrences(texts, names):
    table = WordTable.of([word_string(text) for text in texts])
    found = find_names(table, names)
    return sorted((names[name], text) for name, text in zip(found.names.tolist(), found.texts.tolist(), strict=True))


def test_nothing_in_nothing():
    assert occurrences([], []) == []
    assert occurrences(["", ""], ["skua"]) == []
    assert occurrences(["aboard the Skua"], []) == []


def test_whole_words_only():
    assert occurrences(["Yorkshire and New Yorker"], ["york", "new york"]) == []


def test_longest_of_those_that_start_together():
    assert occurrences(["in New York City"], ["new york", "new york city", "new"]) == [("new york city", 0)]


def test_falls_back_to_the_shorter_when_the_longer_breaks_off():
    assert occurrences(["in New York state"], ["new york city", "new york"]) == [("new york", 0)]


def test_leftmost_wins_an_overlap():
    assert occurrences(["red sea port"], ["sea port", "red sea"]) == [("red sea", 0)]


def test_a_name_ends_with_its_text_and_its_sentence():
    assert occurrences(["to London", "Bridge of Harris"], ["london bridge"]) == []
    assert occurrences(["She left London. Bridge builders came."], ["london bridge"]) == []


def test_every_place_is_found():
    assert occurrences(["Skua, Skua", "the skua"], ["skua"]) == [("skua", 0), ("skua", 0), ("skua", 1)]


@pytest.mark.parametrize(
    ("text", "name"),
    [("昨日東京都で", "東 京"), ("서울은 크다", "서 울"), ("في القاهرة اليوم", "القاهرة"), ("w Łodzi i Łódź", "łódź")],
)
def test_other_scripts(text, name):
    assert occurrences([text], [name]) == [(name, 0)]


def test_agrees_with_a_slow_search():
    names = ["a", "a b", "b c", "c", "b c d", "d a"]
    texts = ["a b c d a", "b c a b", "d d a a b c d", "c"]

    def slow(words):
        position, found = 0, []
        while position < len(words):
            best = max(
                (n for n in names if words[position : position + n.count(" ") + 1] == n.split(" ")),
                key=len,
                default=None,
            )
            found += [best] if best else []
            position += best.count(" ") + 1 if best else 1
        return found

    assert occurrences(texts, names) == sorted(
        (name, at) for at, text in enumerate(texts) for name in slow(text.split())
    )


def test_common_words_are_those_written_small_more_often():
    # film: small twice, capital inside a sentence once; harris: capital only; sentence starts do not count
    table = WordTable.of(["Film and film . Harris saw a Film", "film in Harris"])
    assert {"film", "and", "saw", "a", "in"} == table.common_words()
