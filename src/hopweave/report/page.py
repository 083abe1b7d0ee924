"""Hits and results as HTML: a fragment for notebooks, or a self-contained page."""

from collections.abc import Iterable, Mapping, Sequence
from importlib import resources
from typing import TYPE_CHECKING

from hopweave.concurrency.once import once
from hopweave.document import title_of
from hopweave.hit import Hit, Receipt, show_hits_as
from hopweave.report.markup import as_html, escaped, number, shortened
from hopweave.report.parts import Part, later_stages, score_parts
from hopweave.report.path import path_svg
from hopweave.scores import sigmoid

if TYPE_CHECKING:
    from hopweave.pipeline import Result

TEXT_LENGTH = 700
"""The number of characters of a passage that are shown."""

COLOURS = ("#4477aa", "#c85a00", "#228833", "#aa3377", "#8a6d00", "#00868b", "#777777")
"""Colours of signals: distinguishable for colour-blind readers, with a contrast of 3 to 1 on white and on black."""

USUAL = {"text": 0, "vector": 1, "embedding": 1, "graph": 2, "intent_edges": 3, "base": 1, "bm25": 0, "pagerank": 2}
"""Signals that have the same colour in every report."""

_PAGE_STYLE = """
:root{color-scheme:light dark}
body{margin:0;padding:1rem;background:Canvas;color:CanvasText;-webkit-text-size-adjust:100%}
main{margin:0 auto;max-width:60rem}
h1{font:600 1.1rem/1.4 system-ui,sans-serif;opacity:.8;margin:0 0 .8rem}
@media print{.hopweave .hit{break-inside:avoid}}
"""


def html_report(found: "Result | Hit | Iterable[Hit]", *, title: str | None = None) -> str:
    """A result or hits as one HTML page without scripts or network access, for light and dark, phone and print.

    Hits show their score as a bar split by signal, the path that led to them and their receipts; a result also its
    intent, plan, failures and timings. Documents and nodes of a framework become hits by its adapter's `to_hit`.

    >>> html_report([Hit("gate", 0.5, "The tide gate opens at six.")], title="Tides").startswith("<!doctype html>")
    True
    """
    heading = title or "What was found, and why"
    name = title or (heading if isinstance(found, Iterable) else found.query.text)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{escaped(name)} · hopweave</title><style>{_PAGE_STYLE}{style()}</style></head>"
        f"<body><main><h1>{escaped(heading)}</h1>{drawn(found)}</main></body></html>\n"
    )


def picture(found: "Result | Hit | Iterable[Hit]") -> str:
    """A result, a hit or several hits as an HTML fragment with its own style, for a notebook or a page.

    >>> "<script" in picture(Hit("a", 0.5, "<script>alert(1)</script>"))
    False
    """
    return f"<style>{style()}</style>{drawn(found)}"


def drawn(found: "Result | Hit | Iterable[Hit]") -> str:
    """The same without the style, for a page that includes it.

    >>> drawn([])
    '<div class="hopweave"><p>No hits.</p></div>'
    """
    if isinstance(found, Hit):  # a tuple and so iterable, therefore checked first
        inner = _hits([found])
    else:
        inner = _hits(list(found)) if isinstance(found, Iterable) else _result(found)
    return f'<div class="hopweave">{inner}</div>'


def _result(result: "Result") -> str:
    return "".join(
        (
            f'<h2 dir="auto">{escaped(result.query.text)}</h2>',
            _facts(result),
            *(
                f'<p class="note" role="note"><b>{escaped(name)}</b> failed and was skipped: {escaped(why)}</p>'
                for name, why in result.failures.items()
            ),
            _hits(result.hits),
            _paths(result),
            _neighbours(result),
            _timings(result.timings),
            f"<details><summary>Context for a prompt</summary><pre>{escaped(result.context.text)}</pre></details>"
            if result.context
            else "",
        )
    )


def _facts(result: "Result") -> str:
    """Intent, gate and plan as a list."""
    facts = {}
    if intent := result.query.intent:
        also = f" (also {', '.join(intent.also)})" if intent.also else ""
        facts["Intent"] = f"{intent.name}{also}"
    if gate := result.gate:
        facts["Gate"] = f"{'retrieves' if gate.retrieve else 'skips retrieval'}: {gate.reason}"
    facts["Plan"] = f"{', '.join(result.plan.sources)} ({result.plan.reason})"
    if "total" in result.timings:
        facts["Took"] = _milliseconds(result.timings["total"])
    shown = (f"<li><b>{name}</b> {escaped(fact)}</li>" for name, fact in facts.items())
    return f'<ul class="facts">{"".join(shown)}</ul>'


def _hits(hits: Sequence[Hit]) -> str:
    if not hits:
        return "<p>No hits.</p>"
    parts = [score_parts(hit) for hit in hits]
    colour = colours(list(dict.fromkeys(part.signal for one in parts for part in one)))
    best = max(map(_strength, hits))
    cards = (
        f'<li class="hit">{_card(rank, hit, known, colour, _strength(hit) / best if best else 0.0)}</li>'
        for rank, (hit, known) in enumerate(zip(hits, parts, strict=True), start=1)
    )
    return f'<ol class="hits">{"".join(cards)}</ol>'


