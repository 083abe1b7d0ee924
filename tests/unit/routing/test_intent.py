import math
import time

import pytest
import yaml
from pydantic import ValidationError

from hopweave.query import NO_INTENT
from hopweave.routing.intent import IntentClassifier, IntentRule, intent_rules

LABELLED = {
    "exact_match": [
        '"context caching"',
        '"a whole phrase, with a comma"',
        "“context caching”",
        "  GeminiService  ",
        "Python",
        "README",
        "K8sClient",
        "getUserById",
        "Österreich",
        "node-type",
        "rate_limit",
        "max_new_tokens",
        "all-minilm-l6-v2",
        "step-by-step",  # the order of the table decides
        "config.py",
        "docker-compose.yml",
        "src/app/settings.toml",
        "os.path.join",
        "example.com",
    ],
    "debugging": [
        "fix the crash in streaming",
        "error when uploading",
        "why does my build fail",
        "the parser failed twice",
        "failing tests on main",
        "network failures at night",
        "how to debug a memory leak",
        "how do I fix this",  # before workflow
        "debugging the scheduler",
        "broken links in the docs",
        "known issues with CUDA",
        "is there a bug in the tokenizer",
        "App crashes on start",
        "unhandled exception in worker",
        "Traceback (most recent call last)",
        "can you fix the login page",  # before capability_check
        "ERROR 503 from the gateway",
        'TypeError: x is not a function - error in console.log("x")',
        "https://example.com/errors/42 error page",
        "💥 the app crashed 💥",
        "报错 error 怎么办",
        "报错error怎么办",
    ],
    "capability_check": [
        "can it handle PDF?",
        "can you read audio files",
        "Can this run offline?",
        "does Gemini support tool use?",
        "does the new API support streaming",
        "do the small models support images",
        "is Claude able to browse the web",  # before exploratory
        "is it capable of translation",
        "are these models able to run on a phone",
        "Does   FAISS\nsupport deletes?",
        "🤔 can it do OCR",
        "can you compare two files",  # before comparison
    ],
    "workflow": [
        "how to build an index",
        "How do I rotate the keys",
        "step by step caching",
        "step-by-step guide to deployment",
        "data pipeline for invoices",
        "which workflows touch billing",
        "automate the nightly export",
        "automation of reports",
        "automatic retries",
        "prompt chaining",
        "supply chain of the ferry yard",
        "sequence of operations at start",
        "how to compare two runs",  # before comparison
        "how to list files",  # before exploratory
        "`make build` pipeline",
        "🚀 how-to deploy pipeline",
        "chain of thought",
    ],
    "comparison": [
        "Claude vs Gemini for coding",
        "BM25 versus vectors",
        "compare the two ferries",
        "comparison of rerankers",
        "what is the difference between RRF and MMR",
        "how does HNSW differ from a flat index",
        "different ways to split text",
        "which is better for RAG?",
        "alternatives to Elasticsearch",
        "an alternative to cron",
        "SQLite vs. PostgreSQL",
        "Claude VS Gemini",
        "SQLite 🆚 PostgreSQL comparison",
        "list the differences",  # before exploratory
        "which is better to reduce costs",  # before goal_based
        "async def foo() vs def foo()",
    ],
    "goal_based": [
        "I want to reduce API costs",
        "i want to learn sailing",
        "so how do I get there",
        "improve search quality",
        "improving recall",
        "reduction of latency",
        "achieve zero downtime",
        "optimise the query planner",
        "optimal batch size",
        "increase throughput",
        "decreasing memory",
        "minimize cost",
        "minimise waste",
        "maximize recall",
        "show me how do I start",  # before exploratory
        # no rule fires on these short ones: the default
        "ferry timetable",
        "embedding model",
        "what is RRF",
        "k8s",
        "download",
        "prefix sums",
        "a fixture for pytest",
        "a listener thread",
        "日本の首都はどこですか",
        "北京天气",
        "안녕하세요",
        "🎉",
        "🙂🙃",
        "https://example.com/a/b?c=d",
        "def add(a, b): return a + b",
        "x = [1, 2, 3]",
        "?",
        "",
        "   ",
    ],
    "exploratory": [
        "list all tools",
        "show me embedding options",
        "what are the ferry routes",
        "overview of retrieval",
        "explore the archive",
        "exploring graph databases",
        "browse documents by year",
        "browsing history",
        "Tell me about the MV Skua",
        "tell me about: graphs",
        "what are embeddings?",
        "give me an overview",
        "📚 list of books",
        "lists of harbours",
        "SHOW ME everything",
    ],
    "semantic": [
        "We run a small museum and would like visitors to ask questions about old ships",
        "I'm building a system that needs to process large documents and extract entities from them",
        "the harbour master wrote in the log that the weather turned before noon that day",
        "when the tide is low and the wind is from the west boats wait outside",
        "one two three four five six seven eight nine ten eleven",
        "please tell me about the people who lived on the island in the nineteenth century",
        "我们正在为一家小型博物馆建立一个系统，让参观者可以提出有关旧船的问题",
        "この島に十九世紀に住んでいた人々について詳しく教えてください",
        "🙂 the museum would like visitors to ask about old ships and their crews 🙂",
        "def load(path): text = open(path).read(); return text.split() and then count what remains",
    ],
}
CASES = [(text, intent) for intent, texts in LABELLED.items() for text in texts]


