import pytest
from pydantic import BaseModel, ValidationError

from hopweave.language.phrases import Phrase, PhraseMatcher


@pytest.mark.parametrize(
    ("text", "phrase", "expected"),
    [
        ("the site is down", "down", True),
        ("download it", "down", False),
        ("download it", "down*", True),
        ("shutdown", "down*", False),
        ("How  to\n reset", "how to", True),
        ("step-by-step", "step by step", True),
        ("know how to", "^how to", False),
        ("How to?", "^how to", True),
        ("how tom", "^how to", False),
        ("  OK!! ", "^ok$", True),
        ("ok then", "^ok$", False),
        ("well ok", "ok$", True),
        ("I don’t know", "i don't know", True),
        ("STRASSE", "straße", True),
        ("does it support", "does ... support", True),
        ("does a b c d support", "does ... support", True),
        ("does a b c d e support", "does ... support", False),
        ("does support", "does ... support", False),
        ("support does it", "does ... support", False),
        ("does it supports", "does ... support*", True),
        ("so does it support", "^does ... support", False),
        ("does it support x", "does ... support$", False),
        ("服务器报错了", "报错", True),
        ("报错error了", "error", True),
        ("你好！", "^你好$", True),
        ("你好吗", "^你好$", False),
        ("你好吗", "^你好", True),
        ("用API吗", "用api", True),
        ("", "ok", False),
        ("🎉🎉", "ok", False),
        ("snake_case error_code", "error", False),
    ],
)
def test_phrases_are_whole_words_unless_marked(text, phrase, expected):
    assert PhraseMatcher(text).contains(phrase) is expected


@pytest.mark.parametrize(
    ("text", "count"), [("", 0), ("one two", 2), ("a-b", 2), ("今天天气", 2), ("今天天气好", 3), ("用 API 吗", 2)]
)
def test_two_cjk_characters_count_as_a_word(text, count):
    assert PhraseMatcher(text).word_count == count


def test_has_cjk():
    assert PhraseMatcher("ラーメン").has_cjk
    assert PhraseMatcher("안녕").has_cjk
    assert not PhraseMatcher("naïve ☕").has_cjk


def test_first_said_follows_the_order_of_the_rules():
    assert PhraseMatcher("fix the error").first_match(("error", "fix")) == "error"
    assert PhraseMatcher("fix the error").first_match(("crash",)) is None


def test_a_phrase_without_words_is_refused():
    class Rule(BaseModel):
        phrase: Phrase

    with pytest.raises(ValidationError, match="at least one letter or digit"):
        Rule(phrase="^*$")
