from xml.etree import ElementTree as ET

import pytest

from hopweave.evaluate.plots import Series, plot


def drawn(*series):
    return ET.fromstring(plot("Score & trial", "trial", "recall@5", series))


def test_points_lie_where_they_should():
    left, right = drawn(Series("tried", [(0, 0.25), (10, 0.75)])).findall("circle")
    assert float(left.get("cx")) < float(right.get("cx"))
    assert float(left.get("cy")) > float(right.get("cy"))  # up is down in SVG


def test_axes_say_where_they_begin_and_end():
    texts = [text.text for text in drawn(Series("tried", [(0, 0.25), (10, 0.75)])).findall("text")]
    assert {"0", "10", "0.25", "0.75", "trial", "recall@5", "Score & trial"} <= set(texts)


@pytest.mark.parametrize("points", [[(1, 0.5)], [(1, 0.5), (1, 0.5)], [(0, 0.0), (1, 0.0)]])
@pytest.mark.parametrize("mark", ["dots", "steps", "bars"])
def test_points_that_are_all_alike(points, mark):
    assert drawn(Series("tried", points, mark)).tag == "svg"


def test_bars_stand_on_zero():
    up, down = drawn(Series("", [(1, 0.5), (2, -0.5)], "bars")).findall("rect")
    assert float(up.get("y")) + float(up.get("height")) == pytest.approx(float(down.get("y")))


def test_nothing_to_draw():
    assert plot("Empty", "x", "y", []) == plot("Empty", "x", "y", [Series("tried", [])]) == ""