def test_the_table_is_large_enough():
    assert len(CASES) >= 120
    assert len({text for text, _ in CASES}) == len(CASES)


def mismatches(classifier, cases):
    found = [(text, intent, classifier.classify(text).name) for text, intent in cases]
    return [f"{text!r}: expected {intent}, got {name}" for text, intent, name in found if name != intent]


def test_eight_intents():
    assert mismatches(IntentClassifier(), CASES) == []


def test_finer_taxonomy():
    cases = [
        ("is the token encrypted at rest", "security"),
        ("why does the upload crash", "debug"),
        ("what happens if the index is deleted", "impact"),
        ("trace the request through the services", "trace"),
        ("BM25 vs vectors", "compare"),
        ("does FAISS support deletes", "check_capability"),
        ("configure the reranker", "configure"),
        ("orchestrate three agents", "compose_workflow"),
        ("create a new skill", "create"),
        ("make queries faster", "optimize"),
        ("recommend an embedder", "recommend"),
        ("explain reciprocal rank fusion", "learn"),
        ("show me the catalogue", "explore"),
        ("find a tool for OCR", "find_tool"),
        ("ferry", "find_tool"),
        ("we have a museum whose visitors have many things on their minds about old ships", "learn"),
    ]
    assert mismatches(IntentClassifier(taxonomy="fine"), cases) == []


def test_the_finer_taxonomy_has_fourteen_and_borrows_profiles():
    assert len(intent_rules("fine")) == 14
    debug = IntentClassifier(taxonomy="fine").classify("fix it")
    assert (debug.name, debug.profile) == ("debug", "debugging")
    assert IntentClassifier().classify("fix it").profile == "debugging"
    assert debug.weights == {"embedding": 0.30, "text": 0.45, "graph": 0.20, "intent_edges": 0.05}
    assert "traceback" in debug.keywords
    assert debug.edge_types == ("has_limitation", "has_workaround", "causes", "fixes")


@pytest.mark.parametrize("rule", intent_rules("eight").values(), ids=lambda rule: rule.name)
def test_profiles_sum_to_one(rule):
    assert math.fsum(rule.weights.values()) == pytest.approx(1)


def test_the_profile_without_intents():
    assert NO_INTENT.weights == {"embedding": 0.40, "text": 0.45, "graph": 0.15, "intent_edges": 0.0}
    assert IntentClassifier(enabled=False).classify("fix the crash") is NO_INTENT


