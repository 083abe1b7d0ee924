"""The same search as tools of the Model Context Protocol: over standard input and output, and over HTTP.

Which documents the tools see is set where the server is set up, never by whoever calls them.
"""

import json
import logging
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from fastapi import Response
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from mcp.types import CallToolResult, TextContent, Tool, ToolAnnotations
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from hopweave.context.cite import Citation
from hopweave.context.extractive_answer import ExtractiveAnswer
from hopweave.metadata.tenants import narrow_tenant
from search_service.messages import Filters, Method, SearchRequest, Signal, Whole
from search_service.operation.guard import Refused
from search_service.operation.keys import CALLER, current_caller
from search_service.settings import Mcp

logger = logging.getLogger("search_service")

Answer = Callable[[SearchRequest], Awaitable[dict[str, Any]]]
_EXCERPT = ExtractiveAnswer(max_sentences=2)
_EXCERPT_CHARACTERS = 300
_EXPLAINED = 100  # how far down the ranking `explain` looks
_NOTHING = "Nothing was found. Do not answer from these results; say so, or ask in other words."


class SearchArguments(BaseModel):
    """What `search` takes."""

    model_config = ConfigDict(extra="forbid", strict=True)

    query: str = Field(min_length=1, max_length=2000, pattern=r"\S", description="A question or search words.")
    limit: Whole = Field(default=5, ge=1, le=20, description="The most results to return.")
    method: Method = Field(default="hybrid", description="By vectors, by words, or both.")
    filters: Filters = Field(
        default_factory=Filters, description="Metadata that results must have, such as {'type': ['team', 'person']}."
    )


class ExplainArguments(BaseModel):
    """What `explain` takes."""

    model_config = ConfigDict(extra="forbid", strict=True)

    query: str = Field(min_length=1, max_length=2000, pattern=r"\S", description="The question that was searched for.")
    id: str = Field(min_length=1, max_length=1000, description="The id of a result of `search`.")


class Passage(BaseModel):
    """A result: what to cite it by, how relevant it is, and the part of it that fits the question best."""

    id: str
    title: str
    source: str
    score: float | None
    excerpt: str


class Passages(BaseModel):
    """Results, best first. `message` says if nothing was found, `degraded` if a part of the search failed."""

    results: list[Passage]
    confidence: float | None = Field(description="The probability that the answer is among the results.")
    message: str | None = None
    degraded: list[str] = []


class Explanation(BaseModel):
    """Why a result has its rank: signals that add up to its score, and the path through the graph that led to it."""

    id: str
    rank: int | None = Field(description="Null if it is not among the first hundred.")
    score: float | None = None
    signals: list[Signal] = []
    path: str | None = None
    steps: list[str] = []
    message: str | None = None


