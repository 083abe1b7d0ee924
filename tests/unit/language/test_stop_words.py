"""Stop words of BM25, which are data of the package."""

import bm25s.stopwords
import pytest

from hopweave.language.stop_words import bm25_stop_words

LANGUAGES = (
    "danish dutch english french german italian norwegian portuguese russian spanish swedish turkish".split()  # noqa: SIM905
)


def test_stop_words_by_language():
    assert {"the", "of"} <= bm25_stop_words("english")
    assert {"der", "und"} <= bm25_stop_words("german")
    assert bm25_stop_words("klingon") == frozenset()


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_lists_are_those_of_bm25s(language):
    name = "EN_PLUS" if language == "english" else language.upper()
    assert bm25_stop_words(language) == frozenset(getattr(bm25s.stopwords, f"STOPWORDS_{name}"))
