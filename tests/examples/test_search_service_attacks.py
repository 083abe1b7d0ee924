"""Callers and endpoints that mean the search service harm: others are answered all the same."""

import json
import os
import socket
import threading
import time
from contextlib import ExitStack, contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

LONG = os.environ.get("HOPWEAVE_ATTACK") == "long"
QUESTION = "Who leads the team that owns Kestrel?"


@contextmanager
def endpoint(answer):
    """A server on loopback that answers POST requests by a function of its handler."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            self.body = self.rfile.read(int(self.headers["Content-Length"]))
            with suppress(OSError):
                answer(self)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def connected(service):
    return socket.create_connection(("127.0.0.1", int(service.url.rpartition(":")[2])), timeout=60)


def request(body, *, more=b""):
    head = b"POST /search HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n"
    return head + more + b"content-length: %d\r\n\r\n" % len(body) + body


def ended(connection):
    """Whether the other side has closed; waits for it."""
    try:
        while connection.recv(65536):
            pass
    except ConnectionError:
        pass
    return True


@pytest.mark.parametrize(
    "filters",
    [r'{"type": "\ud800"}', r'{"type": ["a", "\udfff"]}', r'{"\ud800": "a"}', '{"": 1}', r'{"date_from": "\ud800"}'],
)
def test_halves_of_surrogate_pairs_in_filters_are_refused(service, filters):
    body = f'{{"query": "ferry", "filters": {filters}}}'.encode()
    reply = service.client.post("/search", content=body, headers={"content-type": "application/json"})
    assert reply.status_code == 422
    assert reply.json()["faults"]


def test_huge_headers_are_refused_and_others_answered(service):
    for more in (b"x-long: " + b"a" * 200_000 + b"\r\n", b"".join(b"x-%d: y\r\n" % n for n in range(20_000))):
        with connected(service) as connection, suppress(OSError):
            connection.sendall(request(b"{}", more=more))
            assert connection.recv(100).startswith((b"HTTP/1.1 4", b""))
    assert service.search(QUESTION).status_code == 200


def test_silent_connections_lock_nobody_out_and_are_closed(run_service, tmp_path):
    limits = {"SEARCH_MAX_CONNECTIONS": "20", "SEARCH_HEAD_SECONDS": "2"}
    with run_service(tmp_path, **limits) as service, ExitStack() as stack:
        begun = request(b"{}")[:30]
        silent = [stack.enter_context(connected(service)) for _ in range(100)]
        for connection in silent[::2]:
            with suppress(OSError):
                connection.sendall(begun)
        assert service.search(QUESTION).status_code == 200
        assert all(ended(connection) for connection in silent)
        # one that has been answered and begins a second request is closed, too
        kept = stack.enter_context(connected(service))
        kept.sendall(b"GET /health/live HTTP/1.1\r\nhost: x\r\n\r\n" + begun)
        assert kept.recv(100).startswith(b"HTTP/1.1 200")
        assert ended(kept)
        assert service.client.get("/health/live").status_code == 200


def test_a_caller_who_has_gone_costs_no_search(run_service, tmp_path):
    asked, held, release = [], threading.Event(), threading.Event()

    def rerank(handler):
        question = json.loads(handler.body)["query"]
        asked.append(question)
        if question == "first":
            held.set()
            release.wait(60)
        body = b'{"results": [{"index": 0, "relevance_score": 0.9}]}'
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    with endpoint(rerank) as address:
        stage = {"kind": "remote_rerank", "provider": "generic", "url": f"http://{address}/", "deadline_seconds": 50}
        options = {"SEARCH_RERANK": json.dumps(stage), "SEARCH_REQUEST_SECONDS": "60", "SEARCH_CACHE_ENTRIES": "0"}
        with run_service(tmp_path, **options) as service, ExitStack() as stack:
            first = stack.enter_context(connected(service))
            first.sendall(request(b'{"query": "first"}'))
            assert held.wait(60)
            for number in range(5):
                with connected(service) as connection:
                    connection.sendall(request(b'{"query": "gone %d"}' % number))
            deadline = time.monotonic() + 60
            while sum(line.get("status") == 499 for line in service.logged()) < 5:
                assert time.monotonic() < deadline, service.log_text()[-2000:]
                time.sleep(0.05)
            release.set()
            assert first.recv(100).startswith(b"HTTP/1.1 200")
            assert service.search("last").status_code == 200
    assert [question for question in asked if question.startswith("gone")] == []
    assert asked[-1] == "last"


@pytest.mark.parametrize("kind", ["dripping", "surrogates", *(["endless", "deep", "refusing"] if LONG else [])])
def test_an_endpoint_for_summaries_that_misbehaves_holds_nobody_up(run_service, tmp_path, kind):
    stop = threading.Event()

    def answer(handler):
        handler.send_response(401 if kind == "refusing" else 200)
        handler.end_headers()
        if kind == "surrogates":
            content = "Kestrel is led well \ud800 [1]"
            handler.wfile.write(json.dumps({"choices": [{"message": {"content": content}}]}).encode())
        if kind == "deep":
            handler.wfile.write(b"[" * 200_000)
        while kind in ("dripping", "endless") and not stop.wait(0.02 if kind == "dripping" else 0):
            handler.wfile.write(b" " if kind == "dripping" else b" " * 100_000)
            handler.wfile.flush()

    with endpoint(answer) as address:
        options = {
            "SEARCH_SYNTHESIS__URL": f"http://user:hunter2@{address}/v1?key=hunter2",
            "SEARCH_SYNTHESIS__MODEL": "m",
            "SEARCH_SYNTHESIS__TIMEOUT_SECONDS": "1",
            "SEARCH_LOG_LEVEL": "DEBUG",
        }
        with run_service(tmp_path, **options) as service:
            begun = time.monotonic()
            reply = service.search(QUESTION)
            assert time.monotonic() - begun < 20
            assert reply.status_code == 200
            answer = reply.json()
            assert answer["synthesis"]
            assert bool(answer["degraded"]) == (kind != "surrogates")
            assert "hunter2" not in service.log_text() + reply.text + service.client.get("/health").text
        stop.set()