class Tools:
    """An MCP server with the tools `search` and `explain`; `answer` is what answers a search request."""

    def __init__(self, answer: Answer, settings: Mcp) -> None:
        self._answer = answer
        self._settings = settings
        self.server: Server[Any, Any] = Server(
            "search-service", instructions="Searches one knowledge base. Cite results by their id."
        )
        self._tools = {
            "search": (self.search, SearchArguments, Passages, "Find passages by words, meaning and the graph."),
            "explain": (self.explain, ExplainArguments, Explanation, "Why a result of `search` has its rank."),
        }
        self.server.list_tools()(self._listed)
        self.server.call_tool()(self._called)

    async def search(self, asked: SearchArguments) -> Passages:
        """Lean results: an excerpt each, no receipts."""
        answer = await self._asked(
            SearchRequest(query=asked.query, limit=asked.limit, method=asked.method, filters=asked.filters)
        )
        return Passages(
            results=[_passage(asked.query, result) for result in answer["results"]],
            confidence=answer.get("confidence"),
            message=None if answer["results"] else _NOTHING,
            degraded=answer["degraded"],
        )

    async def explain(self, asked: ExplainArguments) -> Explanation:
        """The receipt of one result."""
        answer = await self._asked(SearchRequest(query=asked.query, limit=_EXPLAINED, min_relevance_score=0.0))
        for result in answer["results"]:
            receipt = result["receipt"]
            if receipt["id"] == asked.id:
                return Explanation(
                    id=asked.id,
                    rank=result["rank"],
                    score=result["relevance_score"],
                    signals=receipt["signals"],
                    path=_path(receipt["path"]),
                    steps=[_step(step) for step in receipt["steps"]],
                )
        missing = f"It is not among the first {_EXPLAINED} results of this question."
        return Explanation(id=asked.id, rank=None, message=missing)

    async def _asked(self, request: SearchRequest) -> dict[str, Any]:
        caller = current_caller()
        try:
            tenant = narrow_tenant(caller.tenant or None, self._settings.tenant or None)
        except ValueError as error:  # the key is of one tenant, the tools are for another
            raise Refused(403, "This key may not use the tools.") from error
        CALLER.set(replace(caller, tenant=tenant or {}))
        return await self._answer(request.model_copy(update={"knowledge_base": self._settings.knowledge_base}))

    async def _listed(self) -> list[Tool]:
        only_reads = ToolAnnotations(readOnlyHint=True, openWorldHint=False)
        return [
            Tool(
                name=name,
                description=description,
                inputSchema=takes.model_json_schema(),
                outputSchema=gives.model_json_schema(),
                annotations=only_reads,
            )
            for name, (_, takes, gives, description) in self._tools.items()
        ]

    async def _called(self, name: str, arguments: dict[str, Any]) -> CallToolResult:
        try:
            call, takes, *_ = self._tools[name]
            done: BaseModel = await call(takes.model_validate(arguments))  # type: ignore[operator]
        except KeyError:
            return _failed("There is no such tool.")
        except ValidationError as error:
            faults = error.errors(include_input=False, include_url=False)
            return _failed("; ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in faults))
        except Refused as refusal:
            return _failed(refusal.message)
        except Exception:
            logger.exception("tool failed", extra={"fields": {"tool": name}})
            return _failed("Something went wrong here. It has been noted.")
        fields = done.model_dump(mode="json", exclude_defaults=True)
        text = json.dumps(fields, ensure_ascii=False, separators=(",", ":"))
        return CallToolResult(content=[TextContent(type="text", text=text)], structuredContent=fields)


def over_http(tools: Tools, hosts: list[str]) -> StreamableHTTPSessionManager:
    """Streamable HTTP without sessions, so that any worker can answer any request."""
    origins = [f"{scheme}://{host}" for host in hosts for scheme in ("http", "https")]
    allowed = TransportSecuritySettings(allowed_hosts=hosts, allowed_origins=origins)
    return StreamableHTTPSessionManager(tools.server, json_response=True, stateless=True, security_settings=allowed)


async def over_stdio(tools: Tools) -> None:
    """Serve the process that started this one until it goes away."""
    async with stdio_server() as (read, write):
        await tools.server.run(read, write, tools.server.create_initialization_options())


class Handed(Response):
    """A request that is handed to the session manager as it is."""

    def __init__(self, manager: StreamableHTTPSessionManager) -> None:
        super().__init__()
        self._manager = manager

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """What the protocol's own code answers."""
        await self._manager.handle_request(scope, receive, send)


def _failed(message: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=message)], isError=True)


def _passage(query: str, result: dict[str, Any]) -> Passage:
    key, text, title = result["receipt"]["id"], result["content"].strip(), result["metadata"].get("title")
    title = title if isinstance(title, str) and title else result["source"]
    quotes = _EXCERPT.answer(query, [Citation(1, key, title, result["source"], text)]).quotes
    excerpt = " … ".join(quote.sentence for quote in quotes) or text
    if len(excerpt) > _EXCERPT_CHARACTERS:
        excerpt = excerpt[: _EXCERPT_CHARACTERS - 1].rstrip() + "…"
    score = result["relevance_score"]
    score = None if score is None else round(score, 3)
    return Passage(id=key, title=title, source=result["source"], score=score, excerpt=excerpt)


def _path(stations: list[dict[str, Any]]) -> str | None:
    words = [
        f"{'—' if one['forward'] else '←'}{one['edge_type']}{'→' if one['forward'] else '—'} {one['name']}"
        if one["edge_type"]
        else one["name"]
        for one in stations
    ]
    return " ".join(words) or None


def _step(step: dict[str, Any]) -> str:
    details = ", ".join(f"{name} {value}" for name, value in step["details"].items() if name != "path")
    return f"{step['stage']}: {step['after']}" + (f" ({details})" if details else "")
