import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from hopweave.context.cite import check_citations, numbered
from hopweave.context.extractive_answer import ExtractiveAnswer
from hopweave.hit import Hit
from hopweave.language.sentences import sentences


def sources(*texts):
    return numbered([Hit(f"h{place}", text=text) for place, text in enumerate(texts)])


def test_no_sources():
    empty = ExtractiveAnswer().answer("When does it sail?", ())
    assert (empty.text, empty.quotes) == ("", ())


def test_the_best_sentence():
    given_sources = sources("Gulls are white. Skuas are brown.", "The ferry Skua sails at noon. It is red.")
    answer = ExtractiveAnswer(max_sentences=1).answer("When does the ferry sail?", given_sources)
    assert answer.text == "The ferry Skua sails at noon. [2]"
    (quote,) = answer.quotes
    assert (quote.number, quote.id) == (2, "h1")
    assert quote.gain == pytest.approx(1.0)  # it has both words, ferry and sail


def test_rare_words_count_more():
    # ferry is in all three, winter in one
    answer = ExtractiveAnswer(max_sentences=1).answer(
        "ferry winter",
        sources("The ferry is red. The ferry is old.", "A ferry came.", "It sank in winter. No ferry came."),
    )
    assert answer.text == "It sank in winter. [3]"


def test_two_hops_are_both_quoted():
    answer = ExtractiveAnswer(max_sentences=2).answer(
        "Where was the captain of the Skua born?",
        sources("The captain of the Skua is Ida Moe.", "The captain of the Skua is tall.", "Ida Moe was born in Bodo."),
    )
    assert answer.text == "The captain of the Skua is Ida Moe. [1] Ida Moe was born in Bodo. [3]"


def test_gain_by_hand():
    answer = ExtractiveAnswer(max_sentences=2, min_gain=0).answer("red ferry", sources("A red thing. A red ferry."))
    # both words are in the one source: equal idf, so the first pick covers all, the second half of one of two
    assert {quote.sentence: quote.gain for quote in answer.quotes} == {
        "A red ferry.": pytest.approx(1.0),
        "A red thing.": pytest.approx(0.25),
    }
    assert answer.text == "A red thing. [1] A red ferry. [1]"  # in the order of the source


def test_sentences_that_add_too_little_are_left_out():
    answer = ExtractiveAnswer(max_sentences=5, min_gain=0.3).answer("red ferry", sources("A red thing. A red ferry."))
    assert answer.text == "A red ferry. [1]"


def test_nothing_in_common():
    assert ExtractiveAnswer().answer("volcano", sources("The ferry sails.")).text == ""
    assert ExtractiveAnswer(min_gain=0).answer("volcano", sources("The ferry sails.")).text == ""
    assert ExtractiveAnswer().answer("", sources("The ferry sails.")).text == ""


def test_a_question_of_stop_words_only():
    assert ExtractiveAnswer().answer("who are they", sources("They are gulls.")).text == "They are gulls. [1]"


def test_cjk():
    answer = ExtractiveAnswer(max_sentences=1).answer("渡轮几点开？", sources("海鸥是白色的。渡轮中午开船。"))
    assert answer.text == "渡轮中午开船。 [1]"


def test_the_same_sentence_is_quoted_once():
    answer = ExtractiveAnswer().answer("ferry", sources("The ferry sails.", "The ferry sails."))
    assert answer.text == "The ferry sails. [1]"


def test_bracketed_numbers_and_endless_sentences_are_not_quoted():
    given_sources = sources("The ferry sails [7]. The ferry rests.", "ferry " * 200)
    assert ExtractiveAnswer(max_sentences=9).answer("ferry", given_sources).text == "The ferry rests. [1]"


def test_vectors():
    rows = {"boats?": [1, 0], "The ferry sails.": [1, 0], "Gulls fly.": [0, 1], "Boats?": [1, 1]}

    def embed(texts):
        return np.array([rows[text] for text in texts])

    given_sources = sources("The ferry sails. Gulls fly.")
    answer = ExtractiveAnswer().answer("boats?", given_sources, embed)
    assert answer.text == "The ferry sails. [1]"  # no word in common, but the same direction
    assert answer.quotes[0].gain == pytest.approx(0.5)
    assert ExtractiveAnswer(vector_share=0).answer("boats?", given_sources, embed).text == ""


def test_bad_parameters():
    for wrong in ({"max_sentences": 0}, {"min_gain": -1}, {"vector_share": 2}):
        with pytest.raises(ValidationError, match=next(iter(wrong))):
            ExtractiveAnswer(**wrong)


word = st.sampled_from(["ferry", "Skua", "sails", "winter", "red", "渡轮", "e.g.", "[3]", "Dr.", "1974"])
sentence = st.lists(word, min_size=1, max_size=6).map(" ".join)
text = st.lists(st.tuples(sentence, st.sampled_from([". ", "! ", "。", "\n", "\n\n", " "])), max_size=6).map(
    lambda parts: "".join(piece + mark for piece, mark in parts)
)


@settings(max_examples=200, deadline=None)
@given(texts=st.lists(text, max_size=5), question=sentence, most=st.integers(1, 6))
def test_only_sentences_of_the_sources_and_every_number_resolves(texts, question, most):
    given_sources = sources(*texts)
    answer = ExtractiveAnswer(max_sentences=most).answer(question, given_sources)
    by_number = {found.number: found for found in given_sources}
    assert len(answer.quotes) <= most
    for quote in answer.quotes:
        assert quote.sentence in sentences(by_number[quote.number].text)
        assert quote.sentence in by_number[quote.number].text
        assert by_number[quote.number].id == quote.id
    assert answer.text == " ".join(f"{quote.sentence} [{quote.number}]" for quote in answer.quotes)
    assert check_citations(answer.text, given_sources).resolves
    assert ExtractiveAnswer(max_sentences=most).answer(question, given_sources) == answer
