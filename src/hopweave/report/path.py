"""A path through the graph as SVG."""

import re
from typing import NamedTuple

from hopweave.report.markup import escaped, shortened

_EDGE = re.compile(r" —([^—→←]{1,200})→ | ←([^—→←]{1,200})— ")
_LEFT, _TOP, _STEP, _WIDTH, _LETTERS = 14, 16, 46, 320, 38


class Station(NamedTuple):
    """A node of a path and the edge that leads to it: its type, and whether it points in the direction of the path."""

    name: str
    edge_type: str | None = None
    forward: bool = True


def stations(words: str) -> list[Station]:
    """The nodes of a path that is described in text, as in receipts.

    >>> stations("Candlemas Gale ←mentions— Mole Light —links_to→ Aldous Pirie")[1]
    Station(name='Mole Light', edge_type='mentions', forward=False)
    """
    first, *rest = _EDGE.split(words)
    steps = zip(rest[::3], rest[1::3], rest[2::3], strict=True)
    return [Station(first), *(Station(name, along or against, along is not None) for along, against, name in steps)]


def path_svg(words: str) -> str:
    """A path as SVG, from top to bottom: a dot for each node, an arrow for each edge, both with their names.

    >>> path_svg("MV Skua —links_to→ Ingrid Falk").count("<circle")
    2
    """
    line = stations(words)
    height = 2 * _TOP + _STEP * (len(line) - 1)
    drawn = [_edge(place, station) for place, station in enumerate(line) if station.edge_type is not None]
    drawn += [_dot(place, station.name, ends=place in (0, len(line) - 1)) for place, station in enumerate(line)]
    return (
        f'<svg class="path" role="img" aria-label="{escaped(words)}" width="{_WIDTH}" height="{height}" '
        f'viewBox="0 0 {_WIDTH} {height}">{"".join(drawn)}</svg>'
    )


def _dot(place: int, name: str, *, ends: bool) -> str:
    y = _TOP + place * _STEP
    return (
        f'<circle cx="{_LEFT}" cy="{y}" r="6" class="{"end" if ends else "way"}"/>'
        f'<text x="{_LEFT + 16}" y="{y + 5}">{escaped(shortened(name, _LETTERS))}<title>{escaped(name)}</title></text>'
    )


def _edge(place: int, station: Station) -> str:
    """The line down to a station, with its arrow head in the middle."""
    bottom = _TOP + place * _STEP
    middle = bottom - _STEP // 2
    tip, back = (middle + 5, middle - 4) if station.forward else (middle - 5, middle + 4)
    return (
        f'<path class="edge" d="M{_LEFT} {bottom - _STEP + 6}V{bottom - 6}"/>'
        f'<path class="head" d="M{_LEFT} {tip}L{_LEFT - 5} {back}H{_LEFT + 5}Z"/>'
        f'<text class="type" x="{_LEFT + 16}" y="{middle + 4}">{escaped(shortened(station.edge_type or "", _LETTERS))}'
        f"</text>"
    )
