"""What is kept is computed once, bounded, and invisible to the garbage collector."""

import gc

import pytest

from hopweave.graph.storage.tables import phrase_hash
from hopweave.language.string_cache import string_cache
from hopweave.language.words import normalise_name, word_key
from hopweave.text.bm25_index import term_key


def known(function):
    return next(cell.cell_contents for cell in function.__closure__ if isinstance(cell.cell_contents, dict))


def test_each_string_is_asked_once_until_there_are_too_many():
    asked = []
    length = string_cache(2)(lambda text: asked.append(text) or len(text))
    assert [length(text) for text in ("", "a", "a", "bb", "a")] == [0, 1, 1, 2, 1]
    assert asked == ["", "a", "bb", "a"]
    assert known(length) == {"bb": 2, "a": 1}


@pytest.mark.parametrize("function", [normalise_name, word_key, term_key])
def test_large_caches_are_passed_over_by_the_garbage_collector(function):
    for number in range(100):
        function(f"name {number}")
        phrase_hash(f"name {number}")
    gc.collect()
    assert len(known(function)) >= 100
    assert not gc.is_tracked(known(function))
