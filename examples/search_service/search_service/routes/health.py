"""How the service is: for those who run it."""

import asyncio

from fastapi import APIRouter, Request, Response
from fastapi.responses import PlainTextResponse

from search_service.messages import Health, refusals
from search_service.operation.balance import loads
from search_service.operation.guard import Refused
from search_service.operation.metrics import CONTENT_TYPE, rendered

routes = APIRouter(tags=["health"])


@routes.get("/health", response_model=Health, responses={503: {"model": Health}})
async def health(request: Request) -> Response:
    """How each part of the service is."""
    found = await request.app.state.service.health()
    status = 503 if found.status == "failing" else 200
    return Response(found.model_dump_json(), status_code=status, media_type="application/json")


@routes.get("/health/live")
async def live() -> dict[str, str]:
    """Whether the process answers at all; if not, restart it."""
    return {"status": "ok"}


@routes.get("/health/ready", responses=refusals(503))
async def ready(request: Request) -> dict[str, str]:
    """Whether searches can be answered; if not, send them elsewhere."""
    if (await request.app.state.service.health()).status == "failing":
        raise Refused(503, "A knowledge base cannot be read.")
    return {"status": "ok"}


@routes.get("/metrics", response_class=PlainTextResponse, responses=refusals(401, 429))
async def metrics(request: Request) -> Response:
    """Figures for Prometheus, of all workers together."""
    for engine in request.app.state.service.engines.values():
        await asyncio.to_thread(engine.measure)
    return Response(rendered(loads().of_workers()), media_type=CONTENT_TYPE)
