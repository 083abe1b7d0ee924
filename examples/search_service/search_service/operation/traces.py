"""Traces for OpenTelemetry, if its SDK is installed and an endpoint is set: `pip install opentelemetry-sdk ...`.

Everything is set by its own variables: OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_SERVICE_NAME, OTEL_TRACES_SAMPLER and so on.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Any

_ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")


@cache
def _tracer() -> Any:
    """What makes spans; None if there is nowhere to send them."""
    return _provider() and _provider().get_tracer("search_service")


@cache
def _provider() -> Any:
    """Where spans are sent; None if nowhere."""
    if not any(os.environ.get(name) for name in _ENDPOINTS):
        return None
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    name = os.environ.get("OTEL_SERVICE_NAME", "search-service")
    provider = TracerProvider(resource=Resource.create({"service.name": name}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return provider  # and not that of the process, or FastAPI makes a second span for every request


def shut_down() -> None:
    """Send what has not been sent."""
    if _provider() is not None:
        _provider().shutdown()


@contextmanager
def request_span(scope: Mapping[str, Any], headers: Mapping[bytes, bytes]) -> Iterator[Any]:
    """A span around a request, which continues the trace that the caller's `traceparent` names."""
    if _tracer() is None:
        yield None
        return
    from opentelemetry.propagate import extract
    from opentelemetry.trace import SpanKind

    parent = extract({name.decode("latin-1"): value.decode("latin-1") for name, value in headers.items()})
    attributes = {"http.request.method": scope["method"]}
    with _tracer().start_as_current_span("request", parent, SpanKind.SERVER, attributes) as span:
        yield span


def note_steps(timings: Mapping[str, float], end_ns: int) -> None:
    """Spans of the steps of a search, one after the other, by their milliseconds."""
    if _tracer() is None:
        return
    steps = {step: round(1e6 * took) for step, took in timings.items() if step != "total"}
    began = end_ns - sum(steps.values())
    for step, took in steps.items():
        _tracer().start_span(step, start_time=began).end(began + took)
        began += took


def described(span: Any, fields: Mapping[str, Any]) -> dict[str, str]:
    """Tell the span how the request ended; the log is told which trace it belongs to."""
    if span is None:
        return {}
    span.update_name(f"{fields['method']} {fields['path']}")
    span.set_attributes({"http.route": fields["path"], "http.response.status_code": fields["status"]})
    return {"trace_id": format(span.get_span_context().trace_id, "032x")}
