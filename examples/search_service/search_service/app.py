"""The HTTP face of the service."""

import asyncio
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from threading import Event
from time import perf_counter
from typing import Any

from fastapi import FastAPI, Request, Response, Security
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.security import APIKeyHeader
from pydantic_core import to_json
from starlette.exceptions import HTTPException

from hopweave import Hit
from hopweave.errors import HopweaveError
from hopweave.report.parts import score_parts
from hopweave.report.path import stations
from search_service.engine import Engine, Found, Unavailable
from search_service.guard import Guard, Refused
from search_service.messages import Fault, Health, Part, Problem, SearchRequest, SearchResponse
from search_service.settings import Settings
from search_service.streaming import DESCRIPTION, NOT_WRITTEN, Events, sent, summary_events
from search_service.synthesis import Failed, Writer, extract
from search_service.tools import Handed, Tools, over_http

PAGE = Path(__file__).parent / "page"
FILES = {
    "/": ("index.html", "text/html; charset=utf-8"),
    "/page.css": ("page.css", "text/css; charset=utf-8"),
    "/page.js": ("page.js", "text/javascript; charset=utf-8"),
    "/icon.svg": ("icon.svg", "image/svg+xml"),
}
_BUSY = {503: {"model": Problem, "description": "Too busy, too slow, or without what the method needs"}}
_REFUSED: dict[int | str, dict[str, Any]] = {
    400: {"model": Problem, "description": "The body cannot be read"},
    401: {"model": Problem, "description": "No valid key"},
    408: {"model": Problem, "description": "The body did not arrive in time"},
    413: {"model": Problem, "description": "The body is too large"},
    422: {"model": Problem, "description": "Not JSON, or not a valid request"},
}
_key = APIKeyHeader(name="X-API-Key", auto_error=False)


