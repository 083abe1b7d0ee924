"""Judged queries: questions together with the ids of the documents that answer them."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from hopweave.component import Knowledge
from hopweave.errors import UnreadableInput
from hopweave.query import Query, utc_now
from hopweave.timestamps import read_timestamp

FEW_QUERIES = 20
"""With fewer judged queries than this, figures say little."""

Gold = tuple[tuple[str, ...], ...]
"""What must be found: classes of ids, each satisfied by any of its ids. The first id of a class is the plain answer."""

_SHOWN = 5
_READ = ("id", "question", "gold", "filters", "tenant", "asked_at")


@dataclass(frozen=True, slots=True)
class JudgedQuery:
    """A question and what must be found for it.

    `fields` are whatever else stood in its line (a note, the number of hops), kept as they were.
    """

    id: str
    query: Query
    gold: Gold
    fields: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def read(cls, fields: Mapping[str, Any], *, id: str = "query", now: datetime | None = None) -> "JudgedQuery":  # noqa: A002 - the name of the field
        """A judged query from plain data; a fault names the field, the value and what is allowed.

        `gold` lists ids; an item that is itself a list is a class, satisfied by any of its ids. `now` is the time of
        asking where the data give none.

        >>> one = JudgedQuery.read({"question": "Who built the gate?", "gold": ["gate", ["oram", "oram-family"]]})
        >>> one.gold
        (('gate',), ('oram', 'oram-family'))
        >>> JudgedQuery.read({"question": "Who built the gate?", "gold": []})
        Traceback (most recent call last):
            ...
        ValueError: gold: [] is not allowed: it must be a list of at least one id
        """
        question = fields.get("question")
        if not isinstance(question, str) or not question.strip():
            raise _fault("question", question, "a text that is not empty")
        key = fields.get("id", id)
        if not isinstance(key, str | int) or isinstance(key, bool):
            raise _fault("id", key, "a text or a whole number")
        query = Query(
            question,
            filters=_mapping(fields, "filters"),
            tenant=_mapping(fields, "tenant"),
            asked_at=_moment(fields.get("asked_at"), now),
        )
        query.admits()  # raises if there is an operator that does not exist
        rest = {name: value for name, value in fields.items() if name not in _READ}
        return cls(str(key), query, _gold(fields.get("gold")), rest)


def read_judged(path: str | Path, *, now: datetime | None = None) -> list[JudgedQuery]:
    r"""Judged queries from a JSON Lines file; what is wrong raises `UnreadableInput` with file, line and field.

    Each line has `question` and `gold` (see `JudgedQuery.read`) and may have `id`, `filters`, `tenant` and `asked_at`.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "queries.jsonl")
    ...     _ = file.write_text('{"id": "q1", "question": "Who built the gate?", "gold": ["gate"]}\n')
    ...     [(one.id, one.gold) for one in read_judged(file)]
    [('q1', (('gate',),))]
    """
    now = now or utc_now()  # all are asked at the same time
    try:
        found = list(_lines(Path(path), now))
    except (OSError, UnicodeDecodeError) as error:
        reason = "does not exist" if isinstance(error, FileNotFoundError) else f"cannot be read: {error}"
        raise UnreadableInput(f"{path}: {reason}") from error
    if not found:
        raise UnreadableInput(f"{path}: holds no judged queries")
    return found


def doubts(judged: Sequence[JudgedQuery], knowledge: Knowledge) -> list[str]:
    """What speaks against trusting figures from these queries, in words: too few, or gold that cannot be found.

    >>> from hopweave.knowledge_base.store import KnowledgeBase
    >>> with KnowledgeBase.open() as kb:
    ...     doubts([JudgedQuery.read({"id": "q1", "question": "Who?", "gold": ["gate"]})], kb)[1]
    "1 gold id is not in the knowledge base: q1 'gate'"
    """
    said = []
    if len(judged) < FEW_QUERIES:
        said.append(f"{len(judged)} judged queries are few: with fewer than {FEW_QUERIES}, figures say little")
    known = knowledge.get({key for one in judged for group in one.gold for key in group})
    missing = [(one.id, key) for one in judged for group in one.gold for key in group if key not in known]
    if missing:
        shown = ", ".join(f"{query} {key!r}" for query, key in missing[:_SHOWN])
        more = f" and {len(missing) - _SHOWN} more" if len(missing) > _SHOWN else ""
        ids = "id is" if len(missing) == 1 else "ids are"
        said.append(f"{len(missing)} gold {ids} not in the knowledge base: {shown}{more}")
    return said


def _lines(file: Path, now: datetime) -> Iterator[JudgedQuery]:
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
                one = JudgedQuery.read(fields, id=f"line {number}", now=now)
            except ValueError as error:
                raise UnreadableInput(f"{place}: {error}") from error
            if one.id in seen:
                raise UnreadableInput(f"{place}: id: {one.id!r} is that of line {seen[one.id]} already")
            seen[one.id] = number
            yield one


def _gold(value: Any) -> Gold:
    if not isinstance(value, list | tuple) or not value:
        raise _fault("gold", value, "a list of at least one id")
    groups = [tuple(item) if isinstance(item, list | tuple) else (item,) for item in value]
    seen: set[str] = set()
    for group in groups:
        if not group:
            raise ValueError("gold: a class without ids is not allowed")
        for key in group:
            if not isinstance(key, str):
                raise _fault("gold", key, "an id, which is a text, or a list of ids")
            if key in seen:
                raise ValueError(f"gold: {key!r} comes twice; an id belongs to one class")
            seen.add(key)
    return tuple(groups)


def _mapping(fields: Mapping[str, Any], name: str) -> Mapping[str, Any] | None:
    value = fields.get(name)
    if value is not None and not isinstance(value, Mapping):
        raise _fault(name, value, "a mapping of metadata fields")
    return value


def _moment(value: Any, now: datetime | None) -> datetime:
    if value is None:
        return now or utc_now()
    moment = read_timestamp(value)
    if moment is None:
        raise _fault("asked_at", value, "an ISO date or epoch seconds")
    return moment


def _fault(name: str, value: Any, allowed: str) -> ValueError:
    given = "nothing" if value is None else repr(value)
    return ValueError(f"{name}: {given} is not allowed: it must be {allowed}")
