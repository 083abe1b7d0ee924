"""The HTTP face of the service."""

import asyncio
import gc
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

from fastapi import FastAPI, Request, Response, Security
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.security import APIKeyHeader
from starlette.exceptions import HTTPException
from starlette.routing import Match, Route

from search_service.messages import Fault, Problem, set_defaults
from search_service.operation.guard import Guard, Refused
from search_service.operation.state import end_with_parent
from search_service.operation.traces import shut_down
from search_service.routes import documents, health, search
from search_service.service import Service
from search_service.settings import Settings
from search_service.tools import Handed, Tools, over_http

PAGE = Path(__file__).parent / "page"
FILES = {
    "/": ("index.html", "text/html; charset=utf-8"),
    "/page.css": ("page.css", "text/css; charset=utf-8"),
    "/parts.js": ("parts.js", "text/javascript; charset=utf-8"),
    "/manage.js": ("manage.js", "text/javascript; charset=utf-8"),
    "/page.js": ("page.js", "text/javascript; charset=utf-8"),
    "/icon.svg": ("icon.svg", "image/svg+xml"),
}
_key = APIKeyHeader(name="X-API-Key", auto_error=False)


def create() -> Guard:
    """The application, with settings from the environment."""
    settings = Settings()
    set_defaults(settings.default_method, settings.default_limit, settings.min_relevance)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        gc.collect()
        gc.freeze()  # modules stay, and looking for garbage among them would hold up searches; indexes come and go
        sys.setswitchinterval(0.0005)  # the event loop waits no longer for a thread that searches
        service = app.state.service = await asyncio.to_thread(Service, settings)
        app.state.mcp = over_http(Tools(service.results, settings.mcp), settings.mcp.allowed_hosts)
        watch = asyncio.create_task(end_with_parent())
        async with app.state.mcp.run():
            yield
        watch.cancel()
        await service.close()
        shut_down()

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

    described = [Security(_key)] if settings.all_keys else []  # for the description; the guard is who looks at keys

    for routes in (search.routes, documents.routes):
        app.include_router(routes, dependencies=described)
    app.include_router(health.routes)

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
    headers = dict(error.headers or {})
    if error.status_code == 405:  # starlette names the methods of the first route alone
        included = [*search.routes.routes, *documents.routes.routes, *health.routes.routes]
        every = [one for one in (*request.app.routes, *included) if isinstance(one, Route)]
        methods = [one.methods or () for one in every if one.matches(request.scope)[0] is not Match.NONE]
        headers["allow"] = ", ".join(sorted({one for several in methods for one in several}))
    return problem(request, error.status_code, message, headers=headers)


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
