"""Escaped and formatted text for HTML and SVG."""

import html
import re
from typing import Any

# not allowed in HTML, or not encodable: control characters but tab and line breaks, lone surrogates, non-characters
_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def escaped(value: Any) -> str:
    """A value as text that can neither open a tag nor leave an attribute.

    >>> escaped('<b title="x">')
    '&lt;b title=&quot;x&quot;&gt;'
    """
    return html.escape(_UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", str(value)), quote=True)


def number(value: float | None) -> str:
    """A score in four digits, a whole number as it is; a dash if there is none.

    >>> number(0.98432), number(None), number(20260501)
    ('0.9843', '–', '20260501')
    """
    shown = "–" if value is None else str(value) if isinstance(value, int) else f"{value:.4g}"
    return shown.replace("-", "−")


def shortened(text: str, length: int) -> str:
    """The beginning of a text, cut between words.

    >>> shortened("The tide gate opens at six.", 16)
    'The tide gate …'
    """
    return text if len(text) <= length else text[: length - 1].rsplit(" ", 1)[0].rstrip() + " …"


def as_html(value: Any) -> str:
    """A value of a receipt as HTML: a mapping becomes a list, or a table if all its entries have the same keys.

    >>> as_html({"rank": 1, "seeds": ["MV Skua"]})
    '<dl><dt>rank</dt><dd>1</dd><dt>seeds</dt><dd><bdi>MV Skua</bdi></dd></dl>'
    """
    if isinstance(value, dict):
        entries = list(value.values())
        if entries and all(isinstance(one, dict) and one and one.keys() == entries[0].keys() for one in entries):
            return _table(value)
        return f"<dl>{''.join(f'<dt>{escaped(key)}</dt><dd>{as_html(one)}</dd>' for key, one in value.items())}</dl>"
    if isinstance(value, list | tuple):
        return ", ".join(as_html(one) for one in value) or "none"
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "–"}[value]
    return number(value) if isinstance(value, int | float) else f"<bdi>{escaped(value)}</bdi>" if value else "–"


def _table(rows: dict[str, dict[str, Any]]) -> str:
    head = "".join(f'<th scope="col">{escaped(name)}</th>' for name in next(iter(rows.values())))
    body = "".join(
        f'<tr><th scope="row">{escaped(name)}</th>{"".join(f"<td>{as_html(one)}</td>" for one in row.values())}</tr>'
        for name, row in rows.items()
    )
    return f'<div class="wide"><table><tr><td></td>{head}</tr>{body}</table></div>'
