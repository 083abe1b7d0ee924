"""Words next to names, and the nodes next to whose names such words occur as a question asks for."""

import math

import pytest

from hopweave import Document
from hopweave.graph.build.builders.mentions import MentionsBuilder
from hopweave.graph.build.changes import apply
from hopweave.graph.build.resolve import resolve
from hopweave.graph.model import Contribution, Edge, Mention, Node
from hopweave.graph.storage.cooccurrence import same_stem
from hopweave.graph.storage.table_graph import TableGraph
from hopweave.graph.storage.tables import GraphTables
from hopweave.testing.graphs import graph_from_edges


def tables_of(texts, names):
    tables = GraphTables()
    about = Contribution("names", mentions=tuple(Mention(name, "about") for name in names))
    apply(tables, [about, *(Contribution(str(number), words=text) for number, text in enumerate(texts))])
    return tables


def nearby(texts, names):
    tables = tables_of(texts, names)
    return [
        (tables.node_keys[node].removeprefix("entity:"), number, tables.word_strings[word])
        for number in range(len(texts))
        for node, word in zip(*tables.nearby.row(tables.node_keys.get(f"passage:{number}")), strict=True)
    ]


def closeness(texts, names, words):
    return named(TableGraph(tables_of(texts, names)), words)


def named(graph, words):
    nodes, values = graph.cooccurring(words)
    return {
        graph.ids[node].removeprefix("entity:"): value
        for node, value in zip(nodes.tolist(), values.tolist(), strict=True)
    }


def test_three_words_on_either_side_occur_next_to_a_name():
    found = nearby(["one2 four three2 two2 ferry Skua sails north daily today"], ["skua"])
    assert sorted(word for _, _, word in found) == sorted(["three2", "two2", "ferry", "sails", "north", "daily"])


def test_neither_another_sentence_nor_another_text_nor_a_stop_word_occurs_next_to_a_name():
    found = nearby(["Rain fell . The Skua left . Gulls came", "Skua", "harbour"], ["skua"])
    assert found == [("skua", 0, "left")]


def test_a_word_counts_once_per_passage_however_often_it_is_said():
    assert nearby(["river Skua river . river Skua"], ["skua"]) == [("skua", 0, "river")]


def test_closeness_is_the_share_of_passages_weighed_by_rarity():
    # river occurs next to Lunn in 2 of its 4 passages (one is about it), mayor in 1; there are 5 documents
    texts, names = ["river Lunn", "Lunn river", "mayor Lunn", "Hallow mayor"], ["lunn", "hallow"]
    rarity = {"river": math.log(1 + (5 - 2 + 0.5) / 2.5), "mayor": math.log(1 + (5 - 2 + 0.5) / 2.5)}
    assert closeness(texts, names, ["river"]) == pytest.approx({"lunn": 2 / (1 + 4)})
    both = rarity["river"] + rarity["mayor"]
    assert closeness(texts, names, ["river", "mayor"]) == pytest.approx(
        {
            "lunn": (rarity["river"] * 2 / 5 + rarity["mayor"] * 1 / 5) / both,
            "hallow": rarity["mayor"] * (1 / 3) / both,
        }
    )


def test_forms_of_a_word_count_together_and_at_most_once():
    # directed and director in one passage, directing in another: 3 of 1 + 3 passages
    assert closeness(["directed Lunn director", "Lunn directing"], ["lunn"], ["directors"]) == pytest.approx(
        {"lunn": 0.75}
    )
    many = closeness(["directed Lunn director", "directs Lunn directing"], ["lunn"], ["directors"])
    assert many == pytest.approx({"lunn": 1.0})


def test_words_next_to_no_name_change_nothing():
    texts = ["river Lunn"]
    assert closeness(texts, ["lunn"], ["river", "zeppelin", "the"]) == closeness(texts, ["lunn"], ["river", "river"])
    assert closeness(texts, ["lunn"], ["zeppelin"]) == closeness(texts, ["lunn"], []) == {}


def test_a_graph_without_texts_has_no_cooccurrence():
    graph = graph_from_edges([Node.entity("Skua"), Node.entity("Harris")], [Edge("entity:skua", "entity:harris")])
    assert named(graph, ["ferry"]) == {}


ISLES = [
    Document("skua", "MV Skua was built at the village of Lunn.", {"title": "MV Skua"}),
    Document("lunn", "Lunn makes nets.", {"title": "Lunn"}),
    Document("fair", "The village of Lunn has a fair.", {"title": "Fair of Lunn"}),
]


def contributions(documents):
    return [MentionsBuilder().contribute(document) for document in documents]


def test_a_graph_of_texts_knows_the_words_next_to_what_they_are_about():
    # next to Lunn in two of the three passages that have it
    assert named(resolve(contributions(ISLES)).graph(), ["village"]) == pytest.approx({"lunn": 2 / (1 + 3)})


def test_what_was_there_before_leaves_no_trace():
    tables = GraphTables()
    late = Document("late", "The villages near Lunn flooded.", {"title": "Flood"})
    apply(tables, contributions([*ISLES, late]))
    with_late = named(TableGraph(tables), ["village", "nets"])
    apply(tables, [], gone=["late"])
    fresh = resolve(contributions(ISLES[::-1])).graph()
    assert named(TableGraph(tables), ["village", "nets"]) == named(fresh, ["village", "nets"]) != with_late


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
def test_same_stem(one, other, alike):
    assert same_stem(one, other) is alike
    assert same_stem(other, one) is alike


def test_no_texts_no_cooccurrence():
    assert nearby([], ["skua"]) == []
    assert closeness([], [], ["river"]) == {}
