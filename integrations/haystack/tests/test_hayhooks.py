"""The shipped YAML pipelines behind Hayhooks on loopback: over REST, and as an MCP tool."""

import asyncio
import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from haystack_integrations.common.hopweave.recipe_pipeline import to_yaml
from hopweave.recipe import recipe_names

pytest.importorskip("hayhooks")
mcp = pytest.importorskip("mcp")

HAYHOOKS = str(Path(sys.executable).parent / "hayhooks")
QUESTION = "When does the tide gate open?"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


# `hayhooks mcp run` deploys wrappers only, so the YAML is deployed first
MCP_SERVER = """
import sys
from pathlib import Path
import uvicorn
from hayhooks.server.utils.deploy_utils import deploy_pipeline_yaml
from hayhooks.server.utils.mcp_utils import create_mcp_server, create_starlette_app

for file in sorted(Path(sys.argv[1]).glob("*.yaml")):
    deploy_pipeline_yaml(file.stem, file.read_text(encoding="utf-8"), options={"save_file": False})
uvicorn.run(create_starlette_app(create_mcp_server()), host="127.0.0.1", port=int(sys.argv[2]))
"""


def started(command, folder, answers):
    """A process over a folder of pipelines, once it answers. No allowlist is set."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("HAYSTACK_")}
    environment |= {"HAYHOOKS_PIPELINES_DIR": str(folder), "HAYSTACK_TELEMETRY_ENABLED": "False"}
    with (folder.parent / "log").open("wb") as log:
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and process.poll() is None:
        try:
            if answers():
                return process
        except (OSError, httpx.HTTPError):
            time.sleep(0.3)
    process.kill()
    raise RuntimeError((folder.parent / "log").read_text())


def stop(process):
    process.terminate()
    process.wait(20)


@pytest.fixture(scope="module")
def folder(file, tmp_path_factory):
    folder = tmp_path_factory.mktemp("served") / "pipelines"
    folder.mkdir()
    for name in recipe_names():
        (folder / f"{name}.yaml").write_text(to_yaml(name, file), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def rest(folder):
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    process = started(
        [HAYHOOKS, "run", "--host", "127.0.0.1", "--port", str(port)],
        folder,
        lambda: httpx.get(f"{url}/status").is_success,
    )
    yield url
    stop(process)


@pytest.mark.parametrize("name", recipe_names())
def test_rest_answers(name, rest):
    reply = httpx.post(f"{rest}/{name}/run", json={"query": QUESTION}, timeout=60)
    assert reply.status_code == 200, reply.text
    found = reply.json()["result"]["context"]
    assert "The tide gate opens at six." in found["context"]
    assert found["citations"][0]["id"] == "gate"


def test_the_mcp_tool_answers(folder):
    from mcp import ClientSession
    from mcp.client.streamable_http import streamable_http_client

    port = free_port()

    def answers():
        with socket.create_connection(("127.0.0.1", port), 1):
            return True

    process = started([sys.executable, "-c", MCP_SERVER, str(folder), str(port)], folder, answers)

    async def ask():
        async with (
            streamable_http_client(f"http://127.0.0.1:{port}/mcp") as (read, write, _),
            ClientSession(read, write) as session,
        ):
            await session.initialize()
            tools = {tool.name for tool in (await session.list_tools()).tools}
            answer = await session.call_tool("hybrid", {"query": QUESTION})
            return tools, answer

    try:
        tools, answer = asyncio.run(asyncio.wait_for(ask(), 60))
    finally:
        stop(process)
    assert set(recipe_names()) <= tools
    assert not answer.isError, answer.content
    answered = json.loads(answer.content[0].text)
    assert "The tide gate opens at six." in json.dumps(answered)
