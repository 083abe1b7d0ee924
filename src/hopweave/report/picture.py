"""Hits and results as HTML fragments, for notebooks."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from hopweave.hit import Hit, Receipt
from hopweave.metadata.titles import title_of
from hopweave.report.markup import as_html, escaped, number, shortened
from hopweave.report.parts import Part, later_stages, score_parts
from hopweave.report.path import path_svg
from hopweave.report.style import STYLE, colours
from hopweave.scores import sigmoid

if TYPE_CHECKING:
    from hopweave.pipeline import Result

TEXT_LENGTH = 700
"""How much of a passage is shown, in characters."""


def picture(found: "Result | Hit | Iterable[Hit]") -> str:
    """A result, a hit or several hits as an HTML fragment with its own style, for a notebook or a page.

    >>> "<script" in picture(Hit("a", 0.5, "<script>alert(1)</script>"))
    False
    """
    return f"<style>{STYLE}</style>{drawn(found)}"


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
