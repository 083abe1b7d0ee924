"""Figures for Prometheus, summed over all workers.

Every worker keeps its figures in a file of its own, and whichever is asked adds them up; this is what
`prometheus_client` calls multiprocess mode. `__main__` names the folder before anything is counted.
"""

import os
from collections.abc import Iterable, Mapping, Sequence

from prometheus_client import REGISTRY, CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.metrics_core import GaugeMetricFamily
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from search_service.operation.balance import Load

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)

REQUESTS = Counter("search_requests", "Requests that were answered.", ["route", "method", "status"])
SECONDS = Histogram("search_request_seconds", "Time until the answer was sent.", ["route"], buckets=_SECONDS)
STEPS = Histogram("search_step_seconds", "Time of each step of a search.", ["step"], buckets=_SECONDS)
FAILURES = Counter("search_source_failures", "Sources that had no part in a result.", ["knowledge_base", "source"])
CACHE = Counter("search_cache", "Searches that were answered from the cache, or not.", ["result"])
WRITTEN = Counter("search_documents", "Documents that were changed.", ["knowledge_base", "change"])
_NEWEST = "mostrecent"
DOCUMENTS = Gauge("search_index_documents", "Documents.", ["knowledge_base"], multiprocess_mode=_NEWEST)
VERSION = Gauge("search_index_version", "Grows with every write.", ["knowledge_base"], multiprocess_mode=_NEWEST)
CHANGED = Gauge(
    "search_index_changed_ratio", "Share changed since compaction.", ["knowledge_base"], multiprocess_mode=_NEWEST
)


def note_request(route: str, method: str, status: int, seconds: float) -> None:
    """Count a request. Addresses that do not exist go by one name, as they would never end."""
    REQUESTS.labels(route, method if route != "(none)" else "(any)", status).inc()
    SECONDS.labels(route).observe(seconds)


def note_search(timings: Mapping[str, float]) -> None:
    """Count a search, by the milliseconds of its steps."""
    CACHE.labels("hit" if "cache" in timings else "miss").inc()
    for step, milliseconds in timings.items():
        STEPS.labels(step).observe(milliseconds / 1000)


class Workers(Collector):
    """What each worker has to do now."""

    def __init__(self, loads: Sequence[Load]) -> None:
        self._loads = loads

    def collect(self) -> Iterable[GaugeMetricFamily]:
        """Gauges with the number of the process."""
        for name in ("requests", "connections"):
            family = GaugeMetricFamily(
                f"search_worker_{name}", f"{name.title()} that a worker has.", labels=["process"]
            )
            for load in self._loads:
                family.add_metric([str(load.process)], getattr(load, name))
            yield family


def rendered(loads: Sequence[Load]) -> bytes:
    """The figures of all workers as text."""
    own = CollectorRegistry()
    own.register(Workers(loads))
    if "PROMETHEUS_MULTIPROC_DIR" not in os.environ:  # a single process that was not started by `__main__`
        return generate_latest(REGISTRY) + generate_latest(own)
    MultiProcessCollector(own)
    return generate_latest(own)
