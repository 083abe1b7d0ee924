"""The plots of the benchmark page, as small SVG files that change only when their figures do."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

STYLE = {
    "svg.hashsalt": "hopweave",  # the same ids in every run
    "svg.fonttype": "none",  # text stays text
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
}
LINES = {
    "index_seconds": ("indexing, s", "#444444"),
    "text_ms": ("text, ms", "#0b6e99"),
    "vector_ms": ("vectors, ms", "#c2410c"),
    "graph_ms": ("graph, ms", "#15803d"),
    "whole_ms": ("whole recipe, ms", "#7e22ce"),
}
OURS = "#0b6e99"
THEIRS = "#9ca3af"


def draw_all(figures: Mapping[str, Any], folder: Path) -> list[Path]:
    """Draw every plot whose figures are there; the files."""
    folder.mkdir(parents=True, exist_ok=True)
    drawn = []
    with mpl.rc_context(STYLE):
        if "growth" in figures:
            drawn.append(_saved(growth(figures["growth"]), folder / "growth.svg"))
        for name, by_embedder in figures.get("side_by_side", {}).items():
            embedder, rows = next(iter(by_embedder.items()))
            drawn.append(_saved(quality(f"{name}, {embedder}", rows), folder / f"{name}.svg"))
    return drawn


def growth(figures: Mapping[str, Any]) -> Figure:
    """Cost over number of passages, both logarithmic: a slope of 1 is linear growth."""
    figure = Figure((5.6, 3.2), layout="constrained")
    axes = figure.add_subplot()
    sizes = [int(size) for size in figures["sizes"]]
    for name, (label, colour) in LINES.items():
        values = [row[name] for row in figures["sizes"].values()]
        axes.loglog(sizes, values, "o-", color=colour, label=f"{label} (slope {figures['slopes'][name]:.2f})")
    axes.set_xlabel("passages")
    axes.set_xticks(sizes, [f"{size:,}" for size in sizes])
    axes.yaxis.set_major_formatter("{x:g}")
    axes.minorticks_off()
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    return figure


def quality(title: str, rows: Mapping[str, Mapping[str, float]]) -> Figure:
    """Recall as bars, one per contender, each with the time of a question."""
    figure = Figure((5.6, 0.6 + 0.32 * len(rows)), layout="constrained")
    axes = figure.add_subplot()
    recalls = [row["recall@5"] for row in rows.values()]
    colours = [OURS if label.startswith("hopweave") else THEIRS for label in rows]
    bars = axes.barh(list(rows), recalls, color=colours)
    axes.bar_label(bars, [f"{row['recall@5']:.2f} in {row['median_ms']:.0f} ms" for row in rows.values()], padding=4)
    axes.invert_yaxis()
    axes.set_xlim(0, 1.25)
    axes.set_xticks([0, 0.5, 1])
    axes.set_xlabel(f"recall@5, {title}")
    return figure


def draw_calibration(bins: list[Mapping[str, float]], file: Path) -> Path:
    """Draw the calibration of `result.confidence`; the file."""
    with mpl.rc_context(STYLE):
        return _saved(calibration(bins), file)


def calibration(bins: list[Mapping[str, float]]) -> Figure:
    """How often questions were answered over how confident the result was; on the diagonal, both are the same."""
    figure = Figure((4.2, 3.4), layout="constrained")
    axes = figure.add_subplot()
    axes.plot([0, 1], [0, 1], color=THEIRS, linewidth=1)
    sizes = [2000 * one["share"] for one in bins]
    axes.scatter([one["confidence"] for one in bins], [one["answered"] for one in bins], sizes, color=OURS, alpha=0.8)
    axes.set_xlabel("confidence, mean of a bin")
    axes.set_ylabel("all gold passages among 10 hits")
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1)
    return figure


def _saved(figure: Figure, file: Path) -> Path:
    figure.savefig(file, metadata={"Date": None})
    return file
