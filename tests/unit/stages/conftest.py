"""A rerank service on loopback that plays every provider's request and reply shape, and every way to fail."""

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

AUTH = {
    "jina": ("Authorization", "Bearer {key}"),
    "siliconflow": ("Authorization", "Bearer {key}"),
    "pinecone": ("Api-Key", "{key}"),
    "generic": ("Authorization", "Bearer {key}"),
}


class RerankServer:
    """Scores documents by a table from text to score.

    `script` holds what to do with the next requests; when it is used up, requests succeed. An entry is a status
    code, a (status, headers) pair, raw bytes to answer with, a function from the true reply to another, or one of
    "hang", "trickle" and "drop".
    """

    def __init__(self, key):
        self.key = key
        self.scores = {}
        self.script = []
        self.requests = []
        self.connections = 0
        self.disconnected = threading.Event()
        self.closing = threading.Event()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self._http.rerank = self
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02})
        self._thread.start()

    def url(self, provider):
        return f"http://127.0.0.1:{self._http.server_port}/{provider}/rerank"

    def close(self):
        self.closing.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def _reply(self, provider, body):
        """The status and the reply of a service that is well."""
        documents = body["documents"]
        if provider == "pinecone":
            if not all(isinstance(document, dict) and set(document) == {"text"} for document in documents):
                return 400, {"error": {"code": "INVALID_ARGUMENT"}}
            documents = [document["text"] for document in documents]
        if not all(isinstance(text, str) and text for text in documents) or not body["query"]:
            return 422, {"detail": "documents must be texts"}
        order = sorted(range(len(documents)), key=lambda place: -self.scores[documents[place]])[: body["top_n"]]
        scored = [(place, self.scores[documents[place]]) for place in order]
        if provider == "pinecone":
            data = [{"index": place, "score": score} for place, score in scored]
            return 200, {"model": body["model"], "data": data, "usage": {"rerank_units": 1}}
        results = [{"index": place, "relevance_score": score} for place, score in scored]
        extra = {"id": "1", "tokens": {"input_tokens": 9}} if provider == "siliconflow" else {"usage": {"total": 9}}
        return 200, {"results": results, **extra}


class _Handler(BaseHTTPRequestHandler):
    """Handles the requests to a `RerankServer`, which is `self.server.rerank`."""

    protocol_version = "HTTP/1.1"

    def setup(self):
        super().setup()
        self.server.rerank.connections += 1

    def log_message(self, *_):
        pass

    def do_POST(self):
        provider = self.path.split("/")[1]
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.rerank.requests.append((provider, dict(self.headers), body))
        header, form = AUTH[provider]
        if self.server.rerank.key is not None and self.headers.get(header) != form.format(key=self.server.rerank.key):
            # some servers repeat the key in the error
            self._send(401, {"detail": f"wrong key {self.headers.get(header)}"})
            return
        act = self.server.rerank.script.pop(0) if self.server.rerank.script else None
        status, reply = self.server.rerank._reply(provider, body)
        if act in ("hang", "drop", "trickle"):
            getattr(self, f"_{act}")()
        elif isinstance(act, int):
            self._send(act, {"detail": f"your key {self.headers.get(header)} is fine, but I am not"})
        elif isinstance(act, tuple):
            self._send(act[0], {}, act[1])
        elif isinstance(act, bytes):
            self._send(200, act)
        else:
            self._send(status, act(reply) if act else reply)

    def _drop(self):
        self.close_connection = True

    def _send(self, status, content, headers=()):
        raw = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(status)
        for name, value in dict(headers).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def _hang(self):
        self.connection.settimeout(0.02)
        while not self.server.rerank.closing.is_set():
            try:
                if not self.connection.recv(1):
                    break
            except TimeoutError:
                continue
            except OSError:
                break
        self.server.rerank.disconnected.set()
        self.close_connection = True

    def _trickle(self):
        """A byte now and then, so that no single read ever waits for long."""
        self.close_connection = True
        try:
            self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
            while not self.server.rerank.closing.is_set():
                self.wfile.write(b" ")
                time.sleep(0.1)
        except OSError:
            self.server.rerank.disconnected.set()


KEY = "sk-loopback-4f9a2c77e1"


@pytest.fixture
def rerank_server():
    server = RerankServer(KEY)
    yield server
    server.close()
