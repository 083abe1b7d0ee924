"""Whole reports: what they contain, and that no content can become markup."""

from dataclasses import replace
from html.parser import HTMLParser

import pytest

from hopweave import Document, KnowledgeBase, Query, html_report
from hopweave.graph.build.builders.services import ServicesBuilder
from hopweave.hit import Hit, Receipt
from hopweave.pipeline import Result
from hopweave.query import Intent, Plan
from hopweave.recipe import Recipe
from hopweave.report.page import TEXT_LENGTH, picture

HOSTILE = "</style></title><script>alert(1)</script><img src=x onerror=alert(1)>\"' onload=alert(1) \x00\ud800 &lt;"
VOID = {"meta", "rect", "circle", "path"}


class Reader(HTMLParser):
    """Collects tags and attributes, and whether all that was opened is closed."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.attributes, self.open, self.text = [], [], [], ""
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def everything(text):
    """A result in which every string that came from outside is the given one."""
    receipts = (
        Receipt(text, None, 1.0, {"rank": 1, "path": f"{text} —{text}→ {text}", text: {text: [text]}}),
        Receipt("weighted", None, 0.5, {"signals": {text: {"part": 0.5, "source": text}}}),
    )
    hit = Hit(text, 0.5, text, {"title": text, text: text}, receipts=receipts)
    intent = Intent(text, also=(text,))
    return Result(
        Query(text, intent=intent), (hit,), Plan((text,), reason=text), {text: 0.1, "total": 0.2}, {text: text}
    )


def test_hostile_text_stays_text():
    page = html_report(everything(HOSTILE), title=HOSTILE)
    page.encode("utf-8")
    hostile, tame = Reader(page), Reader(html_report(everything("tame"), title="tame"))
    assert hostile.tags == tame.tags
    assert [name for name, _ in hostile.attributes] == [name for name, _ in tame.attributes]
    assert "script" not in hostile.tags
    assert hostile.text.count("<script>alert(1)</script>") >= 12


def test_a_page_needs_nothing_from_elsewhere():
    page = html_report(everything("tame"))
    for word in ("http:", "https:", "url(", "@import", "<link", "<script", "src="):
        assert word not in page
    assert "prefers" in page or "color-scheme:light dark" in page
    assert 'name="viewport"' in page
    assert 'lang="en"' in page


@pytest.fixture(scope="module")
def kb():
    with KnowledgeBase.open() as kb:
        kb.add(
            [
                Document("skua", "MV Skua was designed by Ingrid Falk.", {"title": "MV Skua"}),
                Document("falk", "Ingrid Falk was born in Lunn.", {"title": "Ingrid Falk"}),
                Document("gate", "The tide gate opens at six.", {"title": "Tide gate"}),
            ]
        )
        yield kb


def test_a_result_tells_score_path_stages_plan_and_time(kb):
    result = kb.search("Where was the designer of MV Skua born?", recipe="multihop", top_k=2)
    read = Reader(html_report(result))
    assert read.tags.count("h1") == 1
    assert "Where was the designer of MV Skua born?" in read.text
    assert "text, vector, graph, evidence (the recipe's own sources)" in read.text
    assert "Receipts: evidence_sum → pagerank → bm25 → vector → trust_weighted" in read.text
    labels = [value for name, value in read.attributes if name == "aria-label"]
    assert any(label.startswith("score ") and "fused from graph" in label for label in labels)
    assert any("MV Skua" in label and "Ingrid Falk" in label and "→" in label for label in labels)
    assert "Where the time went" in read.text


def test_intent_gate_failures_paths_and_context_are_shown(kb):
    recipe = Recipe.from_yaml(
        """
name: all
gate: {}
intent: {}
sources:
  text: {kind: bm25}
  graph: {kind: pagerank, seeds_from: [text], top_k: 10}
paths: {min_hits: 2}
context: {}
"""
    )
    result = kb.search("How do I reach the designer of MV Skua, Ingrid Falk?", recipe=recipe)
    text = Reader(html_report(replace(result, failures={"vector": "TimeoutError: too slow"}))).text
    assert "Intent workflow (also goal_based)" in text
    assert "Gate retrieves" in text
    assert "vector failed and was skipped: TimeoutError: too slow" in text
    assert "Context for a prompt[1] " in text or "Context for a promptConnections:" in text
    assert f"Paths between the hits ({len(result.paths.paths)})" in text


def test_what_surrounds_the_services_is_shown():
    documents = [
        Document("orders", "POST /orders", {"service": "shop", "calls_out": ["till"]}),
        Document("pay", "POST /pay", {"service": "till"}),
    ]
    recipe = Recipe.from_yaml("{name: around, sources: {text: {kind: bm25}}, neighbourhood: {}}")
    with KnowledgeBase.open(builders=[ServicesBuilder()], embedder=None) as kb:
        kb.add(documents)
        text = Reader(html_report(kb.search("orders", recipe=recipe))).text
    assert "Around the hitsshop —calls→ till" in text


def test_bars_are_as_long_as_scores_are_high():
    def hit(name, text, vector):
        parts = {"text": {"part": text}, "vector": {"part": vector}}
        return Hit(name, text + vector).with_receipt(Receipt("weighted", None, text + vector, {"signals": parts}))

    page = html_report([hit("a", 0.6, 0.2), hit("b", 0.1, 0.1)])
    # the best is 100 long, of which 0.6 / 0.8 are text; the second 0.2 / 0.8 of that, half of it text
    for bar in ('x="0.000" width="75.000"', 'x="75.000" width="25.000"', 'x="0.000" width="12.500"'):
        assert bar in page


def test_what_changed_the_score_afterwards_is_said_beside_the_parts():
    found = Hit("a").rescored(0.8, "vector", rank=1)
    assert "then" not in Reader(html_report([found])).text
    changed = found.rescored(0.8, "deferral").rescored(0.4, "time_decay").rescored(0.2, "length")
    assert "vector 0.8then time_decay, length → 0.2" in Reader(html_report([changed])).text


def test_negative_scores_and_none_have_no_length():
    page = html_report([Hit("a", -0.5).rescored(-0.5, "cosine"), Hit("b")])
    assert 'width="0.000"' in page
    assert "−0.5" in page
    assert '<span class="score">–</span>' in page


def test_logits_are_drawn_as_probabilities():
    hits = [Hit("a", 0.0, scale="logit").rescored(0.0, "ce"), Hit("b", -30.0, scale="logit").rescored(-30.0, "ce")]
    assert 'width="0.000"' in html_report(hits)  # 0 means even odds: parts of 0 have no length, but nothing fails


def test_long_passages_are_cut():
    shown = Reader(picture(Hit("a", 1.0, "word " * 5000))).text
    assert shown.count("word ") <= TEXT_LENGTH / 5


@pytest.mark.parametrize("nothing", [[], ()])
def test_nothing_found(nothing):
    assert "No hits." in html_report(nothing)


def test_any_iterable_of_hits_will_do():
    assert Reader(html_report(Hit(name) for name in "ab")).tags.count("h3") == 2


def test_notebooks_show_pictures(kb):
    result = kb.search("tide gate", recipe="hybrid", top_k=1)
    assert result._repr_html_() == picture(result)
    assert result.hits[0]._repr_html_() == picture(result.hits[0])
    Reader(result._repr_html_())
