"""Writing: single documents at once, uploads in the background."""

import asyncio
import json
import logging
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from hopweave import Document
from hopweave.errors import HopweaveError
from hopweave.knowledge_base.documents import Added, Entry
from hopweave.readers.fields import document_from_fields
from hopweave.readers.validation import unreadable
from search_service.engine import Engine
from search_service.messages import (
    DocumentBody,
    DocumentLine,
    KnowledgeBaseInfo,
)
from search_service.operation.guard import Refused
from search_service.operation.jobs import Job, Jobs, Runner
from search_service.operation.keys import current_caller
from search_service.operation.metrics import WRITTEN
from search_service.settings import Settings

logger = logging.getLogger("search_service")

T = TypeVar("T")
BATCH = 64
MAX_ERRORS = 100
TAKEN = "This id is taken by a document of somebody else."
_LINE = TypeAdapter(DocumentLine)
_BUSY = {"retry-after": "1"}


class Documents:
    """Writes to every knowledge base: single ones in a thread of their own, uploads in the background."""

    def __init__(self, settings: Settings, engines: Mapping[str, Engine]) -> None:
        self._engines = engines
        self._feedback = settings.feedback
        self._thread = ThreadPoolExecutor(1, "write")  # writers take turns anyway
        self._max_writing, self._writing = settings.max_writing, 0
        self.jobs = Jobs(settings.state_folder / "jobs.db", settings.max_jobs)
        self.runner = Runner(self.jobs, self._upload)
        self.runner.start()

    def close(self) -> None:
        """Let the write end that is under way."""
        self.runner.stop()
        self._thread.shutdown()

    def engine(self, name: str | None) -> Engine:
        """The knowledge base of this name that the caller may use."""
        allowed = current_caller().knowledge_bases
        names = [one for one in self._engines if allowed is None or one in allowed]
        if name is None and names:
            name = names[0]
        if name is None or name not in names:
            raise Refused(404, "There is no knowledge base of this name.")
        return self._engines[name]

    def described(self) -> list[KnowledgeBaseInfo]:
        """The knowledge bases that the caller may search."""
        caller = current_caller()
        return [
            KnowledgeBaseInfo(
                name=name,
                documents=engine.store.count(),
                writable=caller.role == "write",
                feedback=self._feedback,
            )
            for name, engine in self._engines.items()
            if caller.knowledge_bases is None or name in caller.knowledge_bases
        ]

    async def put(self, engine: Engine, document: Document) -> Added | None:
        """Store a document; None if somebody else has one of this id, which the caller may not see."""
        store, tenant = engine.store, current_caller().tenant

        def put() -> Added | None:
            return None if store.hidden([document.id], tenant) else store.put([document])

        done = await self.write(put)
        if done is not None:
            note_written(engine.name, done)
        return done

    async def delete(self, engine: Engine, work: Callable[..., int], which: Any) -> int:
        """Delete what the caller may see; how many documents that was."""
        gone = await self.write(work, which, current_caller().tenant)
        WRITTEN.labels(engine.name, "deleted").inc(gone)
        return gone

    async def write(self, work: Callable[..., T], *arguments: Any) -> T:
        """Do it after the writes that came before; if there are too many of them, not at all."""
        if self._writing >= self._max_writing:
            raise Refused(503, "Too many writes at once. Try again in a moment.", **_BUSY)
        self._writing += 1
        future = asyncio.get_running_loop().run_in_executor(self._thread, work, *arguments)
        future.add_done_callback(self._done)
        try:
            return await asyncio.shield(future)  # what has begun is finished, even if the caller has gone
        except Exception as error:  # whatever the client of a store raises
            logger.warning("write failed", extra={"fields": {"reason": f"{type(error).__name__}: {error}"}})
            raise Refused(503, "The documents cannot be changed at the moment.", **_BUSY) from error

    def _done(self, _: object) -> None:
        self._writing -= 1

    def _upload(self, job: Job, stopped: Callable[[], bool]) -> bool:
        """Store the lines of an upload in batches and note lines that are no document; False if there is more to do."""
        store = self._engines[job.knowledge_base].store
        lines, done, errors, failed = read_lines(job.body, job.tenant), 0, list[dict[str, Any]](), 0
        while batch := list(islice(lines, BATCH)):
            if stopped():
                return False
            hidden = store.hidden([one.id for _, one in batch if isinstance(one, Document)], job.tenant)
            good = [one for _, one in batch if isinstance(one, Document) and one.id not in hidden]
            bad = {number: one if isinstance(one, str) else TAKEN for number, one in batch if one not in good}
            note_written(job.knowledge_base, store.put(good))
            done, failed = done + len(good), failed + len(bad)
            errors += [{"line": number, "message": message} for number, message in bad.items()]
            self.jobs.progress(job, done, failed, errors[:MAX_ERRORS])
        self.jobs.progress(job, done, failed, errors[:MAX_ERRORS], "done")
        return True


def note_written(knowledge_base: str, done: Added) -> None:
    """Count what has changed."""
    WRITTEN.labels(knowledge_base, "added").inc(done.added)
    WRITTEN.labels(knowledge_base, "updated").inc(done.updated)


def read_lines(body: bytes, tenant: Mapping[str, Any]) -> Iterator[tuple[int, Document | str]]:
    """The documents of an upload with the numbers of their lines; a message for a line that is none."""
    for number, line in enumerate(body.split(b"\n"), start=1):
        if line.strip():
            yield number, read_line(line, tenant)


def read_line(line: bytes, tenant: Mapping[str, Any]) -> Document | str:
    """A document from the fields that `hopweave index` takes; a message if it is none."""
    try:
        fields = json.loads(line)
        if not isinstance(fields, dict):
            return "is not a JSON object"
        if fields.get("id") is None:
            return "id: is missing"
        read = document_from_fields(fields, "", "line")
        if read.vector is not None:
            return "vector: is not taken, as texts get theirs here"
        checked = _LINE.validate_python({"id": read.id, "content": read.text, "metadata": dict(read.metadata)})
    except ValidationError as error:
        fault = error.errors(include_input=False, include_url=False)[0]
        return f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}"
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        return _shortened(str(unreadable("", error)).removeprefix(": "))
    return as_document(checked.id, checked, tenant)


def _shortened(message: str) -> str:
    return message[:200].encode("utf-8", "replace").decode()


def as_document(key: str, body: DocumentBody, tenant: Mapping[str, Any]) -> Document | str:
    """The document to store, which belongs to the tenant who sends it; a message if it cannot be stored."""
    source = {"source": body.source} if body.source else {}
    document = Document(key, body.content, {**body.metadata, **source, **tenant})
    try:
        Entry.of(document)
    except HopweaveError:
        return "metadata: cannot be stored"
    return document