def _strength(hit: Hit) -> float:
    """The length of a hit's bar relative to those of other hits; never below 0."""
    if hit.score is None:
        return 0.0
    return sigmoid(hit.score) if hit.scale == "logit" else max(hit.score, 0.0)


def _card(rank: int, hit: Hit, parts: Sequence[Part], colour: Mapping[str, str], length: float) -> str:
    title = title_of(hit.metadata) or hit.id
    name = f'<code class="small">{escaped(hit.id)}</code>' if title != hit.id else ""
    paths = (one.details["path"] for one in hit.receipts if isinstance(one.details.get("path"), str))
    path = next(paths, None)
    metadata = f"<details><summary>Metadata</summary>{as_html(dict(hit.metadata))}</details>" if hit.metadata else ""
    return "".join(
        (
            f'<div class="top"><span class="rank">{rank}.</span><h3 dir="auto">{escaped(title)}</h3>{name}',
            f'<span class="score">{number(hit.score)}</span></div>',
            _bar(hit, parts, colour, length),
            f'<p class="passage" dir="auto">{escaped(shortened(hit.text, TEXT_LENGTH))}</p>' if hit.text else "",
            path_svg(path) if path else "",
            _receipts(hit.receipts),
            metadata,
        )
    )


def _bar(hit: Hit, parts: Sequence[Part], colour: Mapping[str, str], length: float) -> str:
    """The score as a bar, relative to the best score and split by signal."""
    if not parts:
        return ""
    total = sum(max(part.amount, 0.0) for part in parts)
    left, drawn = 0.0, []
    for part in parts:
        width = 100 * length * max(part.amount, 0.0) / total if total else 0.0
        drawn.append(f'<rect x="{left:.3f}" width="{width:.3f}" height="10" fill="{colour[part.signal]}"/>')
        left += width
    words = " + ".join(f"{part.signal} {number(part.amount)}" for part in parts)
    keys = [
        f'<li><span class="key" style="background:{colour[part.signal]}"></span>{escaped(part.signal)} '
        f"{number(part.amount)}</li>"
        for part in parts
    ]
    if later := later_stages(hit):
        keys.append(f"<li>then {escaped(', '.join(later))} → {number(hit.score)}</li>")
    return (
        f'<svg class="bar" role="img" aria-label="score {number(hit.score)}, fused from {escaped(words)}" '
        f'viewBox="0 0 100 10" preserveAspectRatio="none">{"".join(drawn)}</svg><ul class="parts">{"".join(keys)}</ul>'
    )


def _receipts(receipts: Sequence[Receipt]) -> str:
    if not receipts:
        return ""
    lines = (
        f"<li><b>{escaped(one.stage)}</b> "
        + (f"{number(one.before)} → " if one.before is not None else "")
        + f"{number(one.after)}{as_html(dict(one.details)) if one.details else ''}</li>"
        for one in receipts
    )
    stages = " → ".join(dict.fromkeys(one.stage for one in receipts))
    return (
        f'<details><summary>Receipts: {escaped(stages)}</summary><ol class="receipts">{"".join(lines)}</ol></details>'
    )


def _paths(result: "Result") -> str:
    """The paths between the hits, the most reliable first."""
    if not result.paths or not result.paths.paths:
        return ""
    drawn = "".join(path_svg(path.words) for path in result.paths.paths)
    return f"<details><summary>Paths between the hits ({len(result.paths.paths)})</summary>{drawn}</details>"


def _neighbours(result: "Result") -> str:
    """The neighbourhood of the services of the hits, those of the best hit first."""
    if not result.neighbourhood or not result.neighbourhood.lines:
        return ""
    lines = "".join(f"<li>{escaped(line)}</li>" for line in reversed(result.neighbourhood.lines))
    return f"<details><summary>Around the hits</summary><ul>{lines}</ul></details>"


def _timings(timings: Mapping[str, float]) -> str:
    if not timings:
        return ""
    longest = max(timings.values()) or 1.0
    rows = (
        f'<tr><th scope="row">{escaped(step)}</th><td class="ms">{_milliseconds(seconds)}</td><td aria-hidden="true">'
        f'<svg class="bar" viewBox="0 0 100 10" preserveAspectRatio="none">'
        f'<rect width="{100 * seconds / longest:.2f}" height="10" fill="currentColor" opacity=".5"/></svg></td></tr>'
        for step, seconds in timings.items()
    )
    return f"<details><summary>Where the time went</summary><table>{''.join(rows)}</table></details>"


def _milliseconds(seconds: float) -> str:
    return f"{1000 * seconds:.1f} ms"


def colours(signals: list[str]) -> dict[str, str]:
    """A colour for each signal: the usual one, or the next that is free.

    >>> colours(["graph", "words"]) == {"graph": COLOURS[2], "words": COLOURS[0]}
    True
    """
    taken = {USUAL[signal] for signal in signals if signal in USUAL}
    free = [place for place in range(len(COLOURS)) if place not in taken] or [len(COLOURS) - 1]
    others = [signal for signal in signals if signal not in USUAL]
    places = USUAL | {signal: free[min(place, len(free) - 1)] for place, signal in enumerate(others)}
    return {signal: COLOURS[places[signal]] for signal in signals}


@once()
def style() -> str:
    """The style of reports. All colours but those of signals derive from the text colour, for light and dark pages."""
    return (resources.files(__package__) / "style.css").read_text(encoding="utf-8")


show_hits_as(picture)
