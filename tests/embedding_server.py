"""An embedding service on loopback that speaks as OpenAI and as Gemini do, and fails as services fail."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

KEY = "sk-loopback-9b1e55d0"


class EmbeddingServer:
    """Embeds a text as its counts of "ferry", "gate" and all characters, with 1 more for a question of Gemini's.

    `script` holds what to do with the next requests; when it is used up, they succeed. An entry is a status code, a
    pair of status code and headers, "hang", "drop", or a function from the true reply to another.
    """

    def __init__(self):
        self.script, self.requests, self.closing = [], [], threading.Event()
        self.key = KEY
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self._http.service = self
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02})

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self.closing.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def url(self, provider="openai"):
        """The address of the service in the format of a provider."""
        path = {"openai": "v1/embeddings", "gemini": "v1beta/models/{model}:batchEmbedContents"}[provider]
        return f"http://127.0.0.1:{self._http.server_port}/{path}"

    @staticmethod
    def vector(text, extra=0, dimensions=None):
        """The vector of a text."""
        numbers = [text.lower().count("ferry"), text.lower().count("gate"), len(text) / 10 + extra]
        return [float(number) for number in numbers][:dimensions]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        service = self.server.service
        service.requests.append((self.path, dict(self.headers), body))
        gemini = self.path.endswith(":batchEmbedContents")
        said = self.headers.get("x-goog-api-key" if gemini else "Authorization")
        if service.key is not None and said != (service.key if gemini else f"Bearer {service.key}"):
            self._send(401, {"error": f"wrong key {said}"})
            return
        act = service.script.pop(0) if service.script else None
        if act == "hang":
            service.closing.wait(5)
        if act in ("hang", "drop"):
            self.close_connection = True
        elif isinstance(act, int):
            self._send(act, {"error": f"your key {said} is fine, but I am not"})
        elif isinstance(act, tuple):
            self._send(act[0], {}, act[1])
        else:
            reply = self._gemini(body) if gemini else self._openai(body)
            self._send(200, act(reply) if act else reply)

    def _openai(self, body):
        vectors = [EmbeddingServer.vector(text, dimensions=body.get("dimensions")) for text in body["input"]]
        data = [{"object": "embedding", "index": place, "embedding": one} for place, one in enumerate(vectors)]
        return {"object": "list", "data": data[::-1], "model": body["model"], "usage": {"total_tokens": 1}}

    def _gemini(self, body):
        return {
            "embeddings": [
                {
                    "values": EmbeddingServer.vector(
                        one["content"]["parts"][0]["text"],
                        one["taskType"] == "RETRIEVAL_QUERY",
                        one.get("outputDimensionality"),
                    )
                }
                for one in body["requests"]
            ]
        }

    def _send(self, status, content, headers=()):
        raw = json.dumps(content).encode()
        self.send_response(status)
        for name, value in dict(headers).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)
