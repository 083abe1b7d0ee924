import time

import pytest
import yaml
from pydantic import ValidationError

from hopweave.routing.gate import Gate, GateRule

SKIPPED = {
    "greeting": [
        "hi",
        "Hello!",
        "hey there",
        "Good morning",
        "good  evening…",
        "What's up?",
        "How are you?",
        "thank you very much",
        "你好",
        "早上好！",
        "こんにちは",
        "안녕하세요",
        "ok, thanks!",
        "Guten Morgen",
        "Bonjour !",
        "¡Hola!",
        "Gracias",
        "Спасибо",
        "have a nice day",
    ],
    "slash_command": ["/help", "/search for ferries in the outer isles", "/"],
    "shell_program": [
        "git status",
        "git push origin main --force-with-lease",
        "npm install",
        "docker ps -a",
        "kubectl get pods -n ferries",
        "sudo systemctl restart nginx",
        "pip install hopweave",
        "make test",
        "python -m pytest tests",
    ],
    "shell_verb": ["run the tests", "build it", "test", "Deploy to staging now"],
    "affirmation": ["yes", "No.", "OK", "ok?", "sure thing", "sounds good!", "好的", "是的。", "はい", "네"],
    "continuation": ["go ahead", "Continue", "please proceed", "继续", "続けて"],
    "emoji": ["👍", "🎉🎉 🎉", "👨‍👩‍👧", "🇬🇧", "1️⃣", "❤️"],
    "no_words": ["", "   ", "...", "???", "!?!?!?!?!?!?!?!?!?!?"],
    "system": ["HEARTBEAT", "HEARTBEAT ok 12:00 all systems fine", "[System: the session has been resumed]"],
    "small_talk": ["hmm", "lol", "oh well", "never mind", "that one", "the second one", "both", "2", "12."],
    "chat_command": ["help", "Cancel", "undo", "reset"],
    "short": ["x", "é", "船"],
}
RETRIEVED = {
    None: [
        "error 4711",
        "refund policy",
        "kubernetes",
        "ferry",
        "API costs",
        "config.py",
        "x.io/a?b=c",
        "E4107",
        "S3",
        "2027",
        "SSO",
        "help desk",
        "first aid",
        "good morning tea",
        "thanks giving",
        "back pain",
        "红色的",
        "赤い船",
        "退款",
        "Rückgabe",
        "What is RRF?",
        "why?",
        "who sails",
        "where to?",
        "the ferry to the outer isles",
        "git rebase vs merge: which is better?",
        "how do I undo a git commit",
        "Run times of the winter ferries between the isles",
        "build pipeline of the data team and its owners",
        "Hello, when does the ferry leave?",
        "yes, but what about the winter timetable",
        "def add(a, b): return a + b",
        "https://example.com/ferries?year=1974",
        "👍 for the new timetable, show it",
        "渡船什么时候开",
        "船在哪？",
        "最近的渡轮时刻表",
        "フェリーの時刻表を見せて",
        "누구?",
        "a heartbeat monitor for servers",
    ],
    "memory": [
        "remember this",
        "do you recall",
        "I forgot",
        "memory",
        "/remember the milk",
        "你记得吗",
        "你還記得我嗎",
        "覚えてる？",
        "기억나?",
    ],
    "past": ["as before", "last time", "run it like previously", "之前", "上次呢", "前回", "지난번"],
    "personal": ["my name", "hi, my email", "My preferences", "我的名字", "私の名前", "내 이름"],
}
CASES = [(text, False, rule) for rule, texts in SKIPPED.items() for text in texts] + [
    (text, True, rule) for rule, texts in RETRIEVED.items() for text in texts
]


def test_the_table_is_large_enough():
    assert len({text for text, _, _ in CASES}) == len(CASES) >= 60


def test_labelled_messages():
    made = [(text, (retrieve, rule), Gate().decide(text)) for text, retrieve, rule in CASES]
    assert [(text, expected, got) for text, expected, got in made if (got.retrieve, got.rule) != expected] == []
    assert all(decision.reason for _, _, decision in made)


@pytest.mark.parametrize(
    ("text", "stripped"),
    [
        ("[cron:daily 08:00] what is new on the isles?", "what is new on the isles?"),
        ("[cron:a][cron:b]  hi", "hi"),
        ('Conversation info (untrusted metadata):\n```json\n{"a": 1}\n```\n\nhi', "hi"),
        ('Conversation info (untrusted metadata): {"a": 1} hi', "hi"),
        ("[cron:a] Sender (untrusted metadata): hi", "hi"),
        ("Conversation info (untrusted metadata): ```never closed", "```never closed"),
        ("[cron:never closed", "[cron:never closed"),
        ("hi [cron:a]", "hi [cron:a]"),
        ("  hi  ", "hi"),
    ],
)
def test_prefixes_are_stripped_first(text, stripped):
    assert Gate().decide(text).text == stripped


