"""What tests of the examples share: a fence around the network, and the search service as its users start it."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import pytest

FENCE = """\
import os, sys

def fence(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.sendto"):
        with open(os.environ["FENCE_LOG"], "a") as log:
            print(event, *arguments[1:], file=log)
        raise ConnectionRefusedError("this test allows no network")

sys.addaudithook(fence)
"""

EXAMPLE = Path(__file__).parents[2] / "examples" / "search_service"


class RunningService:
    """The service in a process of its own, on loopback."""

    def __init__(self, folder, port, **environment):
        self.folder = folder
        self.url = f"http://127.0.0.1:{port}"
        self.client = httpx.Client(base_url=self.url, timeout=30, trust_env=False)
        self._log = folder / "log.jsonl"
        own = {"SEARCH_KNOWLEDGE_BASE": str(folder / "kb.db"), "SEARCH_PORT": str(port)}
        ours = ("SEARCH_", "RETRIEVER_", "QDRANT_", "ELASTICSEARCH_", "POSTGRES_", "EMBEDDING_", "OTEL_")
        plain = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
        with self._log.open("a") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "search_service"],
                cwd=EXAMPLE,
                env={**plain, **own, **environment},
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    def wait(self, seconds=180):
        end = time.monotonic() + seconds
        while time.monotonic() < end and self.process.poll() is None:
            try:
                self.client.get("/health/live")
                return self
            except httpx.TransportError:
                time.sleep(0.1)
        raise AssertionError(f"the service did not start:\n{self._log.read_text()}")

    def search(self, query, **fields):
        return self.client.post("/search", json={"query": query, **fields})

    def logged(self):
        return [json.loads(line) for line in self._log.read_text().splitlines() if line.startswith("{")]

    def logged_request(self, request_id, seconds=30):
        """The line of a request, which is written when the answer has been sent."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for entry in self.logged():
                if entry.get("request_id") == request_id and entry["event"] == "request":
                    return entry
            time.sleep(0.05)
        raise AssertionError(f"nothing was logged of the request {request_id}")

    def log_text(self):
        return self._log.read_text()

    def stop(self, number=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.process.wait(30)


class StreamingEndpoint(ThreadingHTTPServer):
    """An OpenAI-compatible endpoint on loopback that streams what `play` yields."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), StreamingHandler)
        self.play, self.status, self.kind, self.asked = list, 200, "text/event-stream", []
        self.lost = threading.Event()
        self.url = f"http://127.0.0.1:{self.server_port}/v1"

    def say(self, *texts):
        pieces = [{"choices": [{"delta": {"content": text}}]} for text in texts]
        self.play = lambda: [*(b"data: %s\n\n" % json.dumps(one).encode() for one in pieces), b"data: [DONE]\n\n"]


class StreamingHandler(BaseHTTPRequestHandler):
    def do_POST(self):
        self.server.asked.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
        self.send_response(self.server.status)
        self.send_header("content-type", self.server.kind)
        self.end_headers()  # HTTP/1.0: the end of the connection is the end of the reply
        try:
            for piece in self.server.play():
                self.wfile.write(piece)
                self.wfile.flush()
        except OSError:
            self.server.lost.set()

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def streaming_endpoint():
    server = StreamingEndpoint()
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


class Elasticsearch(ThreadingHTTPServer):
    """As much of Elasticsearch as its client and Haystack ask of it: an index, bulk writes, counts and searches.

    Requests and replies have the shapes that version 8 documents; it ranks by counting words.
    """

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Node)
        self.documents, self.asked, self.down = {}, [], False

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}"


class Node(BaseHTTPRequestHandler):
    def answer(self):
        body = self.rfile.read(int(self.headers.get("content-length") or 0)).decode()
        content = json.dumps({} if self.server.down else self.reply(body)).encode()
        self.send_response(503 if self.server.down else 200)
        self.send_header("x-elastic-product", "Elasticsearch")
        self.send_header("content-type", "application/vnd.elasticsearch+json;compatible-with=8")
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def reply(self, body):
        if "_bulk" in self.path:
            return self.bulk([json.loads(line) for line in body.splitlines()])
        if "_count" in self.path:
            return {"count": len(self.server.documents)}
        if "_search" in self.path:
            query = json.loads(body)
            self.server.asked.append(query)
            found = self.hits(query)
            return {"hits": {"total": {"value": len(found)}, "hits": found}}
        return {"acknowledged": True, "version": {"number": "8.19.0"}, "tagline": "You Know, for Search"}

    def bulk(self, lines):
        done = []
        while lines:
            ((action, about),) = lines.pop(0).items()
            if action == "delete":
                self.server.documents.pop(about["_id"], None)
            else:
                self.server.documents[about["_id"]] = lines.pop(0)
            done.append({action: {"_id": about["_id"], "status": 200}})
        return {"errors": False, "items": done}

    def hits(self, query):
        asked = query.get("query", {}).get("bool", {})
        words = set(re.findall(r"\w{4,}", json.dumps(asked.get("must", "")).lower()))
        filters = query.get("knn", {}).get("filter") or asked.get("filter")

        def score(document):
            if "knn" in query:
                return sum(a * b for a, b in zip(query["knn"]["query_vector"], document["embedding"], strict=True))
            return len(words & set(re.findall(r"\w+", document["content"].lower()))) if "must" in asked else 1.0

        passing = {key: one for key, one in self.server.documents.items() if passes(filters, one)}
        scores = {key: score(document) for key, document in passing.items()}
        best = sorted((key for key in scores if scores[key]), key=lambda key: (-scores[key], key))
        return [{"_id": key, "_score": scores[key], "_source": passing[key]} for key in best[: query.get("size", 20)]]

    do_GET = do_POST = do_PUT = do_HEAD = answer

    def log_message(self, *_):
        pass


def passes(condition, document):
    """Whether a document passes a filter of Elasticsearch."""
    if not condition:
        return True
    ((kind, about),) = condition.items()
    if kind == "bool":
        listed = {name: one if isinstance(one, list) else [one] for name, one in about.items()}
        any_of = [passes(one, document) for one in listed.get("should", [])]
        return all(passes(one, document) for one in listed.get("must", [])) and (any(any_of) or not any_of)
    ((field, wanted),) = about.items()
    value = document.get(field)
    if kind == "range":
        return value is not None and all((value >= w) if b == "gte" else (value < w) for b, w in wanted.items())
    wanted = wanted["query"] if kind == "match" else wanted
    return value in (wanted if isinstance(wanted, list) else [wanted])


@pytest.fixture
def elasticsearch():
    """A server on loopback that answers the real client as Elasticsearch would."""
    server = Elasticsearch()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(scope="session")
def fenced(tmp_path_factory):
    """The environment for a Python process that may use no network, and the file that shows if it tried."""
    fence = tmp_path_factory.mktemp("fence")
    (fence / "sitecustomize.py").write_text(FENCE)

    def environment(name):
        log = fence / f"{name}.log"
        return {**os.environ, "PYTHONPATH": str(fence), "FENCE_LOG": str(log), "HF_HUB_OFFLINE": "1"}, log

    return environment


@pytest.fixture(scope="session")
def run_service():
    """Start a service with these environment variables; it is stopped at the end of the block."""

    @contextmanager
    def run(folder, **environment):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        service = RunningService(folder, port, **environment)
        try:
            yield service.wait()
        finally:
            service.client.close()
            service.stop()

    return run


@pytest.fixture(scope="session")
def start_service():
    """Run a command of the service to its end."""

    def start(folder, *command, **environment):
        own = {"SEARCH_KNOWLEDGE_BASE": str(folder / "kb.db"), "PATH": "/usr/bin:/bin", **environment}
        return subprocess.run(
            [sys.executable, "-m", "search_service", *command],
            cwd=EXAMPLE,
            env=own,
            capture_output=True,
            text=True,
            check=False,
        )

    return start


@pytest.fixture(scope="session")
def service(run_service, tmp_path_factory):
    """The service as it comes: the embedded knowledge base with the handbook in it."""
    with run_service(tmp_path_factory.mktemp("service")) as running:
        yield running
