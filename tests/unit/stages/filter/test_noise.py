import time

import pytest
import yaml
from pydantic import ValidationError

from hopweave.hit import Hit
from hopweave.query import Query
from hopweave.stages.filter.noise import Noise, NoiseRule, is_noise, noise_rule

QUERY = Query("ferries")
NOISE = {
    "denial": [
        "I don't have any information about that.",
        "I don’t have any information",
        "I'm not sure about the timetable, sorry.",
        "Sorry, I could not find any notes on this.",
        "I do not recall such a ferry.",
        "我没有相关信息",
    ],
    "question_about_memory": [
        "Do you remember what I said about the ferry?",
        "can you recall my last order",
        "did I tell you about the dog?",
        "你还记得我的狗吗",
    ],
    "greeting": ["hello", "Hello!!", "good morning", "thank you", "你好", "안녕하세요"],
    "boilerplate": ["HEARTBEAT", "heartbeat ok", "Fresh session", "New session started at 12:00"],
    "short": ["", "  ", "ok", "abcd", " abcd ", "船"],
}
WORTH_KEEPING = [
    "The Skua sails at noon.",
    "Hello is a greeting used since the nineteenth century",
    "User likes tea",
    "我喜欢茶",
    "heart rate monitor",
    "The session started late because of the fog",
    "JINA_API_KEY",
    "In her memoir the captain writes at length of the winter of 1974. " * 5 + "I don't recall the year, she adds.",
    "abcde",
]


@pytest.mark.parametrize(("text", "rule"), [(text, rule) for rule, texts in NOISE.items() for text in texts])
def test_noise(text, rule):
    assert noise_rule(text) == rule
    assert is_noise(text)


@pytest.mark.parametrize("text", WORTH_KEEPING)
def test_worth_keeping(text):
    assert noise_rule(text) is None
    assert not is_noise(text)


def test_the_stage_keeps_order_and_hits():
    hits = [Hit("a", 0.1, "The Skua sails at noon."), Hit("b", 0.9, "hello"), Hit("c", None, "The Tern is older.")]
    result = Noise().apply(hits, QUERY)
    assert [hit.id for hit in result] == ["a", "c"]
    assert result[0] is hits[0]


def test_rules_are_data():
    text = """
    kind: noise
    min_characters: 0
    extra_rules:
      - {name: small talk, phrases: ["^lovely weather"], max_words: 4}
    """
    stage = Noise.model_validate(yaml.safe_load(text))
    assert stage.rule_for("Lovely weather today!") == "small talk"
    assert stage.rule_for("Lovely weather is rare on the isles") is None
    assert stage.rule_for("hello") == "greeting"
    assert stage.rule_for("ok") is None
    assert Noise(rules=()).rule_for("hello") is None
    assert Noise.model_validate(yaml.safe_load(yaml.safe_dump(stage.model_dump(mode="json")))) == stage


def test_lengths_are_parameters():
    assert Noise(min_characters=10).rule_for("abcdefghi") == "short"
    assert Noise(min_cjk_characters=5).rule_for("我喜欢茶") == "short"


def test_empty_and_duplicates():
    assert Noise().apply([], QUERY) == []
    assert len(Noise().apply([Hit("a", text="abcdef"), Hit("a", text="abcdef")], QUERY)) == 1


def test_bad_configuration():
    with pytest.raises(ValidationError, match="phrases"):
        NoiseRule(name="x", phrases=())
    with pytest.raises(ValidationError, match="min_characters"):
        Noise(min_characters=-1)


@pytest.mark.parametrize("text", ["i don't " * 12_500, "e " * 50_000, "错误" * 50_000, "!" * 100_000])
def test_hostile_text_takes_linear_time(text):
    started = time.process_time()
    is_noise(text)
    assert time.process_time() - started < 2
