"""Traces of the search service, as a collector of OpenTelemetry gets them."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

pytest.importorskip("opentelemetry.exporter.otlp.proto.http")
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"


class Collector(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.received.append(ExportTraceServiceRequest.FromString(body))
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


@pytest.fixture
def collector():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Collector)
    server.received = []
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_search_continues_the_trace_of_its_caller(run_service, tmp_path, collector):
    endpoint = f"http://127.0.0.1:{collector.server_address[1]}"
    variables = {"OTEL_EXPORTER_OTLP_ENDPOINT": endpoint, "OTEL_EXPORTER_OTLP_COMPRESSION": "none"}
    with run_service(tmp_path, **variables, NO_PROXY="127.0.0.1") as running:
        headers = {"traceparent": f"00-{TRACE}-00f067aa0ba902b7-01", "x-request-id": "traced"}
        reply = running.client.post("/search", json={"query": "a very private question"}, headers=headers)
        assert reply.status_code == 200
        assert running.logged_request("traced")["trace_id"] == TRACE
    groups = [group for one in collector.received for group in one.resource_spans]
    spans = [span for group in groups for scope in group.scope_spans for span in scope.spans]
    own = {span.span_id: span for span in spans if span.trace_id.hex() == TRACE}
    names = [span.name for span in own.values()]
    assert {"text", "vector", "graph"} < set(names)
    assert names.count("POST /search") == 1  # and none of FastAPI's own
    request = next(span for span in own.values() if span.name == "POST /search")
    assert all(span is request or span.parent_span_id == request.span_id for span in own.values())
    assert request.parent_span_id.hex() == "00f067aa0ba902b7"
    assert "private" not in str(collector.received)
