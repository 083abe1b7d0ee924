"""Uploads that are indexed in the background: kept in a file of their own, so that any worker can tell how far one is.

A job is accepted when it is on disk. One that was under way when the service was killed is begun again at the next
start, which changes nothing about the documents that it has stored already.
"""

import json
import logging
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from threading import Event, Thread
from typing import Any
from uuid import uuid4

from search_service.operation.state import is_alive

logger = logging.getLogger("search_service")

_SCHEMA = """
CREATE TABLE IF NOT EXISTS jobs (
    id TEXT PRIMARY KEY, knowledge_base TEXT NOT NULL, owner TEXT NOT NULL, tenant TEXT NOT NULL, status TEXT NOT NULL,
    worker INTEGER, lines INTEGER NOT NULL, done INTEGER NOT NULL DEFAULT 0, failed INTEGER NOT NULL DEFAULT 0,
    errors TEXT NOT NULL DEFAULT '[]', created TEXT NOT NULL, finished TEXT, body BLOB
)"""
_SHOWN = "id, knowledge_base, status, lines, done, failed, errors, created, finished"
_KEPT = 1000
"""Jobs that have ended and can still be asked for."""


@dataclass(frozen=True, slots=True)
class Job:
    """What a worker has to do."""

    id: str
    knowledge_base: str
    tenant: dict[str, Any]
    body: bytes


class Jobs:
    """All jobs of a service, in one SQLite file."""

    def __init__(self, file: Path, max_waiting: int) -> None:
        self._file = file
        self._max_waiting = max_waiting
        with self._open() as connection:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute(_SCHEMA)

    def give_back(self, worker: int | None = None) -> None:
        """What a worker has under way, or any worker before this start, is to be done from the beginning."""
        with self._open() as connection:
            connection.execute(
                "UPDATE jobs SET status = 'queued', done = 0, failed = 0 WHERE status = 'running' "
                "AND worker = coalesce(?, worker)",
                (worker,),
            )

    def submit(self, knowledge_base: str, owner: str, tenant: dict[str, Any], body: bytes) -> str | None:
        """The id of a new job; None if too many wait."""
        key, lines = uuid4().hex, sum(1 for line in body.split(b"\n") if line.strip())
        with self._open() as connection:
            connection.execute("BEGIN IMMEDIATE")
            waiting = connection.execute("SELECT count(*) FROM jobs WHERE status IN ('queued', 'running')").fetchone()
            if waiting[0] >= self._max_waiting:
                return None
            connection.execute(
                "INSERT INTO jobs (id, knowledge_base, owner, tenant, status, lines, created, body) "
                "VALUES (?, ?, ?, ?, 'queued', ?, ?, ?)",
                (key, knowledge_base, owner, json.dumps(tenant), lines, _now(), body),
            )
            connection.execute(
                "DELETE FROM jobs WHERE finished IS NOT NULL AND rowid <= (SELECT max(rowid) FROM jobs) - ?", (_KEPT,)
            )
        return key

    def status(self, key: str, owner: str) -> dict[str, Any] | None:
        """How far a job of this owner is."""
        with self._open() as connection:
            connection.row_factory = sqlite3.Row
            row = connection.execute(f"SELECT {_SHOWN} FROM jobs WHERE id = ? AND owner = ?", (key, owner)).fetchone()
        return None if row is None else {**row, "errors": json.loads(row["errors"])}

    def claim(self) -> Job | None:
        """The job that has waited longest; no other worker gets it. Jobs of workers that are gone wait again."""
        with self._open() as connection:
            busy = connection.execute("SELECT worker FROM jobs WHERE status = 'running'").fetchall()
        for (worker,) in busy:
            if not is_alive(worker):
                self.give_back(worker)
        with self._open() as connection:
            row = connection.execute(
                "UPDATE jobs SET status = 'running', worker = ? "
                "WHERE rowid = (SELECT min(rowid) FROM jobs WHERE status = 'queued') "
                "RETURNING id, knowledge_base, tenant, body",
                (os.getpid(),),
            ).fetchone()
        return None if row is None else Job(row[0], row[1], json.loads(row[2]), row[3])

    def progress(self, job: Job, done: int, failed: int, errors: list[dict[str, Any]], status: str = "running") -> None:
        """Note how far a job is. One that has ended no longer keeps what was uploaded."""
        ended = status != "running"
        with self._open() as connection:
            connection.execute(
                "UPDATE jobs SET status = ?, done = ?, failed = ?, errors = ?, finished = ?, "
                "body = CASE WHEN ? THEN NULL ELSE body END WHERE id = ?",
                (status, done, failed, json.dumps(errors), _now() if ended else None, ended, job.id),
            )

    def fail(self, job: Job) -> None:
        """Note that a job could not be done; what it had stored stays."""
        with self._open() as connection:
            message = json.dumps([{"line": 0, "message": "The documents could not be stored. Upload them again."}])
            connection.execute(
                "UPDATE jobs SET status = 'failed', errors = ?, finished = ?, body = NULL WHERE id = ?",
                (message, _now(), job.id),
            )

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        with closing(sqlite3.connect(self._file, timeout=30)) as connection, connection:
            yield connection


class Runner(Thread):
    """Does one job after the other until it is told to stop, between two batches if need be.

    `work` does a job; it says False if it was stopped before the end.
    """

    def __init__(self, jobs: Jobs, work: Callable[[Job, Callable[[], bool]], bool], poll_seconds: float = 1.0) -> None:
        super().__init__(name="jobs", daemon=True)
        self._jobs, self._work, self._poll_seconds = jobs, work, poll_seconds
        self._wake, self._stopped = Event(), Event()

    def wake(self) -> None:
        """There is a new job."""
        self._wake.set()

    def stop(self) -> None:
        """End after the batch that is under way; the rest is done at the next start."""
        self._stopped.set()
        self._wake.set()
        self.join()

    def run(self) -> None:
        """Look for jobs, of this worker or left to it by another."""
        while not self._stopped.is_set():
            self._wake.clear()
            try:
                if self._do_one():
                    continue
            except Exception:
                logger.exception("jobs cannot be read")
            self._wake.wait(self._poll_seconds)

    def _do_one(self) -> bool:
        job = self._jobs.claim()
        if job is None:
            return False
        try:
            if not self._work(job, self._stopped.is_set):
                self._jobs.give_back(os.getpid())
        except Exception:
            logger.exception("job failed", extra={"fields": {"job": job.id}})
            self._jobs.fail(job)
        return True


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
