"""Documents over HTTP: put, delete, upload many and ask how far that is."""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Request, Response

from search_service.documents import TAKEN, Documents, as_document
from search_service.messages import (
    Deleted,
    DocumentBody,
    DocumentId,
    JobStatus,
    KnowledgeBaseInfo,
    Name,
    Stored,
    refusals,
)
from search_service.operation.guard import Refused
from search_service.operation.keys import current_caller


async def _documents(request: Request) -> Documents:
    found: Documents = request.app.state.service.documents
    return found


Id = Annotated[DocumentId, Path(alias="id")]
Base = Annotated[Name | None, Query(description="Which knowledge base; the first if not given.")]
Own = Annotated[Documents, Depends(_documents)]

routes = APIRouter(responses=refusals(400, 401, 403, 404, 408, 413, 422, 429, 503), tags=["documents"])
# a line that is wrong is told by the job, so that any text is accepted
_UPLOAD = {"requestBody": {"required": True, "content": {"application/x-ndjson": {"schema": {}}}}}


@routes.put("/documents/{id:path}", responses={201: {"model": Stored}, **refusals(409)})
async def put_document(
    key: Id, body: DocumentBody, response: Response, own: Own, knowledge_base: Base = None
) -> Stored:
    """Store a document under an id, in place of one that has it. When this returns, every search finds it."""
    engine = own.engine(knowledge_base)
    document = as_document(key, body, current_caller().tenant)
    if isinstance(document, str):
        raise Refused(422, document)
    done = await own.put(engine, document)
    if done is None:
        raise Refused(409, TAKEN)
    response.status_code = 201 if done.added else 200
    return Stored(id=key, status="added" if done.added else "updated" if done.updated else "unchanged")


@routes.delete("/documents/{id:path}")
async def delete_document(key: Id, own: Own, knowledge_base: Base = None) -> Deleted:
    """Delete a document, if it is there."""
    engine = own.engine(knowledge_base)
    return Deleted(deleted=await own.delete(engine, engine.store.delete, [key]))


@routes.delete("/sources/{source:path}")
async def delete_source(source: DocumentId, own: Own, knowledge_base: Base = None) -> Deleted:
    """Delete all documents of a source."""
    engine = own.engine(knowledge_base)
    return Deleted(deleted=await own.delete(engine, engine.store.delete_source, source))


@routes.post("/documents:bulk", status_code=202, openapi_extra=_UPLOAD)
async def upload(request: Request, own: Own, knowledge_base: Base = None) -> JobStatus:
    """Store many documents in the background: a JSON object per line with id, text or content, and any metadata."""
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/x-ndjson":
        raise Refused(422, "The content-type must be application/x-ndjson.")
    name, caller, body = own.engine(knowledge_base).name, current_caller(), await request.body()
    key = await asyncio.to_thread(own.jobs.submit, name, caller.name, dict(caller.tenant), body)
    if key is None:
        raise Refused(429, "Too many uploads wait. Try again when one is done.", **{"retry-after": "5"})
    own.runner.wake()
    return JobStatus(**await asyncio.to_thread(own.jobs.status, key, caller.name) or {})


@routes.get("/jobs/{id}")
async def job(key: Annotated[str, Path(alias="id", max_length=64)], own: Own) -> JobStatus:
    """How far an upload is."""
    found = await asyncio.to_thread(own.jobs.status, key, current_caller().name)
    if found is None:
        raise Refused(404, "There is no job of this id.")
    return JobStatus(**found)


@routes.get("/knowledge-bases")
async def knowledge_bases(own: Own) -> list[KnowledgeBaseInfo]:
    """The knowledge bases that the caller may search."""
    return await asyncio.to_thread(own.described)
