"""Searching, and saying whether the results were any good."""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response
from pydantic_core import to_json

from search_service.feedback import keep
from search_service.messages import Feedback, SearchRequest, SearchResponse, refusals
from search_service.operation.keys import current_caller
from search_service.service import Service
from search_service.streaming import DESCRIPTION, sent


def _service(request: Request) -> Service:
    found: Service = request.app.state.service
    return found


Own = Annotated[Service, Depends(_service)]
routes = APIRouter(responses=refusals(400, 401, 404, 408, 413, 422, 429, 503), tags=["search"])


@routes.post("/search", response_model=SearchResponse)
async def search(asked: SearchRequest, request: Request, own: Own) -> Response:
    """Search a knowledge base and sum up what is found."""
    answer = await own.answer(asked)
    request.state.fields.update(search=asked.method, results=answer["total_results"], degraded=len(answer["degraded"]))
    return Response(to_json(answer, inf_nan_mode="null"), media_type="application/json")


@routes.post("/search/stream", response_class=Response, responses={200: DESCRIPTION})
async def search_stream(asked: SearchRequest, request: Request, own: Own) -> Response:
    """Search a knowledge base, and sum up what is found while it is written."""
    events = await own.stream(asked)
    request.state.fields.update(search=asked.method)
    return sent(events)


@routes.post("/feedback", status_code=204)
async def feedback(given: Feedback, own: Own) -> None:
    """Say whether a result answers a question."""
    own.documents.engine(given.knowledge_base)
    await asyncio.to_thread(keep, own.settings.state_folder, given, current_caller().name)