class Service:
    """What lives as long as the process: the engine, its threads, and who writes summaries."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.engine = Engine(settings)
        written = settings.synthesis.enabled and settings.synthesis.url
        self.writer = Writer(settings.synthesis) if written else None
        self._threads = ThreadPoolExecutor(settings.threads, "search")
        self._waiting = 0

    async def close(self) -> None:
        """Let running searches end, then close everything."""
        await asyncio.to_thread(self._threads.shutdown, cancel_futures=True)
        if self.writer:
            await self.writer.close()
        self.engine.close()

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
        self._waiting += 1
        loop, stopped = asyncio.get_running_loop(), Event()
        work = self._threads.submit(self._search, request, stopped.is_set)
        # not when the caller has gone, but when the thread is free
        work.add_done_callback(lambda _: loop.call_soon_threadsafe(self._done))
        try:
            answered = asyncio.shield(asyncio.wrap_future(work))
            return await asyncio.wait_for(answered, self.settings.request_seconds)
        except TimeoutError as error:
            raise Refused(503, "The search took too long and was given up.") from error
        except (Unavailable, HopweaveError) as error:
            raise Refused(503, "This method of search is not available at the moment.") from error
        finally:  # a search that nobody waits for is not begun, or ends before its next step
            stopped.set()
            work.cancel()

    def _done(self) -> None:
        self._waiting -= 1

    def _search(self, request: SearchRequest, stopped: Callable[[], bool]) -> tuple[Found, list[str]]:
        found = self.engine.search(request, stopped)
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
        parts = await asyncio.to_thread(self.engine.health)
        if self.writer:
            parts["synthesis"] = self.writer.health()
        else:
            enabled = self.settings.synthesis.enabled
            parts["synthesis"] = Part(status="ok" if enabled else "off", detail="extractive" if enabled else "none")
        worst = {part.status for part in parts.values()}
        status = next((status for status in ("failing", "degraded") if status in worst), "ok")
        return Health(status=status, parts=parts)  # type: ignore[arg-type]  # one of three words


def create() -> Guard:
    """The application, with settings from the environment."""
    settings = Settings()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        service = app.state.service = await asyncio.to_thread(Service, settings)
        app.state.mcp = over_http(Tools(service.results), settings.mcp.allowed_hosts)
        async with app.state.mcp.run():
            yield
        await service.close()

    app = FastAPI(
        title="Search service",
        description="Finds passages by words, by meaning and along the graph, and says why.",
        version="1.0",
        lifespan=lifespan,
        docs_url=None,  # they load scripts from elsewhere; the page at / does not
        redoc_url=None,
    )
    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(HTTPException, refused)
    app.add_exception_handler(Refused, refused)

    described = [Security(_key)] if settings.api_key else []  # for the description; the guard is who looks at keys

    @app.post(
        "/search",
        response_model=SearchResponse,
        responses={**_REFUSED, **_BUSY},
        dependencies=described,
        tags=["search"],
    )
    async def search(asked: SearchRequest, request: Request) -> Response:
        """Search the knowledge base and sum up what is found."""
        answer = await app.state.service.answer(asked)
        request.state.fields.update(
            search=asked.method, results=answer["total_results"], degraded=len(answer["degraded"])
        )
        return Response(to_json(answer, inf_nan_mode="null"), media_type="application/json")

    @app.post(
        "/search/stream",
        response_class=Response,
        responses={200: DESCRIPTION, **_REFUSED, **_BUSY},
        dependencies=described,
        tags=["search"],
    )
    async def search_stream(asked: SearchRequest, request: Request) -> Response:
        """Search the knowledge base, and sum up what is found while it is written."""
        events = await app.state.service.stream(asked)
        request.state.fields.update(search=asked.method)
        return sent(events)

    @app.get("/health", response_model=Health, responses={503: {"model": Health}}, tags=["health"])
    async def health() -> Response:
        """How each part of the service is."""
        found = await app.state.service.health()
        status = 503 if found.status == "failing" else 200
        return Response(found.model_dump_json(), status_code=status, media_type="application/json")

    @app.get("/health/live", tags=["health"])
    async def live() -> dict[str, str]:
        """Whether the process answers at all."""
        return {"status": "ok"}

    if settings.mcp.enabled:

        @app.post("/mcp", include_in_schema=False)
        async def mcp() -> Response:
            """Tools of the Model Context Protocol, which has a description of its own."""
            return Handed(app.state.mcp)

    for path, (name, kind) in FILES.items():
        body = (PAGE / name).read_bytes()
        app.get(path, include_in_schema=False)(partial(_page, body, kind))

    return Guard(app, settings)


async def _page(body: bytes, kind: str) -> Response:
    return Response(body, media_type=kind, headers={"cache-control": "no-cache"})


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


async def invalid(request: Request, error: Exception) -> Response:
    """422, with the fields that are not right, and nothing of what was sent in them."""
    assert isinstance(error, RequestValidationError)
    faults = [
        Fault(field=_readable(".".join(str(part) for part in fault["loc"][1:])), message=_readable(fault["msg"]))
        for fault in error.errors()[:20]
    ]
    return problem(request, 422, "The request is not valid.", faults)


async def refused(request: Request, error: Exception) -> Response:
    """A refusal as JSON."""
    if isinstance(error, Refused):
        return problem(request, error.status, error.message, headers=error.headers)
    assert isinstance(error, HTTPException)
    words = {404: "There is nothing here.", 405: "This address does not take that method."}
    message = words.get(error.status_code, "The request cannot be read.")
    return problem(request, error.status_code, message, headers=dict(error.headers or {}))


def problem(
    request: Request,
    status: int,
    message: str,
    faults: list[Fault] | None = None,
    headers: dict[str, str] | None = None,
) -> Response:
    """Why there is no answer, as JSON."""
    body = Problem(message=message, faults=faults or [], request_id=request.state.request_id)
    return JSONResponse(body.model_dump(), status, headers)


def _readable(text: str) -> str:
    return text[:200].encode("utf-8", "replace").decode()
