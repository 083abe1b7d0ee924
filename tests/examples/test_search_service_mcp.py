"""The search service as tools of the Model Context Protocol, called by the protocol's own client."""

import asyncio
import json
import os
import sys
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

EXAMPLE = Path(__file__).parents[2] / "examples" / "search_service"
QUESTION = "Who leads the team that owns Kestrel?"
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}


@asynccontextmanager
async def over_http(service, **headers):
    async with (
        httpx.AsyncClient(headers=headers, trust_env=False) as client,
        streamable_http_client(f"{service.url}/mcp", http_client=client) as (read, write, _),
        ClientSession(read, write) as session,
    ):
        await session.initialize()
        yield session


@asynccontextmanager
async def over_stdio(folder, **environment):
    plain = {name: value for name, value in os.environ.items() if not name.startswith("SEARCH_")}
    own = {"SEARCH_KNOWLEDGE_BASE": str(folder / "kb.db"), **environment}
    started = StdioServerParameters(
        command=sys.executable, args=["-m", "search_service", "mcp"], cwd=EXAMPLE, env={**plain, **own}
    )
    with (folder / "log.jsonl").open("w") as log:
        async with stdio_client(started, errlog=log) as (read, write), ClientSession(read, write) as session:
            await session.initialize()
            yield session


async def use(session):
    """What both transports must do; the results are for comparison."""
    listed = {tool.name: tool for tool in (await session.list_tools()).tools}
    assert set(listed) == {"search", "explain"}
    assert all(tool.annotations.readOnlyHint for tool in listed.values())
    assert set(listed["search"].inputSchema["properties"]) == {"query", "limit", "method", "filters"}

    found = await session.call_tool("search", {"query": QUESTION, "filters": {"type": ["team", "service"]}, "limit": 4})
    assert not found.isError
    assert json.loads(found.content[0].text) == found.structuredContent
    results = found.structuredContent["results"]
    assert 1 <= len(results) <= 4
    assert "teams/doorstep.md#1" in [one["id"] for one in results]
    for one in results:
        assert set(one) == {"id", "title", "source", "score", "excerpt"}
        assert 0 < len(one["excerpt"]) <= 300
    assert len(found.content[0].text) < 2500

    nothing = await session.call_tool("search", {"query": QUESTION, "filters": {"type": "poem"}})
    assert nothing.structuredContent["results"] == []
    assert nothing.structuredContent["message"].startswith("Nothing was found.")

    why = await session.call_tool("explain", {"query": QUESTION, "id": "teams/doorstep.md#1"})
    explained = why.structuredContent
    assert explained["path"] == "Kestrel ←mentions— Doorstep team"
    assert sum(one["share"] for one in explained["signals"]) == pytest.approx(explained["score"])
    assert any(step.startswith("reciprocal_rank: ") for step in explained["steps"])
    unknown = await session.call_tool("explain", {"query": QUESTION, "id": "no/such.md"})
    assert unknown.structuredContent["rank"] is None
    assert "not among" in unknown.structuredContent["message"]

    for name, arguments, words in (
        ("search", {"query": QUESTION, "tenant": {"team": "x"}}, "tenant"),
        ("search", {"query": QUESTION, "knowledge_base": "other"}, "knowledge_base"),
        ("search", {"query": " "}, "does not match"),
        ("search", {"query": "x", "limit": 1000}, "1000"),
        ("explain", {"query": "x"}, "id"),
        ("drop", {}, "no such tool"),
    ):
        refused = await session.call_tool(name, arguments)
        assert refused.isError, (name, arguments)
        assert words in refused.content[0].text
        assert "Traceback" not in refused.content[0].text
    return found.structuredContent, explained


def test_both_transports_answer_alike(service, tmp_path):
    async def http():
        async with over_http(service) as session:
            return await use(session)

    async def stdio():
        async with over_stdio(tmp_path) as session:
            return await use(session)

    assert asyncio.run(http()) == asyncio.run(stdio())
    logged = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert logged[0]["event"] == "indexed"  # beside the protocol, not in it
    asked = [entry for entry in service.logged() if entry.get("path") == "/mcp"]
    assert asked
    assert {entry["status"] for entry in asked} <= {200, 202}
    assert QUESTION not in service.log_text()


def test_no_key_no_tools(run_service, tmp_path):
    with run_service(tmp_path, SEARCH_API_KEY="open-sesame-42") as running:

        async def use_key():
            async with over_http(running, **{"x-api-key": "open-sesame-42"}) as session:
                return await session.call_tool("search", {"query": QUESTION})

        assert not asyncio.run(use_key()).isError
        assert running.client.post("/mcp", json=INITIALIZE).status_code == 401


def test_pages_of_other_hosts_are_refused(service):
    accept = {"accept": "application/json, text/event-stream"}
    assert service.client.post("/mcp", json=INITIALIZE, headers=accept).status_code == 200
    rebound = {**accept, "host": "evil.example:8006", "origin": "http://evil.example:8006"}
    assert service.client.post("/mcp", json=INITIALIZE, headers=rebound).status_code == 421
    foreign = {**accept, "origin": "http://evil.example"}
    assert service.client.post("/mcp", json=INITIALIZE, headers=foreign).status_code == 403
    for method in ("GET", "DELETE"):  # there are no sessions to listen to or to end
        assert service.client.request(method, "/mcp").status_code == 405


def test_tenant_and_knowledge_base_are_those_of_the_server_and_of_the_key(run_service, tmp_path):
    (tmp_path / "other.jsonl").write_text('{"id": "other", "title": "Other", "text": "The team that owns Kestrel."}\n')
    bases = {
        "other": {"path": str(tmp_path / "other.db"), "corpus": str(tmp_path / "other.jsonl")},
        "handbook": {"path": str(tmp_path / "handbook.db"), "corpus": str(EXAMPLE / "corpus.jsonl")},
    }
    keys = [
        {"name": "all", "key": "all-key"},
        {"name": "old", "key": "old-key", "tenant": {"date": "2025-02-24"}},
        {"name": "people", "key": "people-key", "tenant": {"type": "person"}},
        {"name": "elsewhere", "key": "elsewhere-key", "knowledge_bases": ["other"]},
    ]
    variables = {
        "SEARCH_KNOWLEDGE_BASES": json.dumps(bases),
        "SEARCH_MCP__KNOWLEDGE_BASE": "handbook",
        "SEARCH_MCP__TENANT": '{"type": ["team", "service"]}',
    }

    async def search(session):
        return await session.call_tool("search", {"query": QUESTION, "limit": 20})

    async def http(key):
        async with over_http(running, authorization=f"Bearer {key}") as session:
            return await search(session)

    async def stdio():
        async with over_stdio(tmp_path, **variables) as session:
            return await search(session)

    def ids(found):
        return {one["id"] for one in found.structuredContent["results"]}

    assert {key.partition("/")[0] for key in ids(asyncio.run(stdio()))} == {"teams", "services"}
    with run_service(tmp_path, **variables, SEARCH_KEYS=json.dumps(keys)) as running:
        assert {key.partition("/")[0] for key in ids(asyncio.run(http("all-key")))} == {"teams", "services"}
        assert "teams/doorstep.md#1" in ids(asyncio.run(http("old-key")))
        assert not any(key.startswith("services/kestrel") for key in ids(asyncio.run(http("old-key"))))
        for key, words in (("people-key", "may not use"), ("elsewhere-key", "no knowledge base")):
            refused = asyncio.run(http(key))
            assert refused.isError
            assert words in refused.content[0].text
