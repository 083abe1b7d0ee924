"""What the service does with a request: search, sum up what was found, say how it is."""

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Event
from time import perf_counter, time_ns
from typing import Any

from hopweave import Hit
from hopweave.errors import HopweaveError
from hopweave.report.parts import score_parts
from hopweave.report.path import stations
from search_service.documents import Documents
from search_service.engine import Engine, Found, Unavailable, opened_engine
from search_service.feedback import Judgements
from search_service.messages import Health, Part, SearchRequest
from search_service.operation.guard import Refused
from search_service.operation.keys import current_caller
from search_service.operation.traces import note_steps
from search_service.settings import Settings
from search_service.streaming import NOT_WRITTEN, Events, summary_events
from search_service.synthesis import Failed, Writer, extract


class Service:
    """What lives as long as the process: the engine, its threads, and who writes summaries."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        settings.state_folder.mkdir(parents=True, exist_ok=True)
        self.engines = {name: opened_engine(name, place, settings) for name, place in settings.places.items()}
        self.judgements = Judgements(settings.state_folder, settings.max_judgements)
        self.documents = Documents(settings, self.engines)
        written = settings.synthesis.enabled and settings.synthesis.url
        self.writer = Writer(settings.synthesis) if written else None
        self._threads = ThreadPoolExecutor(settings.threads, "search")
        self._waiting = 0

    async def close(self) -> None:
        """Let running searches end, then close everything."""
        await asyncio.to_thread(self._threads.shutdown, cancel_futures=True)
        await asyncio.to_thread(self.documents.close)
        if self.writer:
            await self.writer.close()
        for engine in self.engines.values():
            engine.store.close()

    async def answer(self, request: SearchRequest) -> dict[str, Any]:
        """Search, and sum up what was found."""
        started = perf_counter()
        found, sentences = await self.find(request)
        summary = " ".join(sentences) or None
        if self.writer and found.hits:
            summary = await self._written(self.writer, request.query, found)
        found.timings["total"] = 1000 * (perf_counter() - started)
        return response(request, found, summary)

    async def results(self, request: SearchRequest) -> dict[str, Any]:
        """Search alone."""
        found, _ = await self.find(request)
        return response(request, found, None)

    async def find(self, request: SearchRequest) -> tuple[Found, list[str]]:
        """Search; and unless a model writes the summary, the sentences it is made of."""
        if self._waiting >= self.settings.max_waiting:
            raise Refused(503, "Too many searches at once. Try again in a moment.", **{"retry-after": "1"})
        engine, tenant = self.documents.engine(request.knowledge_base), current_caller().tenant
        self._waiting += 1
        loop, stopped = asyncio.get_running_loop(), Event()
        work = self._threads.submit(self._search, engine, request, tenant, stopped.is_set)
        # not when the caller has gone, but when the thread is free
        work.add_done_callback(lambda _: loop.call_soon_threadsafe(self._done))
        try:
            running = asyncio.wrap_future(work)
            running.add_done_callback(lambda one: one.cancelled() or one.exception())  # if nobody waits for it any more
            answered = asyncio.shield(running)
            found, sentences = await asyncio.wait_for(answered, self.settings.request_seconds)
        except TimeoutError as error:
            raise Refused(503, "The search took too long and was given up.") from error
        except (Unavailable, HopweaveError) as error:
            raise Refused(503, "This method of search is not available at the moment.") from error
        finally:  # a search that nobody waits for is not begun, or ends before its next step
            stopped.set()
            work.cancel()
        note_steps(found.timings, time_ns())
        return found, sentences

    def _done(self) -> None:
        self._waiting -= 1

    def _search(
        self, engine: Engine, request: SearchRequest, tenant: Mapping[str, Any], stopped: Callable[[], bool]
    ) -> tuple[Found, list[str]]:
        found = engine.search(request, tenant, stopped)
        if not self.settings.synthesis.enabled or self.writer:
            return found, []
        return found, self.extracted(request.query, found)

    def extracted(self, question: str, found: Found) -> list[str]:
        """The summary in the sources' own sentences."""
        started = perf_counter()
        sentences = extract(question, found.hits[: self.settings.synthesis.max_sources])
        found.timings["synthesis"] = 1000 * (perf_counter() - started)
        return sentences

    async def stream(self, request: SearchRequest) -> Events:
        """Search, and then the events of an answer. What is refused is refused at once."""
        started = perf_counter()
        found, sentences = await self.find(request)
        return self._events(request, found, sentences, started)

    async def _events(self, request: SearchRequest, found: Found, sentences: list[str], started: float) -> Events:
        yield "results", response(request, found, None)
        again, begun = partial(self.extracted, request.query, found), perf_counter()
        async for name, data in summary_events(self.writer, request.query, found.hits, sentences, again):
            if name == "error":
                found.degraded.append(data["message"])
            yield name, data
        if self.writer:
            found.timings["synthesis"] = 1000 * (perf_counter() - begun)
        found.timings["total"] = 1000 * (perf_counter() - started)
        yield "done", {"timings": rounded(found.timings), "degraded": found.degraded}

    async def _written(self, writer: Writer, question: str, found: Found) -> str | None:
        started = perf_counter()
        try:
            summary: str | None = await writer.write(question, found.hits)
        except Failed:
            found.degraded.append(NOT_WRITTEN)
            summary = " ".join(self.extracted(question, found)) or None
        found.timings["synthesis"] = 1000 * (perf_counter() - started)
        return summary

    async def health(self) -> Health:
        """How each part is."""
        each = {name: await asyncio.to_thread(engine.health) for name, engine in self.engines.items()}
        parts = {_part(name, part): state for name, own in each.items() for part, state in own.items()}
        if self.writer:
            parts["synthesis"] = self.writer.health()
        else:
            enabled = self.settings.synthesis.enabled
            parts["synthesis"] = Part(status="ok" if enabled else "off", detail="extractive" if enabled else "none")
        worst = {part.status for part in parts.values()}
        status = next((status for status in ("failing", "degraded") if status in worst), "healthy")
        words = any("words" in own and own["words"].status == "ok" for own in each.values())
        return Health(
            status=status,  # type: ignore[arg-type]  # one of three words
            vector_db=[name for name, own in each.items() if "vectors" in own and own["vectors"].status == "ok"],
            keyword_engine="failing" if status == "failing" else "connected" if words else "off",
            parts=parts,
        )


