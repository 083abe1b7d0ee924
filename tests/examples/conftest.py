"""What tests of the examples share: a fence around the network, and the search service as its users start it."""

import json
import os
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
        plain = {name: value for name, value in os.environ.items() if not name.startswith("SEARCH_")}
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
def service(run_service, tmp_path_factory):
    """The service as it comes: the embedded knowledge base with the handbook in it."""
    with run_service(tmp_path_factory.mktemp("service")) as running:
        yield running
