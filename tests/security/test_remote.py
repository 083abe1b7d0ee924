"""Replies of rerank services that are too large, too slow, too deep or odd; and logs that hold no address."""

import gzip
import json
import logging
import threading
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from time import monotonic

import pytest

import hopweave.remote
from hopweave.hit import Hit
from hopweave.query import Query
from hopweave.stages.rerank.remote_rerank import RemoteRerank

HITS = [Hit("a", 0.9, "The Skua sails."), Hit("b", 0.4, "The Tern rests.")]
GOOD = {"results": [{"index": 1, "relevance_score": 0.9}, {"index": 0, "relevance_score": 0.1}]}


@contextmanager
def service(answer):
    """A service on loopback that answers every request by a function of its handler."""
    ending = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers["Content-Length"]))
            self.ending = ending
            with suppress(OSError):  # the caller has had enough
                answer(self)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/rerank?account=sk-hunter2"
    finally:
        ending.set()
        server.shutdown()
        thread.join()
        server.server_close()


def replying(body, **headers):
    def answer(handler):
        handler.send_response(200)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        handler.wfile.write(body)

    return answer


def endless(handler):
    handler.send_response(200)
    handler.end_headers()
    while not handler.ending.is_set():
        handler.wfile.write(b"[" * 100_000)


def dripping(handler):
    handler.send_response(200)
    handler.send_header("Content-Length", "1000000")
    handler.end_headers()
    while not handler.ending.wait(0.02):
        handler.wfile.write(b" ")
        handler.wfile.flush()


def reranked(answer, **parameters):
    with service(answer) as url:
        options = {"deadline_seconds": 20, "max_retries": 0, **parameters}
        stage = RemoteRerank(provider="generic", url=url, api_key="sk-hunter2", **options)
        return stage.apply(HITS, Query("ferry \ud800"))


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (endless, "the reply is larger than 1000000 bytes"),
        (replying(gzip.compress(b" " * 50_000_000), Content_Encoding="gzip"), "the reply is larger than 1000000 bytes"),
        (replying(b"[" * 200_000), "the reply is not JSON"),
        (replying(b'{"results": ' * 50_000), "the reply is not JSON"),
        (replying(b"\xff\xfe\x00"), "the reply is not JSON"),
        (replying(b""), "the reply is not JSON"),
        (replying(b'"\\ud800"'), "the reply has no list results or data"),
        (replying(b'{"results": [{"index": ' + b"9" * 5000 + b"}]}"), "the reply is not JSON"),
        (replying(b'{"results": [{"index": 0, "score": 1e999}]}'), "the reply has no usable entry among 1"),
    ],
    ids=[
        "endless",
        "gzip bomb",
        "deep lists",
        "deep mappings",
        "no text",
        "empty",
        "surrogate",
        "long number",
        "infinite",
    ],
)
def test_a_reply_that_cannot_be_used_falls_back_and_says_why(answer, reason, monkeypatch):
    monkeypatch.setattr(hopweave.remote, "MAX_REPLY_BYTES", 1_000_000)
    hits = reranked(answer)
    assert [hit.id for hit in hits] == ["a", "b"]
    assert {hit.receipts[-1].details["reason"] for hit in hits} == {reason}


def test_a_dripping_reply_ends_at_the_deadline():
    begun = monotonic()
    hits = reranked(dripping, deadline_seconds=0.3)
    assert {hit.receipts[-1].details["reason"] for hit in hits} == {"no answer within 0.3 s"}
    assert monotonic() - begun < 15  # not until the reply is whole, which takes hours


def test_a_reply_with_surrogates_and_much_else_beside_the_scores_is_used():
    body = json.dumps({**GOOD, "note": "\ud800", "more": ["x" * 1000] * 100}).encode()
    assert [hit.id for hit in reranked(replying(body))] == ["b", "a"]


@pytest.mark.parametrize(
    "answer", [replying(json.dumps(GOOD).encode()), replying(b"{"), lambda handler: handler.send_error(401)]
)
def test_no_log_at_any_level_holds_the_address_or_the_key(answer, caplog):
    with caplog.at_level(logging.DEBUG):
        hits = reranked(answer)
    written = caplog.text + repr([hit.receipts for hit in hits])
    assert "sk-hunter2" not in written
    assert "api_key" not in written


def test_other_users_of_httpx_keep_their_log(caplog):
    import httpx

    with caplog.at_level(logging.INFO), service(replying(b"{}")) as url:
        reranked(replying(b"{}"))
        httpx.post(url, json={})
    assert "HTTP Request: POST" in caplog.text
