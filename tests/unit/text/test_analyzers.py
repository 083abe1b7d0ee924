import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopweave.text.analyzers import (
    analyse_code,
    analyse_light,
    analyzer,
    check_analyzer,
    stem_of,
    tokenize,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" ?! ", []),
        ("The 08:30 ferry", ["the", "08", "30", "ferry"]),
        ("snake_case", ["snake_case"]),
        ("Die Fähre", ["die", "fähre"]),
        ("caf\u0065\u0301s", ["cafés"]),  # the accent written after its letter
        ("ＦＥＲＲＹ", ["ferry"]),  # full-width letters
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),  # vowel signs are no letters, but part of the word
        ("東京都へ", ["東京", "京都", "都へ"]),
        ("東", ["東"]),
        ("v2東京abc", ["v2", "東京", "abc"]),
        ("한국어 검색", ["한국어", "검색"]),
    ],
)
def test_words(text, expected):
    assert tokenize(text) == expected


@given(st.text(st.characters(categories=["L", "M", "N", "Zs", "P"]), max_size=40))
def test_the_same_text_has_the_same_words_however_its_accents_are_written(text):
    assert tokenize(unicodedata.normalize("NFC", text)) == tokenize(unicodedata.normalize("NFD", text))


def test_natural_language_leaves_out_stop_words_and_stems():
    assert analyzer("nlp")("The ferries were running to the harbours") == ["ferri", "run", "harbour"]
    assert analyzer("nlp") is analyzer("nlp")
    assert analyzer("nlp:english")("ferries") == ["ferri"]
    assert analyzer("nlp:german")("Die Fähren fahren nach Häfen") == ["fahr", "fahr", "haf"]
    assert analyzer("nlp:finnish")("laivat")  # no stop words of that language, but stems


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("getUserName", ["getusername", "get", "user", "name"]),
        ("HTTPServer", ["httpserver", "http", "server"]),
        ("MAX_LEVEL", ["max_level", "max", "level"]),
        ("os.path.join", ["os.path.join", "os", "path", "join"]),
        ("well-known", ["well-known", "well", "known"]),
        ("_private", ["_private", "private"]),
        ("__init__", ["__init__", "init"]),
        ("utf8", ["utf8", "utf", "8"]),
        ("2fa", ["2fa", "2", "fa"]),
        ("ferry", ["ferry"]),
        ("Ferry", ["ferry"]),
        ("x = y.z;", ["x", "y.z", "y", "z"]),
        ("", []),
        ("+-*/", []),
    ],
)
def test_code_keeps_the_whole_and_adds_the_parts(text, expected):
    assert analyse_code(text) == expected


@pytest.mark.parametrize(
    ("word", "stem"),
    [
        ("navigation", "navig"),  # ation, not tion: the longest comes off
        ("station", "sta"),  # ation would leave two letters, tion leaves three
        ("nation", "nation"),  # tion would leave two
        ("harmless", "harm"),
        ("readable", "read"),
        ("faster", "fast"),
        ("fastest", "fast"),
        ("quickly", "quick"),
        ("ability", "abil"),
        ("sing", "sing"),
        ("running", "runn"),
        ("ferry", "ferry"),
    ],
)
def test_light_takes_off_the_longest_suffix_and_leaves_three_letters(word, stem):
    assert analyse_light(word) == [stem]


def test_light_keeps_stop_words():
    assert analyse_light("To be or not") == ["to", "be", "or", "not"]


@pytest.mark.parametrize("name", ["nlp", "nlp:german", "code", "light"])
def test_known_names_pass(name):
    assert check_analyzer(name) == name


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("klingon", "analyzer 'klingon' is unknown; allowed are code, light, nlp"),
        ("nlp:klingon", "analyzer language 'klingon' is unknown; allowed are .*german"),
        ("nlp:", "analyzer language '' is unknown"),
        ("code:python", "analyzer 'code:python' is unknown"),
        ("", "analyzer '' is unknown"),
    ],
)
def test_unknown_names_say_what_is_allowed(name, message):
    with pytest.raises(ValueError, match=message):
        check_analyzer(name)
    with pytest.raises(ValueError, match=message):
        analyzer(name)


def test_stems_follow_the_language_even_where_the_analyzer_does_not_stem():
    assert stem_of("code")("crashes") == "crash"
    assert stem_of("nlp")("crashes") == "crash"
    assert stem_of("nlp:german")("fähren") == "fahr"


@pytest.mark.parametrize("name", ["nlp", "code", "light"])
@pytest.mark.parametrize("hostile", ["a" + "." * 100_000, "a-" * 50_000, "aA" * 50_000, "_" * 100_000, "東" * 100_000])
def test_hostile_text_takes_linear_time(name, hostile):
    analyse = analyzer(name)
    started = time.process_time()
    analyse(hostile)
    assert time.process_time() - started < 2


@pytest.mark.parametrize("name", ["nlp", "code", "light"])
@given(text=st.text(max_size=80))
def test_any_text_gives_lower_case_terms_and_the_same_every_time(name, text):
    terms = analyzer(name)(text)
    assert all(terms)
    assert terms == analyzer(name)(text)
