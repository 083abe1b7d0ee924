"""Styles of reports. All colours except those of the signals derive from the text colour, for light and dark pages."""

COLOURS = ("#4477aa", "#c85a00", "#228833", "#aa3377", "#8a6d00", "#00868b", "#777777")
"""Colours of signals: distinguishable for colour-blind readers, with a contrast of 3 to 1 on white and on black."""

USUAL = {"text": 0, "vector": 1, "embedding": 1, "graph": 2, "intent_edges": 3, "base": 1, "bm25": 0, "pagerank": 2}
"""Signals that have the same colour in every report."""

STYLE = """
.hopweave{--line:color-mix(in srgb,currentColor 22%,transparent);--soft:color-mix(in srgb,currentColor 6%,transparent);
  font:15px/1.5 system-ui,sans-serif;max-width:60rem;overflow-wrap:anywhere}
.hopweave *{box-sizing:border-box}
.hopweave h2{font-size:1.35em;line-height:1.3;margin:.2em 0 .5em}
.hopweave h3{font-size:1.05em;margin:0;display:inline}
.hopweave .facts,.hopweave .legend,.hopweave .parts{display:flex;flex-wrap:wrap;gap:.2em 1.2em;list-style:none;
  margin:.3em 0;padding:0}
.hopweave .facts b{font-weight:600}
.hopweave .key{display:inline-block;width:.8em;height:.8em;border-radius:2px;margin-right:.35em;vertical-align:-.05em}
.hopweave .note{border-left:4px solid #c85a00;background:var(--soft);padding:.4em .8em;margin:.6em 0}
.hopweave .hits{list-style:none;margin:1em 0;padding:0}
.hopweave .hit{border:1px solid var(--line);border-radius:8px;padding:.8em 1em;margin:0 0 .8em}
.hopweave .top{display:flex;flex-wrap:wrap;gap:.2em .7em;align-items:baseline}
.hopweave .rank{font-variant-numeric:tabular-nums;opacity:.75}
.hopweave .score{margin-left:auto;font-weight:600;font-variant-numeric:tabular-nums}
.hopweave code{font:.9em/1.4 ui-monospace,monospace;background:none;color:inherit;padding:0}
.hopweave .bar{display:block;width:100%;height:12px;margin:.5em 0 .2em;background:var(--soft);border-radius:3px}
.hopweave .parts,.hopweave .small{font-size:.87em}
.hopweave .passage{margin:.6em 0;white-space:pre-line}
.hopweave .path{display:block;max-width:100%;height:auto;margin:.6em 0}
.hopweave .path text{font:14px system-ui,sans-serif;fill:currentColor}
.hopweave .path .type{font-size:12.5px;font-style:italic;opacity:.8}
.hopweave .path circle{stroke:#228833;stroke-width:3;fill:none}
.hopweave .path .end,.hopweave .path .head{fill:#228833}
.hopweave .path .edge{stroke:#228833;stroke-width:2;fill:none}
.hopweave details{margin:.4em 0}
.hopweave summary{cursor:pointer;padding:.25em 0}
.hopweave summary:focus-visible{outline:2px solid currentColor;outline-offset:2px}
.hopweave .receipts{list-style:none;margin:0;padding:0}
.hopweave .receipts>li{border-top:1px solid var(--line);padding:.4em 0}
.hopweave dl{display:grid;grid-template-columns:fit-content(45%) 1fr;gap:.1em .9em;margin:.2em 0;
  font-size:.92em}
.hopweave dt{opacity:.8}
.hopweave dd{margin:0;min-width:0;font-variant-numeric:tabular-nums}
.hopweave dl dl,.hopweave dd table{font-size:1em}
.hopweave .wide{overflow-x:auto}
.hopweave table{border-collapse:collapse;width:100%;max-width:32rem;font-variant-numeric:tabular-nums;font-size:.92em}
.hopweave th,.hopweave td{text-align:left;font-weight:400;padding:.1em .6em .1em 0;border:0;background:none}
.hopweave td.ms{text-align:right;white-space:nowrap}
.hopweave pre{white-space:pre-wrap;font:.87em/1.5 ui-monospace,monospace;background:var(--soft);padding:.6em .8em;
  border-radius:6px}
"""

PAGE_STYLE = """
:root{color-scheme:light dark}
body{margin:0;padding:1rem;background:Canvas;color:CanvasText;-webkit-text-size-adjust:100%}
main{margin:0 auto;max-width:60rem}
h1{font:600 1.1rem/1.4 system-ui,sans-serif;opacity:.8;margin:0 0 .8rem}
@media print{.hopweave .hit{break-inside:avoid}}
"""


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
