"""Terms of texts in several scripts."""

import re
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from hopweave.language.terms import content_terms
from hopweave.language.words import UNSPACED


def test_terms_in_several_scripts():
    assert content_terms("Die Fähre nach 東京都, 08") == {"fähre", "東京", "京都", "08"}
    assert content_terms("人々 เรือ 도쿄에") == {"人々", "เร", "รื", "ือ", "도쿄", "쿄에"}
    assert content_terms("FERRIES") == content_terms("ferried") == {"ferri"}
    assert content_terms("Ｆｅｒｒｙ") == {"ferri"}
    assert content_terms("the of and") == content_terms("") == frozenset()
    assert content_terms("the war", frozenset({"the"})) == {"war"}


@given(st.text(st.one_of(st.characters(), st.sampled_from("aé_-\u2013\u00a0\u0301東京 ")), max_size=40))
def test_terms_are_those_of_a_pattern_over_the_whole_text(text):
    folded = unicodedata.normalize("NFKC", text).casefold()
    words = re.findall(rf"[{UNSPACED}]+|[^\W_{UNSPACED}]+", folded)
    expected = set().union(*(content_terms(word) for word in words))
    assert content_terms(text) == expected
    assert all(len(term) <= 2 for word in words if re.match(f"[{UNSPACED}]", word) for term in content_terms(word))
