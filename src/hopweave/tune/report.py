"""A report on tuning: one HTML page with tables and plots."""

from collections.abc import Sequence
from itertools import accumulate

from hopweave.evaluate.plots import Series, plot
from hopweave.report.markup import escaped
from hopweave.tune.search import best
from hopweave.tune.tune import Tuning

_CHOSEN = "#c2410c"
_CAUTIOUS = "minus one standard error"
_STYLE = """\
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #222 }
table { border-collapse: collapse; margin: 1rem 0 } td, th { padding: .2rem .8rem; border-bottom: 1px solid #ddd }
td, th { text-align: right } td:first-child, th:first-child { text-align: left }
.plots { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fill, minmax(20rem, 1fr)) }
pre { background: #f5f5f5; padding: 1rem; overflow-x: auto }
@media (prefers-color-scheme: dark) { body { background: #1b1b1b; color: #ddd } pre { background: #2a2a2a } }
"""


def tuning_report(tuning: Tuning) -> str:
    """A self-contained HTML page: measures, parameters, plots of the search and of the held-out queries, the recipe.

    >>> from hopweave.document import Document
    >>> from hopweave.knowledge_base.store import KnowledgeBase
    >>> from hopweave.evaluate.queries import EvaluationQuery
    >>> from hopweave.tune.tune import tune
    >>> judged = [EvaluationQuery.read({"question": f"What about number {n}?", "gold": [str(n)]}) for n in range(6)]
    >>> with KnowledgeBase.open() as kb:
    ...     _ = kb.add(Document(str(n), f"This is about number {n}.") for n in range(6))
    ...     page = tuning_report(tune(kb, "hybrid", judged, trials=2))
    >>> page.count("<svg")
    5
    """
    title = escaped(f"Tuning {tuning.start.name}")
    warnings = "".join(f"<li>{escaped(warning)}</li>" for warning in tuning.warnings)
    turns = f"in {tuning.folds} groups, one at a time" if tuning.folds > 1 else "in one group"
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style></head><body>'
        f"<h1>{title}</h1><p><strong>{escaped(tuning.verdict)}</strong></p>"
        f"{f'<ul>{warnings}</ul>' if warnings else ''}"
        f"{_table(*tuning.figures())}<p>{len(tuning.held_out)} queries were held out, {turns}; "
        f"a search makes {len(tuning.trials) - 1} trials.</p>"
        f"<h2>Parameters</h2>{_table(*tuning.numbers())}"
        f'<h2>The search</h2><div class="plots">{_history(tuning)}{_gains(tuning)}{_slices(tuning)}</div>'
        f"<h2>Recipe</h2><pre>{escaped(tuning.to_yaml())}</pre></body></html>\n"
    )


def _history(tuning: Tuning) -> str:
    tried = [(float(trial.number), trial.score) for trial in tuning.trials]
    so_far = [(number, score) for (number, _), score in zip(tried, accumulate((s for _, s in tried), max), strict=True)]
    series = [Series("tried", tried), Series("best so far", so_far, "steps", _CHOSEN)]
    return plot("Score by trial", "trial", f"{tuning.measure}, {_CAUTIOUS}", series)


def _gains(tuning: Tuning) -> str:
    gains = sorted((after - before for before, after in zip(tuning.before, tuning.after, strict=True)), reverse=True)
    bars = Series("", [(float(place), gain) for place, gain in enumerate(gains, start=1)], "bars")
    return plot("Gain of each held-out query", "query, best first", tuning.measure, [bars])


def _slices(tuning: Tuning) -> str:
    chosen = best(tuning.trials)
    return "".join(
        plot(
            one.path,
            "value",
            f"{tuning.measure}, {_CAUTIOUS}",
            [
                Series("tried", [(trial.values[one.path], trial.score) for trial in tuning.trials]),
                Series("best", [(chosen.values[one.path], chosen.score)], colour=_CHOSEN),
            ],
        )
        for one in tuning.parameters
    )


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f"<th>{escaped(cell)}</th>" for cell in heads)
    body = "".join(f"<tr>{''.join(f'<td>{escaped(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
