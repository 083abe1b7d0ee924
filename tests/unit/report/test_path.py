from xml.etree import ElementTree as ET

import pytest

from hopweave.graph.model import Node
from hopweave.graph.paths.path import Path
from hopweave.report.path import Station, path_svg, stations

PATH = Path(
    (Node.entity("Candlemas Gale"), Node.entity("Sørvåg Mole Light"), Node.entity("Aldous Pirie")),
    ("mentions", "links_to"),
    (False, True),
    0.5,
    0.5,
)


def test_reads_what_paths_tell():
    assert stations(PATH.words) == [
        Station("Candlemas Gale"),
        Station("Sørvåg Mole Light", "mentions", forward=False),
        Station("Aldous Pirie", "links_to", forward=True),
    ]


def test_one_node_is_a_path():
    assert stations("MV Skua") == [Station("MV Skua")]


@pytest.mark.parametrize("name", ["", "—", "a —→ b", "←", " ←x", "a→b", "x — y"])
def test_a_strange_name_is_just_a_name(name):
    assert [one.name for one in stations(f"{name} —links_to→ end")] == [name, "end"]


def test_the_drawing_is_sound_and_says_the_path():
    drawing = ET.fromstring(path_svg(PATH.words))
    assert drawing.get("role") == "img"
    assert drawing.get("aria-label") == PATH.words
    kinds = [element.tag for element in drawing]
    assert (kinds.count("circle"), kinds.count("path")) == (3, 2 * 2)  # a line and a head for each edge


def test_arrow_heads_point_along_the_edge():
    heads = [one.get("d") for one in ET.fromstring(path_svg(PATH.words)) if one.get("class") == "head"]
    # middles at 16 + 46 - 23 = 39 and 85; against the way the tip is 5 above, along the way 5 below
    assert [head.split("L")[0] for head in heads] == ["M14 34", "M14 90"]


def test_names_cannot_break_out():
    hostile = '"><script>alert(1)</script>'
    drawing = path_svg(f"{hostile} —{hostile}→ {hostile}")
    assert "<script" not in drawing
    assert ET.fromstring(drawing).get("aria-label").count("script") == 6


def test_a_long_name_is_shortened_and_kept_as_title():
    long = "The Honourable Society of Lighthouse Keepers and Their Widows"
    texts = list(ET.fromstring(path_svg(long)).iter("text"))
    assert texts[0].text == "The Honourable Society of Lighthouse …"
    assert texts[0][0].text == long
