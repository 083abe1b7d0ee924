import math
import random

import numpy as np
import pytest

from hopweave.graph.model import Node
from hopweave.graph.storage.name_index import edit_distance, without_accents
from hopweave.language.words import word_key
from hopweave.testing.graphs import graph_from_edges

NAMES = ["MV Skua", "Port of Harris", "Aschenbrödel", "Big Eyes", "Philbrook Museum of Art", "北京", "東京", "Harris"]


class Names:
    """The names of a graph."""

    def __init__(self, names):
        self._graph = graph_from_edges(map(Node.entity, names), [])

    def nearest(self, words, threshold=0.75):
        (found,) = self._graph.nearest_names([words], threshold)
        return found and (word_key(self._graph.nodes(np.array(found[0]))[0].name), found[1])


@pytest.fixture(scope="module")
def index():
    return Names(NAMES)


def test_empty():
    assert Names([]).nearest(["skua"]) is None


@pytest.mark.parametrize(
    ("words", "key"),
    [
        (["aschenbrodel"], "aschenbrödel"),
        (["philbrook", "museum"], "philbrook museum of art"),
        (["philbrok", "museum", "of", "art"], "philbrook museum of art"),
        (["haris"], "harris"),
        (["big", "eye"], None),  # too short a word to be misspelt
        (["gull"], None),
        (["how"], None),
        ([], None),
        (["of", "the"], None),
    ],
)
def test_nearest(index, words, key):
    found = index.nearest(words)
    assert (found and found[0]) == key
    assert found is None or 0.75 <= found[1] <= 1


def test_similarity_is_dice_over_rarities():
    index = Names(["a1 b1", "c1 d1"])
    # each word is in one of two names, so all count the same: 2 * 1 / (1 + 2)
    assert index.nearest(["a1"], threshold=0.5) == ("a1 b1", pytest.approx(2 / 3))


def test_ties_go_to_the_shorter_then_the_smaller_name():
    index = Names(["harris bay", "harris ayr"])
    assert index.nearest(["harris"], threshold=0.3)[0] == "harris ayr"


@pytest.mark.parametrize(
    ("one", "other", "limit", "distance"),
    [
        ("skua", "skua", 0, 0),
        ("skua", "skuas", 1, 1),
        ("skua", "suka", 1, 1),
        ("skua", "skau", 1, 1),
        ("skua", "tern", 2, None),
        ("", "ab", 2, 2),
        ("ab", "", 1, None),
        ("harris", "hairs", 2, 2),
    ],
)
def test_edit_distance(one, other, limit, distance):
    assert edit_distance(one, other, limit) == distance


def test_accents_go_but_letters_stay():
    assert without_accents("Łódź") == "Łodz"
    assert without_accents("ёлка") == "ёлка"
    assert without_accents("が") == "が"


def test_leaving_out_names_that_share_too_little_never_loses_the_nearest():
    numbers = random.Random(15)
    letters = "東京都北海道山川大学院"
    names = {" ".join(numbers.choices(letters, k=numbers.randint(1, 6))) for _ in range(300)}
    index = Names(sorted(names))

    def rarity(word):
        return math.log(1 + len(names) / sum(word in name.split() for name in names))

    def dice(one, other):
        values = [sum(map(rarity, some)) for some in (one & other, one, other)]
        return 2 * values[0] / (values[1] + values[2])

    for asked in ("京 大 学 院", "東 京 都", "山 川 山", "北 海 道 大 学"):
        best = max(dice(set(asked.split()), set(name.split())) for name in names)
        found = index.nearest(asked.split(), threshold=0.5)
        assert found[1] == pytest.approx(best)
        assert index.nearest(asked.split(), threshold=min(best + 0.01, 1)) in (None, found)