def test_order_decides_and_the_others_are_reported():
    # section 12: "how do I" belongs to workflow and goal_based
    intent = IntentClassifier().classify("How do I choose a boat?")
    assert (intent.name, intent.rule, intent.also) == ("workflow", "^how do i", ("goal_based",))


def test_rules_of_the_two_fallbacks():
    classifier = IntentClassifier()
    assert classifier.classify("ferry").rule is None
    assert classifier.classify("a b c d e f g h i j k").rule == "more than 10 words"
    assert classifier.classify("a b c d e f g h i j").name == "goal_based"
    assert IntentClassifier(long_words=2).classify("a b c").name == "semantic"
    assert IntentClassifier(default="exploratory").classify("ferry").name == "exploratory"


def test_only_exact_match_minds_capitals():
    assert IntentClassifier().classify("Ferry").name == "exact_match"
    assert IntentClassifier().classify("ferry").name == "goal_based"
    assert IntentClassifier().classify("CRASH when saving").name == "debugging"


def test_extra_rules_come_first_and_stand_alone():
    rule = IntentRule(
        name="price",
        patterns=(r"[€$£]\d",),
        phrases=("how much",),
        weights={"text": 0.9, "embedding": 0.1},
        keywords=("price",),
        edge_types=("costs",),
    )
    intent = IntentClassifier(extra_rules=(rule,)).classify("error: £5 too much")
    assert (intent.name, intent.rule, intent.also) == ("price", r"[€$£]\d", ("debugging",))
    assert intent.weights == {"text": 0.9, "embedding": 0.1}
    assert (intent.keywords, intent.edge_types) == (("price",), ("costs",))


def test_an_extra_rule_of_a_shipped_name_adds_to_it():
    chinese = IntentRule(name="debugging", phrases=("报错", "崩溃"))
    intent = IntentClassifier(extra_rules=(chinese,)).classify("程序崩溃了")
    assert (intent.name, intent.rule) == ("debugging", "崩溃")
    assert intent.weights["text"] == 0.45
    heavier = IntentRule(name="debugging", weights={"text": 1.0})
    intent = IntentClassifier(extra_rules=(heavier,)).classify("it crashed")
    assert intent.weights == {"text": 1.0}
    assert intent.edge_types == ("has_limitation", "has_workaround", "causes", "fixes")


def test_a_rule_without_weights_or_profile_has_the_plain_profile():
    assert IntentClassifier(extra_rules=(IntentRule(name="x", phrases=("ahoy",)),)).classify("ahoy").weights == dict(
        NO_INTENT.weights
    )


