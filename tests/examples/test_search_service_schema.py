"""The search service against its own description: schemathesis makes requests from it, good ones and bad ones."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

KEY = "open-sesame-42"
# a request that is wrong may also be too large
SETTINGS = """
[checks.negative_data_rejection]
expected-statuses = [400, 401, 403, 404, 405, 406, 409, 413, 415, 422, 428, 429]
"""
HOOKS = """\
import schemathesis

schemathesis.serializer.alias("application/x-ndjson", "text/plain")
"""


def test_the_description_tells_fields_limits_and_defaults(service):
    schema = service.client.get("/openapi.json").json()
    assert set(schema["paths"]) >= {"/search", "/documents/{id}", "/documents:bulk", "/jobs/{id}", "/health"}
    assert "securitySchemes" not in schema["components"]
    request = schema["components"]["schemas"]["SearchRequest"]
    assert request["required"] == ["query"]
    assert {name: field.get("default") for name, field in request["properties"].items() if name != "filters"} == {
        "query": None,
        "method": "hybrid",
        "limit": 10,
        "min_relevance_score": 0.15,
        "include_citations": True,
        "expand_graph": True,
        "knowledge_base": None,
        "skip": [],
    }
    limits = request["properties"]["limit"]
    assert (limits["minimum"], limits["maximum"]) == (1, 100)
    assert set(schema["paths"]["/search"]["post"]["responses"]) == {
        "200", "400", "401", "404", "408", "413", "422", "429", "503",
    }  # fmt: skip


@pytest.mark.parametrize("key", [None, KEY], ids=["open", "locked"])
def test_no_request_from_the_description_breaks_it(run_service, tmp_path, key):
    """All of schemathesis' checks: no 5xx, answers as described, wrong requests refused, right ones accepted."""
    with run_service(tmp_path, **({"SEARCH_API_KEY": key} if key else {})) as running:
        command = [str(Path(sys.executable).parent / "schemathesis"), "run", f"{running.url}/openapi.json"]
        bounds = ["--max-examples", "40", "--seed", "7", "--max-failures", "5", "--no-color"]
        header = ["--header", f"X-API-Key: {key}"] if key else []
        (tmp_path / "hooks.py").write_text(HOOKS)
        (tmp_path / "schemathesis.toml").write_text(SETTINGS)
        environment = {**os.environ, "SCHEMATHESIS_HOOKS": "hooks", "PYTHONPATH": str(tmp_path)}
        done = subprocess.run(
            [*command, *bounds, *header], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout[-5000:]
        operations = sum(map(len, running.client.get("/openapi.json").json()["paths"].values()))
        assert f"Tested: {operations}" in done.stdout
        statuses = [entry["status"] for entry in running.logged() if entry["event"] == "request"]
    # it was tried in earnest
    assert int(re.search(r"(\d+) generated", done.stdout)[1]) > 100
    assert {200, 422} <= set(statuses)
    assert max(statuses) < 500
    assert len(statuses) > 100
