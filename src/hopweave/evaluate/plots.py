"""Small plots as SVG: points, lines and bars over two axes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from hopweave.report.markup import escaped

Point = tuple[float, float]

_WIDTH, _HEIGHT = 360, 220
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 12, 26, 38


@dataclass(frozen=True, slots=True)
class Series:
    """Points that belong together. `mark` says how they are drawn, `name` what they are."""

    name: str
    points: Sequence[Point]
    mark: Literal["dots", "steps", "bars"] = "dots"
    colour: str = "#0b6e99"


def plot(title: str, across: str, up: str, series: Sequence[Series]) -> str:
    """A plot as an SVG element; `across` and `up` name the axes. Without any point it is empty.

    >>> drawn = plot("Search", "trial", "recall@5", [Series("tried", [(0, 0.5), (1, 0.75)])])
    >>> drawn.count("<circle"), "recall@5" in drawn
    (2, True)
    """
    points = [point for one in series for point in one.points]
    if not points:
        return ""
    zero = any(one.mark == "bars" for one in series)
    frame = _Frame.around(points, zero=zero)
    marks = "".join(_MARKS[one.mark](one, frame) for one in series)
    names = " · ".join(f'<tspan fill="{one.colour}">{escaped(one.name)}</tspan>' for one in series if one.name)
    low, high = frame.low, frame.high
    middle_across, middle_up = (_LEFT + _WIDTH - _RIGHT) / 2, (_TOP + _HEIGHT - _BOTTOM) / 2
    return (
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{escaped(title)}" font-size="11" '
        'font-family="system-ui, sans-serif" fill="currentColor">'
        f'<text x="{_LEFT}" y="14" font-weight="600">{escaped(title)}</text>'
        f'<text x="{_WIDTH - _RIGHT}" y="14" text-anchor="end">{names}</text>'
        f'<path d="M{_LEFT} {_TOP}V{_HEIGHT - _BOTTOM}H{_WIDTH - _RIGHT}" fill="none" stroke="#999"/>'
        f"{marks}"
        f'<text x="{_LEFT}" y="{_HEIGHT - 24}" text-anchor="middle">{low[0]:.3g}</text>'
        f'<text x="{_WIDTH - _RIGHT}" y="{_HEIGHT - 24}" text-anchor="end">{high[0]:.3g}</text>'
        f'<text x="{middle_across}" y="{_HEIGHT - 8}" text-anchor="middle">{escaped(across)}</text>'
        f'<text x="{_LEFT - 4}" y="{_HEIGHT - _BOTTOM}" text-anchor="end">{low[1]:.3g}</text>'
        f'<text x="{_LEFT - 4}" y="{_TOP + 8}" text-anchor="end">{high[1]:.3g}</text>'
        f'<text x="12" y="{middle_up}" text-anchor="middle" transform="rotate(-90 12 {middle_up})">{escaped(up)}</text>'
        "</svg>"
    )


@dataclass(frozen=True, slots=True)
class _Frame:
    """The mapping from data to coordinates of the drawing."""

    low: Point
    high: Point

    @classmethod
    def around(cls, points: Sequence[Point], *, zero: bool) -> "_Frame":
        across, up = [point[0] for point in points], [point[1] for point in points] + ([0.0] if zero else [])
        return cls((min(across), min(up)), (max(across), max(up)))

    def across(self, value: float) -> float:
        return _LEFT + 6 + (_WIDTH - _LEFT - _RIGHT - 12) * _share(value, self.low[0], self.high[0])

    def up(self, value: float) -> float:
        return _HEIGHT - _BOTTOM - 6 - (_HEIGHT - _TOP - _BOTTOM - 12) * _share(value, self.low[1], self.high[1])


def _share(value: float, low: float, high: float) -> float:
    return (value - low) / (high - low) if high > low else 0.5


def _dots(one: Series, frame: _Frame) -> str:
    return "".join(
        f'<circle cx="{frame.across(x):.1f}" cy="{frame.up(y):.1f}" r="3" fill="{one.colour}" fill-opacity="0.6">'
        f"<title>{x:.4g}: {y:.4g}</title></circle>"
        for x, y in one.points
    )


def _steps(one: Series, frame: _Frame) -> str:
    (x, y), *rest = one.points
    way = f"M{frame.across(x):.1f} {frame.up(y):.1f}"
    way += "".join(f"H{frame.across(x):.1f}V{frame.up(y):.1f}" for x, y in rest)
    return f'<path d="{way}" fill="none" stroke="{one.colour}" stroke-width="1.5"/>'


def _bars(one: Series, frame: _Frame) -> str:
    width = max((_WIDTH - _LEFT - _RIGHT) / (len(one.points) + 1) - 1, 1)
    drawn = []
    for x, y in one.points:
        top, bottom = sorted((frame.up(y), frame.up(0)))
        drawn.append(
            f'<rect x="{frame.across(x) - width / 2:.1f}" y="{top:.1f}" width="{width:.1f}" '
            f'height="{max(bottom - top, 0.5):.1f}" fill="{one.colour}"><title>{y:+.3f}</title></rect>'
        )
    return "".join(drawn)


_MARKS = {"dots": _dots, "steps": _steps, "bars": _bars}
