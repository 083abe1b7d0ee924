import pytest

from hopweave.language.words import spans, word_key, word_string, words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("  ...  ", []),
        ("one", ["one"]),
        ("I'Ll be", ["I", "Ll", "be"]),
        ("Saxe- Weimar", ["Saxe", "Weimar"]),
        ("snake_case", ["snake", "case"]),
        ("C++ and C# and issue #5", ["C++", "and", "C#", "and", "issue", "5"]),
        ("Łódź", ["Łódź"]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),  # vowel signs belong to the word
        ("東京タワー", ["東", "京", "タ", "ワ", "ー"]),
        ("서울은", ["서", "울", "은"]),
        ("القاهرة", ["القاهرة"]),
        ("ＮＡＳＡ", ["NASA"]),  # NFKC
    ],
)
def test_words(text, expected):
    assert words(text) == expected


def test_a_decomposed_accent_is_the_composed_one():
    assert word_key("Ame\u0301lie") == word_key("Am\u00e9lie")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("St. Louis", "St Louis"),
        ("O’Brien", "O'Brien"),
        ("Person - centered therapy", "Person-centered therapy"),
        ("THE BEATLES", "Beatles"),
        ("Straße", "STRASSE"),
    ],
)
def test_spellings_of_one_name(one, other):
    assert word_key(one) == word_key(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("北京", "東京"), ("C", "C++"), ("C#", "C++"), ("The Who", "Who"), ("कि", "की"), ("!!!", "???"), ("Łódź", "Lodz")],
)
def test_names_that_stay_distinct(one, other):
    assert word_key(one) != word_key(other)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        ("Home. Away", "Home . Away"),
        ("to St. Louis and J. Smith", "to St Louis and J Smith"),
        ("Why? Because!", "Why . Because ."),
        ("東京。大阪", "東 京 . 大 阪"),
        ("# Ferries\n\nThe Skua", "Ferries . The Skua"),
        ("wrapped\nline", "wrapped line"),
    ],
)
def test_word_string(text, expected):
    assert word_string(text) == expected


def test_spans_point_into_the_text():
    text = "The MV Skua's crew"
    assert [text[begin:end] for _, begin, end in spans(text)] == [word for word, _, _ in spans(text)]