def _part(knowledge_base: str, part: str) -> str:
    """Parts of the knowledge base that is meant if none is named go by their own names."""
    return part if knowledge_base == "default" else f"{knowledge_base}.{part}"


def response(request: SearchRequest, found: Found, summary: str | None) -> dict[str, Any]:
    """A `SearchResponse` as plain data: checking again what hopweave made would cost more than the search."""
    results = [as_result(hit, rank) for rank, hit in enumerate(found.hits, start=1)]
    return {
        "results": results,
        "query": request.query,
        "method_used": found.method_used,
        "total_results": len(results),
        "synthesis": summary,
        "citations": [result["source"] for result in results] if request.include_citations else [],
        "timings": rounded(found.timings),
        "intent": found.intent,
        "weights": found.weights,
        "confidence": found.confidence,
        "degraded": found.degraded,
    }


def rounded(timings: dict[str, float]) -> dict[str, float]:
    """Microseconds are enough."""
    return {step: round(milliseconds, 3) for step, milliseconds in timings.items()}


def as_result(hit: Hit, rank: int) -> dict[str, Any]:
    """A hit as callers see it."""
    parts = score_parts(hit)
    whole = sum(part.amount for part in parts) or 1.0
    share = (hit.score or 0.0) / whole
    path = next((one.details["path"] for one in reversed(hit.receipts) if "path" in one.details), None)
    source = hit.metadata.get("source")
    return {
        "content": hit.text,
        "source": source if isinstance(source, str) and source else hit.id,
        "relevance_score": hit.score,
        "rank": rank,
        "metadata": dict(hit.metadata),
        "receipt": {
            "id": hit.id,
            "signals": [{"name": part.signal, "share": part.amount * share} for part in parts],
            "path": [station._asdict() for station in stations(path)] if path else [],
            "steps": [receipt.as_dict() for receipt in hit.receipts],
        },
    }
