"""A report as a self-contained HTML page."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from hopweave.hit import Hit
from hopweave.report.markup import escaped
from hopweave.report.picture import drawn
from hopweave.report.style import PAGE_STYLE, STYLE

if TYPE_CHECKING:
    from hopweave.pipeline import Result


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
        f"<title>{escaped(name)} · hopweave</title><style>{PAGE_STYLE}{STYLE}</style></head>"
        f"<body><main><h1>{escaped(heading)}</h1>{drawn(found)}</main></body></html>\n"
    )
