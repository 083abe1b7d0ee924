"""The core makes no network call: every recipe and every command in a process whose sockets are blocked."""

import json
import os
import subprocess
import sys

PROGRAM = """
import io, json, os, sys
from contextlib import redirect_stdout

calls = []

def fence(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.sendto", "socket.gethostbyname"):
        calls.append((event, repr(arguments)))
        raise ConnectionRefusedError("no network here")

sys.addaudithook(fence)

from hopweave.cli import main
from hopweave.recipe import recipe_names

with open("ships.md", "w") as file:
    file.write("# MV Skua\\n\\nMV Skua is a ferry of Harris.\\n\\n# Tern\\n\\nSee [Tern](https://tern.example/).")
with open("queries.jsonl", "w") as file:
    file.write(json.dumps({"question": "ferry", "gold": ["ships.md#1"]}) + "\\n")
done = {}
with redirect_stdout(io.StringIO()):
    done["index"] = main(["index", "ships.md"])
    for name in recipe_names():
        done[name] = main(["query", "Which ferry is of Harris?", "--recipe", name, "--explain", "--report", "r.html"])
    done["check"], done["info"], done["compact"] = main(["check"]), main(["info"]), main(["compact", "--vacuum"])
    done["repair"] = main(["index", "--repair"])
    done["evaluate"] = main(["evaluate", "queries.jsonl", "--sources"])
    done["compare"] = main(["compare", "queries.jsonl", "hybrid", "multihop"])
    done["schema"] = main(["schema"])
print(json.dumps({"done": done, "calls": calls}))
"""


def test_the_core_makes_no_network_call(tmp_path):
    environment = {name: value for name, value in os.environ.items() if name != "HF_HUB_OFFLINE"}
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr[-3000:]

    seen = json.loads(ran.stdout.splitlines()[-1])
    assert seen["calls"] == []
    assert set(seen["done"].values()) == {0}, (seen["done"], ran.stderr[-2000:])


HAYSTACK = """
import json, sys
calls = []

def fence(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo"):
        calls.append(event)
        raise ConnectionRefusedError("no network here")

sys.addaudithook(fence)
from haystack import Document, Pipeline
from haystack_integrations.components.rankers.hopweave import LengthRanker

pipeline = Pipeline()
pipeline.add_component("ranker", LengthRanker())
pipeline.run({"ranker": {"query": "ferry", "documents": [Document(content="A ferry.", score=0.5)]}})
try:
    import posthog
    posthog.flush()
except Exception:
    pass
print(json.dumps(calls))
"""


def test_haystack_without_telemetry_makes_none_either(tmp_path):
    environment = {**os.environ, "HAYSTACK_TELEMETRY_ENABLED": "False", "HOME": str(tmp_path)}
    ran = subprocess.run(
        [sys.executable, "-c", HAYSTACK],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr[-3000:]
    assert ran.stdout.splitlines()[-1] == "[]"
