"""Searching, and saying whether the results were any good."""

import asyncio
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response
from pydantic_core import to_json

from search_service.messages import Feedback, SearchRequest, SearchResponse, refusals
from search_service.operation.guard import Refused
from search_service.operation.keys import current_caller
from search_service.service import Service
from search_service.streaming import DESCRIPTION, sent


async def _service(request: Request) -> Service:
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
    """Say whether a result answers a question. Questions are kept as judged queries, to evaluate and tune recipes."""
    engine = own.documents.engine(given.knowledge_base)
    caller = current_caller()
    if not own.settings.feedback or await asyncio.to_thread(engine.store.hidden, [given.id], caller.tenant):
        raise Refused(404, "There is no such document, or feedback is not kept here.")
    judge = partial(own.judgements.judge, filters=given.filters.as_hopweave(), tenant=caller.tenant, caller=caller.name)
    if not await asyncio.to_thread(judge, engine.name, given.query, given.id, given.relevant):
        raise Refused(429, "Too many judgements are kept. Somebody has to make use of them first.")