def test_a_stripped_greeting_is_a_greeting():
    assert Gate().decide("[cron:daily] hello").rule == "greeting"


def test_lengths_are_parameters():
    chat = Gate(min_characters=15, min_cjk_characters=6)
    assert len("the red ferries") == 15
    assert chat.decide("the red ferries").retrieve
    assert chat.decide("the red ferry").rule == "short"
    assert chat.decide("why?").retrieve
    assert Gate(min_characters=0).decide("x").retrieve
    assert not chat.decide("五个字而已").retrieve
    assert chat.decide("一共六个字呀").retrieve
    assert Gate(min_cjk_characters=0).decide("字").retrieve


def test_switched_off_retrieves_everything():
    decision = Gate(enabled=False).decide(" [cron:x] hi")
    assert (decision.retrieve, decision.rule, decision.text) == (True, None, "hi")


def test_languages_choose_the_rules():
    english = Gate(languages=("en",), min_cjk_characters=0)
    assert english.decide("你好").retrieve
    assert not english.decide("hello").retrieve
    nobody = Gate(languages=())
    assert nobody.decide("good evening to").rule is None
    assert nobody.decide("/help").rule == "slash_command"


def test_extra_rules_from_yaml_come_first_and_survive_a_round_trip():
    text = """
    kind: gate
    languages: [en, fr]
    extra_rules:
      - {name: salut, action: skip, language: fr, phrases: ["^bonjour$", "^salut$"]}
      - {name: souvenir, action: force, language: fr, phrases: ["souvien*"]}
      - {name: ticket, action: skip, patterns: ['\\A#\\d+\\Z']}
      - {name: greeting, action: force, phrases: ["^hello$"]}
    """
    gate = Gate.model_validate(yaml.safe_load(text))
    assert gate.decide("Bonjour !").rule == "salut"
    assert gate.decide("tu te souviens").rule == "souvenir"
    assert gate.decide("#123").rule == "ticket"
    assert gate.decide("hello").retrieve
    assert Gate.model_validate(yaml.safe_load(yaml.safe_dump(gate.model_dump(mode="json")))) == gate


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"min_characters": -1}, "min_characters"),
        ({"prefixes": ["["]}, "not a regular expression"),
        ({"extra_rules": [{"name": "x", "action": "maybe"}]}, "action"),
        ({"extra_rules": [{"name": "x", "action": "skip", "phrases": ["..."]}]}, "at least one letter"),
        ({"mood": "good"}, "mood"),
    ],
)
def test_bad_configuration_names_the_parameter(fields, message):
    with pytest.raises(ValidationError, match=message):
        Gate(**fields)


def test_a_prefix_that_matches_nothing_ends():
    assert Gate(prefixes=("x*",)).decide("xxhello").text == "hello"


def test_max_words_and_unless_question():
    rule = GateRule(name="x", action="skip", phrases=("^go",), max_words=2, unless_question=True)
    gate = Gate(extra_rules=(rule,))
    assert gate.decide("go now").rule == "x"
    assert gate.decide("go where").rule is None
    assert gate.decide("go to the harbour now").rule is None


HOSTILE = {
    "cron prefixes": "[cron:x]" * 12_500,
    "cron unclosed": "[cron:" * 16_000,
    "header": "Conversation info (untrusted metadata):" * 2_500,
    "header and fence": "Conversation info (untrusted metadata):```" + "`` " * 33_000,
    "header and braces": "Conversation info (untrusted metadata):" + "{" * 100_000,
    "header words": "Aa" * 50_000 + "(untrusted metadata)",
    "emoji and a letter": "😀" * 100_000 + "a",
    "keycaps": "1\ufe0f\u20e3" * 33_000 + "1",
    "marks": "?!" * 50_000,
    "marks and a letter": "?!" * 50_000 + "a",
    "question marks": "a?b" * 33_000,
    "spaces": "a" + " " * 100_000 + "?",
    "letters": "a" * 100_000,
    "letters and spaces": "e " * 50_000,
    "chinese": "错误" * 50_000,
    "chinese and latin": "错e" * 50_000,
    "git": "git " * 25_000,
    "slashes": "/" * 100_000,
}


def seconds(run, text):
    started = time.process_time()
    run(text)
    return time.process_time() - started


def test_hostile_text_takes_linear_time():
    # 50 ms of processor time each; a quadratic pattern takes many seconds on any machine
    taken = {name: seconds(Gate().decide, text) for name, text in HOSTILE.items()}
    assert {name: time for name, time in taken.items() if time >= 2} == {}
