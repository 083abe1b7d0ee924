"""The company names keep: the words beside them, and who keeps such company as a question asks for."""

import math

import numpy as np
import pytest

from hopweave import Document
from hopweave.graph.build.mentions import MentionsBuilder
from hopweave.graph.company import Beside, Company, kin
from hopweave.graph.csr import Graph
from hopweave.graph.model import Edge, Node
from hopweave.graph.phrases import Vocabulary, WordTable, find_names
from hopweave.graph.readings import Readings
from hopweave.graph.resolve import resolve


def beside(texts, names):
    table = WordTable.of(texts)
    found, words = Beside.find(table, find_names(table, names)), list(table.codes)
    return [
        (names[thing], document, words[word])
        for thing, document, word in zip(
            found.things.tolist(), found.documents.tolist(), found.words.tolist(), strict=True
        )
    ]


def company(texts, names):
    table = WordTable.of(texts)
    found = Beside.find(table, find_names(table, names))
    passages = np.array([sum(name in text.casefold() for text in texts) for name in names])
    return Company.build(found, passages, list(table.codes), len(texts))


def closeness(kept, words):
    nodes, values = kept.closeness(words)
    return dict(zip(nodes.tolist(), values.tolist(), strict=True))


def test_three_words_on_either_side_stand_beside_a_name():
    found = beside(["one2 four three2 two2 ferry Skua sails north daily today"], ["skua"])
    assert sorted(word for _, _, word in found) == sorted(["three2", "two2", "ferry", "sails", "north", "daily"])


def test_neither_another_sentence_nor_another_text_nor_a_stop_word_stands_beside_a_name():
    found = beside(["Rain fell . The Skua left . Gulls came", "Skua", "harbour"], ["skua"])
    assert found == [("skua", 0, "left")]


def test_a_word_counts_once_per_passage_however_often_it_is_said():
    assert beside(["river Skua river . river Skua"], ["skua"]) == [("skua", 0, "river")]


def test_closeness_is_the_share_of_passages_weighed_by_rarity():
    # river stands beside Lunn in 2 of its 3 passages, mayor in 1
    kept = company(["river Lunn", "Lunn river", "mayor Lunn", "Hallow mayor"], ["lunn", "hallow"])
    rarity = {"river": math.log(1 + (4 - 2 + 0.5) / 2.5), "mayor": math.log(1 + (4 - 2 + 0.5) / 2.5)}
    assert closeness(kept, ["river"]) == pytest.approx({0: 2 / (1 + 3)})
    both = rarity["river"] + rarity["mayor"]
    assert closeness(kept, ["river", "mayor"]) == pytest.approx(
        {0: (rarity["river"] * 2 / 4 + rarity["mayor"] * 1 / 4) / both, 1: rarity["mayor"] * (1 / 2) / both}
    )


def test_forms_of_a_word_are_one_family_and_count_at_most_once():
    kept = company(["directed Lunn director", "Lunn directing"], ["lunn"])
    # three forms in two passages: 1/3 + 1/3 + 1/3 of 1 + 2 passages
    assert closeness(kept, ["directors"]) == pytest.approx({0: 1.0})


def test_words_nobody_keeps_company_with_change_nothing():
    kept = company(["river Lunn"], ["lunn"])
    assert closeness(kept, ["river", "zeppelin", "the"]) == closeness(kept, ["river", "river"])
    assert closeness(kept, ["zeppelin"]) == closeness(kept, []) == {}


def test_a_graph_without_texts_keeps_nobodys_company():
    graph = Graph.build([Node.entity("Skua"), Node.entity("Harris")], [Edge("entity:skua", "entity:harris")])
    assert closeness(Company.of(graph), ["ferry"]) == {}


ISLES = [
    Document("skua", "MV Skua was built at the village of Lunn.", {"title": "MV Skua"}),
    Document("lunn", "Lunn makes nets.", {"title": "Lunn"}),
    Document("fair", "The village of Lunn has a fair.", {"title": "Fair of Lunn"}),
]


def read(documents, readings=None):
    return resolve([MentionsBuilder().contribute(document) for document in documents], readings=readings).graph()


def named(graph, words):
    nodes, values = Company.of(graph).closeness(words)
    return {graph.ids[node]: value for node, value in zip(nodes.tolist(), values.tolist(), strict=True)}


def test_a_graph_of_texts_knows_the_company_of_what_they_are_about():
    # beside Lunn in two of the three passages that have it
    assert named(read(ISLES), ["village"]) == pytest.approx({"entity:lunn": 2 / (1 + 3)})


def test_what_was_read_before_leaves_no_trace():
    readings = Readings()
    read([*ISLES, Document("late", "The villages near Lunn flooded.", {"title": "Flood"})], readings)
    again = read(ISLES, readings)
    fresh = read(ISLES[::-1])
    assert named(again, ["village", "nets"]) == named(fresh, ["village", "nets"])


def test_further_edges_keep_the_company():
    resolved = resolve([MentionsBuilder().contribute(document) for document in ISLES])
    graph = resolved.plus([Edge("entity:lunn", "entity:mv skua", "similar_to")]).graph()
    assert named(graph, ["village"]) == named(read(ISLES), ["village"])


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ("city", "city", True),
        ("composer", "composed", True),
        ("singer", "sings", True),  # sing of 6 letters
        ("state", "station", False),  # stat of 7
        ("sea", "seas", False),  # fewer than 4 letters
        ("university", "universal", True),  # univers of 10
        ("birth", "birthplace", False),  # 5 letters more
        ("東京", "東京", True),
    ],
)
def test_kin(one, other, alike):
    assert kin(one, other) is alike
    assert kin(other, one) is alike


def test_no_texts_no_company():
    empty = WordTable([], Vocabulary())
    assert len(Beside.find(empty, find_names(empty, ["skua"])).words) == 0
    assert closeness(company([], []), ["river"]) == {}
