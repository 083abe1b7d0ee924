"""Queries for evaluation: questions with relevance judgements (qrels)."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from hopweave.errors import UnreadableInput
from hopweave.knowledge import Knowledge
from hopweave.metadata.timestamps import read_timestamp
from hopweave.query import Query, utc_now

FEW_QUERIES = 20
"""With fewer queries than this, a warning is given that the figures are not reliable."""

Qrels = tuple[tuple[str, ...], ...]
"""Relevance judgements of one query: classes of ids, each satisfied by any of its ids.

The first id of a class is the one that counts with strict judging.
"""

_SHOWN = 5
_READ = ("id", "question", "gold", "filters", "tenant", "now")


@dataclass(frozen=True, slots=True)
class EvaluationQuery:
    """A question and its relevance judgements.

    `qrels` is read from the key `gold`, as the files of multi-hop question sets call it. `fields` holds all other keys
    of the line (a note, the number of hops), unchanged.
    """

    id: str
    query: Query
    qrels: Qrels
    fields: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def read(cls, fields: Mapping[str, Any], *, id: str = "query", now: datetime | None = None) -> "EvaluationQuery":  # noqa: A002 - the name of the field
        """A query from plain data; errors name the field, the value and what is allowed.

        `gold` lists ids of relevant documents; an item that is itself a list is a class, satisfied by any of its ids.
        `now` is the time of the query if the data have none.

        >>> one = EvaluationQuery.read({"question": "Who built the gate?", "gold": ["gate", ["oram", "oram-family"]]})
        >>> one.qrels
        (('gate',), ('oram', 'oram-family'))
        >>> EvaluationQuery.read({"question": "Who built the gate?", "gold": []})
        Traceback (most recent call last):
            ...
        ValueError: gold: [] is not allowed: it must be a list of at least one id
        """
        question = fields.get("question")
        if not isinstance(question, str) or not question.strip():
            raise _error("question", question, "a text that is not empty")
        key = fields.get("id", id)
        if not isinstance(key, str | int) or isinstance(key, bool):
            raise _error("id", key, "a text or a whole number")
        query = Query(
            question,
            filters=_mapping(fields, "filters"),
            tenant=_mapping(fields, "tenant"),
            now=_moment(fields.get("now"), now),
        )
        query.admits()  # raises if an operator does not exist
        rest = {name: value for name, value in fields.items() if name not in _READ}
        return cls(str(key), query, _qrels(fields.get("gold")), rest)


def read_queries(path: str | Path, *, now: datetime | None = None) -> list[EvaluationQuery]:
    r"""Judged queries from a JSON Lines file; errors raise `UnreadableInput` with file, line and field.

    Each line has `question` and `gold` (see `EvaluationQuery.read`) and may have `id`, `filters`, `tenant` and `now`.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "queries.jsonl")
    ...     _ = file.write_text('{"id": "q1", "question": "Who built the gate?", "gold": ["gate"]}\n')
    ...     [(one.id, one.qrels) for one in read_queries(file)]
    [('q1', (('gate',),))]
    """
    now = now or utc_now()  # one time for all queries
    try:
        found = list(_lines(Path(path), now))
    except (OSError, UnicodeDecodeError) as error:
        reason = "does not exist" if isinstance(error, FileNotFoundError) else f"cannot be read: {error}"
        raise UnreadableInput(f"{path}: {reason}") from error
    if not found:
        raise UnreadableInput(f"{path}: has no judged queries")
    return found


def query_set_warnings(judged: Sequence[EvaluationQuery], knowledge: Knowledge) -> list[str]:
    """Warnings about a set of queries: too few for reliable figures, or relevant documents that are not stored.

    >>> from hopweave.knowledge_base.store import KnowledgeBase
    >>> with KnowledgeBase.open() as kb:
    ...     query_set_warnings([EvaluationQuery.read({"id": "q1", "question": "Who?", "gold": ["gate"]})], kb)[1]
    "1 gold id is not in the knowledge base: q1 'gate'"
    """
    warnings = []
    if len(judged) < FEW_QUERIES:
        warnings.append(f"only {len(judged)} judged queries: with fewer than {FEW_QUERIES}, figures are not reliable")
    known = knowledge.get({key for one in judged for group in one.qrels for key in group})
    missing = [(one.id, key) for one in judged for group in one.qrels for key in group if key not in known]
    if missing:
        shown = ", ".join(f"{query} {key!r}" for query, key in missing[:_SHOWN])
        more = f" and {len(missing) - _SHOWN} more" if len(missing) > _SHOWN else ""
        ids = "id is" if len(missing) == 1 else "ids are"
        warnings.append(f"{len(missing)} gold {ids} not in the knowledge base: {shown}{more}")
    return warnings


def _lines(file: Path, now: datetime) -> Iterator[EvaluationQuery]:
    seen: dict[str, int] = {}
    with file.open(encoding="utf-8-sig") as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            place = f"{file} line {number}"
            try:
                fields = json.loads(line)
            except (ValueError, RecursionError) as error:
                raise UnreadableInput(f"{place}: is not JSON: {error}") from error
            if not isinstance(fields, dict):
                raise UnreadableInput(f"{place}: is not a JSON object")
            try:
                one = EvaluationQuery.read(fields, id=f"line {number}", now=now)
            except ValueError as error:
                raise UnreadableInput(f"{place}: {error}") from error
            if one.id in seen:
                raise UnreadableInput(f"{place}: id: {one.id!r} is that of line {seen[one.id]} already")
            seen[one.id] = number
            yield one


def _qrels(value: Any) -> Qrels:
    if not isinstance(value, list | tuple) or not value:
        raise _error("gold", value, "a list of at least one id")
    groups = [tuple(item) if isinstance(item, list | tuple) else (item,) for item in value]
    seen: set[str] = set()
    for group in groups:
        if not group:
            raise ValueError("gold: a class without ids is not allowed")
        for key in group:
            if not isinstance(key, str):
                raise _error("gold", key, "an id, which is a text, or a list of ids")
            if key in seen:
                raise ValueError(f"gold: {key!r} comes twice; an id belongs to one class")
            seen.add(key)
    return tuple(groups)


def _mapping(fields: Mapping[str, Any], name: str) -> Mapping[str, Any] | None:
    value = fields.get(name)
    if value is not None and not isinstance(value, Mapping):
        raise _error(name, value, "a mapping of metadata fields")
    return value


def _moment(value: Any, now: datetime | None) -> datetime:
    if value is None:
        return now or utc_now()
    moment = read_timestamp(value)
    if moment is None:
        raise _error("now", value, "an ISO date or epoch seconds")
    return moment


def _error(name: str, value: Any, allowed: str) -> ValueError:
    given = "nothing" if value is None else repr(value)
    return ValueError(f"{name}: {given} is not allowed: it must be {allowed}")