def test_from_yaml_and_back():
    text = """
    kind: intent
    taxonomy: eight
    default: timetable
    extra_rules:
      - name: timetable
        phrases: [when does, ferry times]
        profile: exact_match
        keywords: [sail]
    """
    classifier = IntentClassifier.model_validate(yaml.safe_load(text))
    intent = classifier.classify("When does it sail?")
    assert (intent.name, intent.keywords, intent.weights["text"]) == ("timetable", ("sail",), 0.65)
    assert classifier.classify("boats").name == "timetable"
    dumped = yaml.safe_dump(classifier.model_dump(mode="json"))
    assert IntentClassifier.model_validate(yaml.safe_load(dumped)) == classifier


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"default": "nonsense"}, "default: no intent 'nonsense'; allowed are exact_match"),
        ({"taxonomy": "nine"}, "taxonomy"),
        ({"long_words": -1}, "long_words"),
        ({"extra_rules": [{"name": "x", "weights": {"text": 0.5}}]}, "weights must sum to 1, but sum to 0.5"),
        ({"extra_rules": [{"name": "x", "weights": {"text": 2, "graph": -1}}]}, r"each weight must be in \[0, 1\]"),
        ({"extra_rules": [{"name": "x", "weights": {"txt": 1}}]}, "txt"),
        ({"extra_rules": [{"name": "x", "patterns": ["("]}]}, "not a regular expression"),
        ({"extra_rules": [{"name": "x", "profile": "y"}]}, "extra_rules.x.profile: no intent 'y'"),
        ({"extra_rules": [{"name": "x", "phrases": ["!"]}]}, "at least one letter or digit"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_bad_configuration_names_the_parameter(fields, message):
    with pytest.raises(ValidationError, match=message):
        IntentClassifier(**fields)


HOSTILE = {
    "one letter": "a" * 100_000,
    "letters and spaces": "e " * 50_000,
    "spaces": "x" + " " * 100_000 + "x",
    "quotes": '"' * 100_000,
    "open quote": '"' + "a" * 100_000,
    "hyphens": "a-" * 50_000 + "!",
    "underscores": "a_" * 50_000 + "!",
    "dots": "a." * 50_000 + "!",
    "does": "does " * 20_000,
    "does and a long word": "does " * 10_000 + "x" * 50_000,
    "is": "is " * 33_000,
    "is and spaces": "is" + " " * 100_000 + "able",
    "how do": "how do " * 14_000,
    "open gaps": "support capable " + "does is are do " * 6_600,
    "near misses": "fixture bugle listen automa optic " * 3_000,
    "distinct words": " ".join(str(number) for number in range(17_000)),
    "capitals": "A" * 100_000,
    "chinese": "错误" * 50_000,
    "chinese and latin": "错e" * 50_000,
    "all of CJK": "".join(chr(0x4E00 + number % 20_000) for number in range(100_000)),
    "emoji": "😀" * 100_000,
    "combining": "e" + "\u0301" * 100_000,
    "brackets": "[(" * 50_000,
    "cron prefixes": "[cron:x]" * 12_500,
    "cron unclosed": "[cron:" * 16_000,
    "header": "Conversation info (untrusted metadata):" * 2_500,
    "header and fence": "Conversation info (untrusted metadata):```" + "`` " * 33_000,
    "nul": "\0" * 100_000,
    "new lines": "\n" * 100_000,
}


def seconds(run, text):
    started = time.process_time()
    run(text)
    return time.process_time() - started


@pytest.mark.parametrize("taxonomy", ["eight", "fine"])
def test_hostile_text_takes_linear_time(taxonomy):
    # 50 ms of processor time each; a quadratic pattern takes many seconds on any machine
    classify = IntentClassifier(taxonomy=taxonomy).classify
    taken = {name: seconds(classify, text) for name, text in HOSTILE.items()}
    assert {name: time for name, time in taken.items() if time >= 2} == {}


def test_the_names_of_all_intents():
    mine = IntentRule(name="timetable", phrases=("ferry times",))
    names = IntentClassifier(extra_rules=(mine,)).names
    assert names[0] == "timetable"
    assert len(names) == len(set(names)) == 9
    assert IntentClassifier(enabled=False).names == (NO_INTENT.name,)


def test_weights_of_an_intent_in_place_of_its_rule():
    classifier = IntentClassifier(weights={"debugging": {"text": 3, "graph": 1}})
    assert classifier.classify("fix it").weights == {"text": 0.75, "graph": 0.25}
    assert classifier.classify("fix it").keywords == IntentClassifier().classify("fix it").keywords
    assert classifier.classify("tide gate").weights == IntentClassifier().classify("tide gate").weights
    for weights, message in (
        ({"debuging": {"text": 1}}, "no intent 'debuging'; allowed are exact_match, debugging"),
        ({"debugging": {"text": 0}}, "weights.debugging: must be at least 0, and one of them above 0"),
        ({"debugging": {"text": 2, "graph": -1}}, "must be at least 0"),
        ({"debugging": {"words": 1}}, "words"),
    ):
        with pytest.raises(ValidationError, match=message):
            IntentClassifier(weights=weights)
