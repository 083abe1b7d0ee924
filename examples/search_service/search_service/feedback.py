"""Which results are relevant, as callers say: kept as judged queries that `hopweave evaluate` and `hopweave tune` read.

Every judgement is in an SQLite file. Beside it, one JSON Lines file per knowledge base has the questions for which at
least one result is relevant; it is replaced as a whole, so that it can be read at any moment.
"""

import hashlib
import json
import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

_SCHEMA = """
CREATE TABLE IF NOT EXISTS judgements (
    knowledge_base TEXT, question TEXT, filters TEXT, tenant TEXT, document TEXT, caller TEXT, relevant INTEGER,
    PRIMARY KEY (knowledge_base, question, filters, tenant, document, caller)
) WITHOUT ROWID"""
_JUDGED = """
SELECT question, filters, tenant, document, sum(2 * relevant - 1) FROM judgements WHERE knowledge_base = ?
GROUP BY question, filters, tenant, document ORDER BY question, filters, tenant, document"""


class Judgements:
    """What callers say about results. The majority counts; on a draw, the result is left out."""

    def __init__(self, folder: Path, max_judgements: int) -> None:
        self._folder = folder
        self._max = max_judgements

    def file(self, knowledge_base: str) -> Path:
        """The judged queries of a knowledge base."""
        return self._folder / f"feedback-{quote(knowledge_base, safe='')}.jsonl"

    def judge(
        self,
        knowledge_base: str,
        question: str,
        document: str,
        relevant: bool | None,
        *,
        caller: str,
        filters: Mapping[str, Any] | None = None,
        tenant: Mapping[str, Any] | None = None,
    ) -> bool:
        """Keep a judgement in place of the caller's last one; None takes it back. False if there are too many."""
        query = (knowledge_base, " ".join(question.split()), _json(filters), _json(tenant))
        with self._open() as connection:
            connection.execute("BEGIN IMMEDIATE")  # the file is written by one worker at a time
            connection.execute(
                "DELETE FROM judgements WHERE (knowledge_base, question, filters, tenant, document, caller) = "
                "(?, ?, ?, ?, ?, ?)",
                (*query, document, caller),
            )
            if relevant is not None:
                if connection.execute("SELECT count(*) FROM judgements").fetchone()[0] >= self._max:
                    return False
                connection.execute(
                    "INSERT INTO judgements VALUES (?, ?, ?, ?, ?, ?, ?)", (*query, document, caller, relevant)
                )
            rows = connection.execute(_JUDGED, (knowledge_base,)).fetchall()
            _replace(self.file(knowledge_base), "".join(_lines(rows)))
        return True

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        self._folder.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(self._folder / "feedback.db", timeout=30)) as connection, connection:
            connection.execute(_SCHEMA)
            yield connection


def _lines(rows: list[tuple[str, str, str, str, int]]) -> Iterator[str]:
    """One line per question that has a relevant result."""
    judged: dict[tuple[str, str, str], dict[str, int]] = {}
    for question, filters, tenant, document, votes in rows:
        judged.setdefault((question, filters, tenant), {})[document] = votes
    for (question, filters, tenant), votes in judged.items():
        gold = [document for document, balance in votes.items() if balance > 0]
        if not gold:
            continue
        line = {
            "id": hashlib.sha256("\0".join((question, filters, tenant)).encode()).hexdigest()[:16],
            "question": question,
            "gold": gold,
            "not_relevant": [document for document, balance in votes.items() if balance < 0],
            "filters": json.loads(filters),
            "tenant": json.loads(tenant),
        }
        yield json.dumps({name: value for name, value in line.items() if value}, ensure_ascii=False) + "\n"


def _replace(file: Path, text: str) -> None:
    new = file.with_suffix(".new")
    with new.open("w", encoding="utf-8") as written:
        written.write(text)
        written.flush()
        os.fsync(written.fileno())
    new.replace(file)


def _json(value: Mapping[str, Any] | None) -> str:
    return json.dumps(value or None, sort_keys=True)
