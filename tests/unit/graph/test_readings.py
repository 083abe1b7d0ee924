from hopweave.graph.model import Contribution, Mention, Node
from hopweave.graph.readings import ABOUT, SURE, UNSURE, Readings
from hopweave.graph.resolve import resolve


def says(key, *mentions, words=""):
    return Contribution(key, mentions=mentions, words=words)


def test_mentions_in_numbers():
    readings = Readings()
    said = says("a", Mention("Skua", "about", 2.0), Mention("MV Skua"), Mention("The Skua", sure=False), words="a b a")
    (read,) = readings.of([said])
    assert read.mentions.tolist() == [[0, 0, ABOUT], [1, 1, SURE], [2, 1, UNSURE]]
    assert read.weights.tolist() == [2.0, 1.0, 1.0]
    assert read.words.tolist() == [0, 1, 0]
    assert readings.things.spelling_of == [0, 1, 0]  # "The Skua" is the Skua


def test_nothing_said():
    (read,) = Readings().of([says("a")])
    assert read.mentions.shape == (0, 3)
    assert len(read.weights) == len(read.words) == 0
    assert Readings().of([]) == []


def test_only_what_is_new_is_read():
    readings = Readings()
    one, other, changed = says("a", Mention("Skua")), says("b", Mention("Gull")), says("b", Mention("Tern"))
    first = readings.of([one, other])
    second = readings.of([one, changed])
    assert second[0] is first[0]
    assert second[1] is not first[1]
    assert readings.of([other])[0] is not first[1]  # what had gone was forgotten


def test_a_spelling_that_is_gone_names_nothing():
    readings = Readings()
    ship = Contribution("a", nodes=(Node.entity("M.V. Skua"),))
    other = Contribution("b", nodes=(Node.entity("M V Skua"),))
    assert [node.name for node in resolve([ship, other], readings=readings).nodes] == ["M V Skua"]
    assert [node.name for node in resolve([ship], readings=readings).nodes] == ["M.V. Skua"]
    assert resolve([], readings=readings).nodes == ()


def test_nodes_of_names_are_made_once():
    readings = Readings()
    assert readings.node("entity", "MV Skua") is readings.node("entity", "MV Skua")
    assert readings.node("service", "MV Skua").kind == "service"
