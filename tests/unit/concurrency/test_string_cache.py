"""What is kept is computed once, bounded, and invisible to the garbage collector."""

import gc

import pytest

from hopweave.concurrency.once import WORDS_KEPT, string_cache
from hopweave.graph.storage.name_index import phrase_hash
from hopweave.language.terms import content_terms, stemmer
from hopweave.language.words import normalise_name, word_key
from hopweave.storage.strings import string_hash
from hopweave.text.analyzers import _light_stem, analyzer

OF_WORDS = [stemmer("english"), _light_stem, string_hash]


def parts(function):
    return [cell.cell_contents for cell in function.__closure__ if isinstance(cell.cell_contents, dict)]


def known(function):
    return {text: value for part in parts(function) for text, value in part.items()}


def test_each_string_is_asked_once_until_there_are_too_many():
    asked = []
    length = string_cache(4)(lambda text: asked.append(text) or len(text))
    assert [length(text) for text in ("", "a", "a", "bb", "", "ccc", "a", "dddd")] == [0, 1, 1, 2, 0, 3, 1, 4]
    assert asked == ["", "a", "bb", "ccc", "a", "dddd"]  # "" was asked for again in time to be kept
    assert known(length) == {"ccc": 3, "a": 1, "dddd": 4}


def test_strings_that_are_asked_for_often_stay_among_ever_new_ones():
    asked = []
    length = string_cache(10)(lambda text: asked.append(text) or len(text))
    for number in range(100):
        length("ferry")
        length(f"new {number}")
    assert asked.count("ferry") == 1


@pytest.mark.parametrize("function", [normalise_name, word_key, *OF_WORDS])
def test_large_caches_are_passed_over_by_the_garbage_collector(function):
    for number in range(100):
        function(f"name {number}")
        phrase_hash(f"name {number}")
    gc.collect()
    assert len(known(function)) >= 100
    assert not any(map(gc.is_tracked, parts(function)))


@pytest.mark.parametrize("function", OF_WORDS)
def test_words_that_were_never_asked_before_do_not_take_ever_more_memory(function):
    sizes = []
    for number in range(WORDS_KEPT + 100):
        function(f"zq{number}x")
        sizes.append(sum(map(len, parts(function))))
    assert WORDS_KEPT / 2 <= sizes[-1] <= max(sizes) <= WORDS_KEPT <= 10_000


def test_words_of_questions_and_of_passages_share_their_stems():
    content_terms("The ferries of zqsharedx")
    assert "zqsharedx" in known(stemmer("english"))
    assert analyzer("nlp")("zqsharedx ferries") == ["zqsharedx", "ferri"]
