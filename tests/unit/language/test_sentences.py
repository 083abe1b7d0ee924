import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopweave.language.sentences import sentence_spans, sentences


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("   \n ", []),
        ("One.", ["One."]),
        ("no full stop", ["no full stop"]),
        ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
        ("Really?! Yes... No.", ["Really?!", "Yes...", "No."]),
        ("Wait... what is it?", ["Wait... what is it?"]),
        ('He said "go." Then he left.', ['He said "go."', "Then he left."]),
        ("(It sank.) Nobody saw it.", ["(It sank.)", "Nobody saw it."]),
        ("It costs 3.50 at v1.2.3 of node.js. Good.", ["It costs 3.50 at v1.2.3 of node.js.", "Good."]),
        ("Dr. Moe met Mrs. Lie. They sailed.", ["Dr. Moe met Mrs. Lie.", "They sailed."]),
        ("J. R. R. Tolkien wrote it. So did I.", ["J. R. R. Tolkien wrote it.", "So did I."]),
        ("Birds, e.g. gulls, i.e. Laridae. More.", ["Birds, e.g. gulls, i.e. Laridae.", "More."]),
        ("The U.S. Navy came. It left.", ["The U.S. Navy came.", "It left."]),
        ("See Fig. 3 and No. 7. Done.", ["See Fig. 3 and No. 7.", "Done."]),
        ("Is it? No. It is not.", ["Is it?", "No.", "It is not."]),
        ("On the 1st. Then again.", ["On the 1st.", "Then again."]),
        ("Gulls, terns, etc. Skuas too.", ["Gulls, terns, etc.", "Skuas too."]),
        ("渡轮每小时一班。冬天也开！真的吗？是", ["渡轮每小时一班。", "冬天也开！", "真的吗？", "是"]),
        ("「行く。」と言った。終わり。", ["「行く。」", "と言った。", "終わり。"]),
        ("Heading\nText of it.\n\nNext", ["Heading", "Text of it.", "Next"]),
        ("- one\n- two\n1. three", ["- one", "- two", "1. three"]),
        (
            "This line was broken by someone who likes lines of eighty characters, and\nit goes on here. End.",
            ["This line was broken by someone who likes lines of eighty characters, and\nit goes on here.", "End."],
        ),
        (
            "A long line of a list that is followed by another entry of the same list\n- which starts here",
            ["A long line of a list that is followed by another entry of the same list", "- which starts here"],
        ),
    ],
)
def test_where_sentences_end(text, expected):
    assert sentences(text) == expected


@given(st.text(alphabet=st.sampled_from(list("aB1 .!?…\n\t\"')。！？」-*e")), max_size=80))
def test_spans_are_in_order_and_cover_all_that_is_visible(text):
    spans = sentence_spans(text)
    place = 0
    for start, end in spans:
        assert place <= start < end <= len(text)
        assert not text[place:start].strip()
        assert text[start:end] == text[start:end].strip()
        place = end
    assert not text[place:].strip()


@pytest.mark.parametrize(
    "unit",
    [".", "!?", ". ", "a.", "A. ", "\n", " \n", "。", ".)", "a\n", "1. ", "x", "e.g", "- \n", "\u00a0", ".\u2003"],
)
def test_hostile_text_takes_linear_time(unit):
    text = unit * (100_000 // len(unit))
    begun = time.process_time()
    sentence_spans(text)
    assert time.process_time() - begun < 2
