"""Ranking metrics, computed by ir-measures: recall, precision, all relevant found, reciprocal rank and nDCG."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from hopweave.extras import of_extra

if TYPE_CHECKING:
    from hopweave.evaluate.queries import EvaluationQuery, Qrels

Judging = Literal["classes", "strict"]
"""The ways to apply relevance judgements.

`classes`: a class counts as found at the best rank of any of its ids; its other ids keep their ranks but do not
count. `strict`: only the first id of each class is relevant.
"""

DEFAULT_MEASURES = ("recall@5", "recall@10", "all_gold@10", "mrr@10", "ndcg@10")

_NAMES = {
    "recall": "R",
    "precision": "P",
    "all_gold": "R",
    "mrr": "RR",
    "ndcg": "nDCG",
}  # our names and those of ir-measures
_MEASURE = re.compile(r"(\w+)@([1-9]\d{0,5})")


def depth(measure: str) -> int:
    """The cutoff of a measure, that is how many hits it considers; an unknown measure is an error.

    >>> depth("recall@5")
    5
    >>> depth("recal@5")
    Traceback (most recent call last):
        ...
    ValueError: measure: 'recal@5' is not allowed: there are recall@K, precision@K, all_gold@K, mrr@K, ndcg@K
    """
    return _parsed(measure)[1]


def score_each(
    judged: "Sequence[EvaluationQuery]",
    rankings: Sequence[Sequence[str]],
    measures: Sequence[str] = DEFAULT_MEASURES,
    *,
    judging: Judging = "classes",
) -> dict[str, tuple[float, ...]]:
    """The value of each measure for each query, given the ids found for it, best first.

    `recall@K` is the share of the relevant classes that are among the first K, `precision@K` the share of the first K
    that are relevant, `all_gold@K` is 1 if all relevant classes are there, else 0, `mrr@K` is the reciprocal of the
    rank of the first one and 0 if that is beyond K, and `ndcg@K` is the discounted cumulative gain divided by the best
    possible.

    >>> from hopweave.evaluate.queries import EvaluationQuery
    >>> judged = [EvaluationQuery.read({"question": "Who built the gate?", "gold": ["gate", "oram"]})]
    >>> score_each(judged, [["skua", "gate", "lunn", "oram"]], ["recall@2", "all_gold@4", "mrr@10"])
    {'recall@2': (0.5,), 'all_gold@4': (1.0,), 'mrr@10': (0.5,)}
    """
    if judging not in ("classes", "strict"):
        raise ValueError(f"judging: {judging!r} is not allowed: there are classes and strict")
    library = of_extra("measure", "ir_measures")
    wanted = {name: _measure(library, name) for name in measures}
    qrels, run = [], []
    for number, (one, ranking) in enumerate(zip(judged, rankings, strict=True)):
        classes = one.qrels if judging == "classes" else tuple(group[:1] for group in one.qrels)
        qrels += [library.Qrel(str(number), f"gold {group}", 1) for group in range(len(classes))]
        run += [
            library.ScoredDoc(str(number), name, float(-rank)) for rank, name in enumerate(_collapsed(ranking, classes))
        ]
    found: dict[Any, dict[int, float]] = {measure: {} for measure in wanted.values()}
    if qrels:
        for metric in library.iter_calc(list(found), qrels, run):
            found[metric.measure][int(metric.query_id)] = float(metric.value)
    return {
        name: tuple(_finished(name, found[measure][number]) for number in range(len(judged)))
        for name, measure in wanted.items()
    }


def _finished(name: str, value: float) -> float:
    return float(value == 1) if name.startswith("all_gold@") else value


def _collapsed(ranking: Sequence[str], qrels: "Qrels") -> list[str]:
    """The ranking with one name per class, at the rank of the first of its ids."""
    classes = {key: group for group, keys in enumerate(qrels) for key in keys}
    names, seen = [], set()
    for rank, key in enumerate(ranking):
        group = classes.get(key)
        names.append(f"other {rank}" if group is None or group in seen else f"gold {group}")
        seen.add(group)
    return names


def _parsed(measure: str) -> tuple[str, int]:
    match = _MEASURE.fullmatch(measure)
    if not match or match[1] not in _NAMES:
        raise ValueError(f"measure: {measure!r} is not allowed: there are {', '.join(f'{name}@K' for name in _NAMES)}")
    return match[1], int(match[2])


def _measure(library: Any, measure: str) -> Any:
    name, cut = _parsed(measure)
    return getattr(library, _NAMES[name]) @ cut
