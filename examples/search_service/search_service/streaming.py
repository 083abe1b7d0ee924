"""A summary as server-sent events: results, then text as it is written, then the check of its citations."""

from collections.abc import AsyncIterator, Callable, Iterable
from typing import Any

from fastapi.responses import StreamingResponse
from pydantic_core import to_json

from hopweave import Hit
from hopweave.context.cite import Citation, check_citations
from search_service.synthesis import Failed, Writer, citations

DESCRIPTION = {
    "content": {"text/event-stream": {}},
    "description": (
        "Server-sent events, each with one JSON object: `results` (as of `/search`), `text` (a piece "
        "of the summary), `error` (a message; the text so far is void, and what follows is in the sources' own "
        "sentences), `citations` (which numbers of the summary have a source, and which have none), `done` (timings)."
    ),
}
NOT_WRITTEN = "The summary could not be written; it is made of the sources' own sentences."
Events = AsyncIterator[tuple[str, dict[str, Any]]]


def sent(events: Events) -> StreamingResponse:
    """Named JSON objects as server-sent events, each sent at once."""
    kept_moving = {"x-accel-buffering": "no"}  # or proxies hold events back
    return StreamingResponse(_encoded(events), media_type="text/event-stream", headers=kept_moving)


async def _encoded(events: Events) -> AsyncIterator[bytes]:
    async for name, data in events:
        yield b"event: %s\ndata: %s\n\n" % (name.encode(), to_json(data, inf_nan_mode="null"))


async def summary_events(
    writer: Writer | None, question: str, hits: list[Hit], sentences: list[str], fall_back: Callable[[], list[str]]
) -> Events:
    """The text of a summary, by the writer or of these sentences, and at the end which of its citations are valid."""
    said: list[str] = []
    given: Iterable[Citation] = citations(hits)
    if writer and hits:
        context = writer.context(hits)
        given = context.citations
        try:
            async for piece in writer.stream(question, context):
                said.append(piece)
                yield "text", {"text": piece}
        except Failed:
            yield "error", {"message": NOT_WRITTEN}
            said, sentences, given = [], fall_back(), citations(hits)
    for sentence in sentences:
        said.append(f" {sentence}" if said else sentence)
        yield "text", {"text": said[-1]}
    if said:
        checked = check_citations("".join(said), given)
        valid = [{"number": one.number, "id": one.id, "source": one.source} for one in checked.used]
        yield "citations", {"valid": valid, "invalid": list(checked.unresolved)}
