from math import log

import pytest

from hopweave.graph.link.linker import Linker
from hopweave.graph.link.question import base_forms
from hopweave.graph.model import Edge, Node
from hopweave.testing.graphs import graph_from_edges


@pytest.mark.parametrize(
    ("form", "name"),
    [
        ("Polens", "polen"),
        ("Swedish", "sweden"),
        ("swedish", "sweden"),
        ("Finnish", "finland"),
        ("Scottish", "scotland"),
        ("Turkish", "turkey"),
        ("Japanese", "japan"),
        ("chinese", "china"),
        ("Russian", "russia"),
        ("Italian", "italy"),
        ("American", "america"),
        ("German", "germany"),
        ("Tuscan", "tuscany"),
        ("Icelandic", "iceland"),
        ("Londoner", "london"),
        ("schwedischer", "schweden"),
        ("russische", "russland"),
        ("türkischen", "türkei"),
    ],
)
def test_the_name_is_among_the_base_forms(form, name):
    assert name in base_forms(form)


@pytest.mark.parametrize("word", ["", "s", "ish", "Skua", "his", "Miller", "sailors", "musician", "東京", "s" * 3])
def test_words_that_are_no_forms_of_names(word):
    assert base_forms(word) == []


def graph(*names, about=()):
    passages = [Node.passage(str(number)) for number in range(len(about))]
    edges = [Edge(passage.id, Node.entity(name).id, "about") for passage, name in zip(passages, about, strict=True)]
    return graph_from_edges([*map(Node.entity, names), *passages], edges)


def linked(question, graph, **parameters):
    return {link.name: link for link in Linker(**parameters).link(question, graph).links}


def test_a_form_of_one_known_name_is_linked_and_weighs_less():
    link = linked("Who is the Swedish king?", graph("Sweden", "Denmark"))["Sweden"]
    assert (link.surface, link.match) == ("Swedish", "fuzzy")
    assert link.weight == pytest.approx(0.9 / log(2))
    assert linked("Who is the Swedish king?", graph("Sweden"), fuzzy=False) == {}


def test_a_form_of_several_known_names_is_not_linked():
    assert linked("the Polish king", graph("Poland", "Polen")) == {}


def test_a_genitive_inside_a_longer_run_of_capitals():
    assert set(linked("Wer ist Polens Präsident?", graph("Polen", "Lettland"))) == {"Polen"}
    assert set(linked("Wer führt Angela Merkels Partei?", graph("Angela Merkel", "Merkel"))) == {"Angela Merkel"}


def test_a_form_that_only_passages_mention_also_stands_for_the_name_a_passage_is_about():
    question = "Who is the Swedish king?"
    links = linked(question, graph("Swedish", "Sweden", about=["Sweden"]))
    assert (links["Swedish"].match, links["Sweden"].match) == ("exact", "fuzzy")
    assert links["Sweden"].weight == pytest.approx(0.5 * 0.9 / log(2 + 1))
    assert set(linked(question, graph("Swedish", "Sweden"))) == {"Swedish"}
    assert set(linked(question, graph("Swedish", "Sweden", about=["Sweden", "Swedish"]))) == {"Swedish"}


def test_a_word_of_a_longer_name_is_no_form():
    assert set(linked("the films of Roman Polanski", graph("Roman Polanski", "Rome", about=["Rome"]))) == {
        "Roman Polanski"
    }
