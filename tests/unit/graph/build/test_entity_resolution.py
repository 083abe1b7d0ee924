from math import log

import pytest

from hopweave.graph.build.entity_resolution import EntityResolution
from hopweave.graph.build.resolve import resolve
from hopweave.graph.model import Contribution, Edge, Mention, Node
from hopweave.language.words import word_string


def edges(contributions, **parameters):
    """Type and weight of the edge between each document and name."""
    resolved = resolve(contributions, EntityResolution(**parameters))
    names = {node.id: node.name for node in resolved.nodes}
    return {
        (names[edge.source], names[edge.target]): (edge.type, edge.weight)
        for edge in resolved.edges()
        if edge.source.startswith("passage:")
    }


def says(id_, text="", *mentions):
    return Contribution(id_, mentions=mentions, words=word_string(text))


def test_no_contributions():
    assert edges([]) == {}
    assert edges([says("a")]) == {}


def test_weights_are_divided_by_the_logarithm_of_frequency():
    found = edges([says("a", "", Mention("Skua", "about", 4.0)), says("b", "", Mention("Skua"))])
    assert found == {
        ("a", "Skua"): ("about", pytest.approx(4 / log(2 + 2))),
        ("b", "Skua"): ("mentions", pytest.approx(1 / log(4))),
    }


def test_a_name_in_one_passage_leads_nowhere():
    assert edges([says("a", "", Mention("Skua"))])["a", "Skua"][1] == pytest.approx(0.1 / log(3))


def test_a_name_that_another_document_states_edges_of_leads_somewhere():
    skua, harris = Node.entity("Skua"), Node.entity("Harris")
    passage = Contribution("a", (skua, harris), (Edge(skua.id, harris.id),), (Mention("Skua"), Mention("Tern")))
    assert edges([passage])["a", "Skua"][1] == pytest.approx(0.1 / log(3))
    found = edges([passage, Contribution("b", (skua, harris), (Edge(skua.id, harris.id),))])
    assert found["a", "Skua"][1] == pytest.approx(1 / log(3))
    assert found["a", "Tern"][1] == pytest.approx(0.1 / log(3))


def test_min_passages():
    contributions = [says("a", "", Mention("Skua"), Mention("Tern")), says("b", "", Mention("Skua"))]
    assert set(edges(contributions, min_passages=2)) == {("a", "Skua"), ("b", "Skua")}
    about = [says("a", "", Mention("Tern", "about"))]
    assert set(edges(about, min_passages=2)) == {("a", "Tern")}


def test_unsure_mentions_count_only_when_others_vouch():
    unsure = says("a", "", Mention("Later", sure=False))
    assert edges([unsure]) == {}
    assert set(edges([unsure, says("b", "", Mention("Later"))])) == {("a", "Later"), ("b", "Later")}


def test_a_word_mostly_written_small_is_no_entity():
    contributions = [says("a", "the film and a film", Mention("Film")), says("b", "", Mention("Film"))]
    assert edges(contributions) == {}
    assert set(edges([*contributions, says("c", "", Mention("Film", "about"))])) >= {
        ("a", "Film"),
        ("b", "Film"),
        ("c", "Film"),
    }


def test_spellings_are_one_thing_named_as_those_about_it_write_it():
    contributions = [
        says("a", "", Mention("St Louis")),
        says("b", "", Mention("St Louis")),
        says("c", "", Mention("St. Louis", "about")),
    ]
    assert set(edges(contributions)) == {("a", "St. Louis"), ("b", "St. Louis"), ("c", "St. Louis")}


def test_kinds_are_kept_apart():
    resolved = resolve([says("a", "", Mention("Harris"), Mention("Harris", "author", kind="author"))])
    assert [node.kind for node in resolved.nodes] == ["author", "entity", "passage"]
    assert len(resolved.edges()) == 2


def test_about_wins_over_mentions_of_the_same_thing():
    found = edges([says("a", "aboard Skua", Mention("Skua"), Mention("the Skua", "about", 2.0))])
    assert found == {("a", "the Skua"): ("about", pytest.approx(0.1 * 2 / log(3)))}


HARRIS = says("h", "", Mention("Harris", "about"))
PRINCE = says("p", "", Mention("Prince of Orange", "about"))


@pytest.mark.parametrize(
    ("about", "text", "share"),
    [
        (HARRIS, "They sail to Harris today", 1.0),
        (HARRIS, "Harris is far", 1.0),
        (HARRIS, "They sail to harris today", 0.3),  # one word in small letters
        (HARRIS, "They sail to Port Harris", None),  # part of a longer name
        (HARRIS, "They sail to Harris Bay", None),
        (PRINCE, "wife of the Prince of Orange", 1.0),
        (PRINCE, "wife of the prince of orange", 1.0),  # two content words
        (says("d", "", Mention("One Day", "about")), "it rained one day", None),  # only one content word
        (says("d", "", Mention("One Day", "about")), "the film One Day", 1.0),
        (says("d", "", Mention("May", "about")), "it rained in May", None),
        (says("d", "", Mention("1984", "about")), "it rained in 1984", None),
        (says("d", "", Mention("The Who", "about")), "those the who sang", None),
        (says("d", "", Mention("東京", "about")), "昨日東京で", 1.0),
        (says("d", "", Mention("水", "about")), "水と火", None),  # a single character
        (says("d", "", Mention("القاهرة", "about")), "مدينة القاهرة الكبيرة", 1.0),
    ],
)
def test_what_passages_are_about_is_looked_for_in_texts(about, text, share):
    name = about.mentions[0].name
    found = edges([about, says("z", text)])
    assert found.get(("z", name)) == (None if share is None else ("mentions", pytest.approx(share / log(4))))


def test_an_ordinary_word_at_the_start_of_a_sentence_is_not_the_title():
    contributions = [says("b", "", Mention("Brother", "about")), says("z", "Brother and sister. his brother is here")]
    assert edges(contributions)["z", "Brother"] == (
        "mentions",
        pytest.approx(0.3 / log(4)),
    )  # only the one in small letters


def test_lower_case_can_be_switched_off():
    assert ("z", "Harris") not in edges([HARRIS, says("z", "to harris")], lower_case_weight=0)


def test_services_are_looked_for_though_nothing_is_about_them():
    callee = says("c", "", Mention("payment-service", kind="service"))
    assert ("z", "payment-service") in edges([callee, says("z", "the payment service is down")])
    tag = says("c", "", Mention("quick start", "tags", kind="tags"))
    assert ("z", "quick start") not in edges([tag, says("z", "a quick start")])


@pytest.mark.parametrize(
    "parameters", [{"min_passages": 0}, {"dead_end_share": 0}, {"lower_case_weight": -1}, {"x": 1}]
)
def test_bad_parameters(parameters):
    with pytest.raises(ValueError):
        EntityResolution(**parameters)
