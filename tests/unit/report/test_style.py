import pytest

from hopweave.report.page import COLOURS, USUAL, colours, style


def luminance(colour):
    """As WCAG defines it."""
    channels = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("colour", COLOURS)
@pytest.mark.parametrize("background", ["#ffffff", "#121212"])
def test_colours_can_be_seen_on_light_and_dark(colour, background):
    light, dark = sorted((luminance(colour), luminance(background)), reverse=True)
    assert (light + 0.05) / (dark + 0.05) >= 3


def test_usual_signals_keep_their_colour_and_others_get_what_is_left():
    assert colours(["graph"])["graph"] == colours(["words", "graph"])["graph"] == COLOURS[USUAL["graph"]]
    named = colours(["words", "code", "graph", "vector"])
    assert len(set(named.values())) == 4


def test_more_signals_than_colours():
    many = [f"source {number}" for number in range(20)]
    assert set(colours(many)) == set(many)
    assert colours([]) == {}


def test_the_style_touches_nothing_but_the_report():
    selectors = [one for rule in style().split("}") if "{" in rule for one in rule.split("{")[0].split(",")]
    assert all(selector.strip().startswith(".hopweave") for selector in selectors)
