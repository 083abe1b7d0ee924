"""The search service under load: 50 clients at once for 30 seconds on loopback, hybrid search with the graph.

    python benchmarks/service.py [--seconds 30] [--clients 50] [--workers 2] [--writes 5] [--without-graph]
                                 [--synthesis] [--soak MINUTES] [--json]

Every request asks a question that was not asked before, so the query cache never helps; answers have ten results with
their receipts. Meanwhile `--writes` documents a second are put through the API, searched for on a new connection, which
any worker may answer, deleted, and searched for again. An error is any answer but 200 with results, none at all, a
document that is not found at once, or one that is still found when it is deleted. Summaries are off unless
`--synthesis` asks for extractive ones. Service and clients share the machine; `client_share` is the part of one core
that the clients took.

With `--soak`, requests come at half the rate that a first run of ten seconds reached, for so many minutes. Memory (PSS
and RSS) and file descriptors of all processes of the service are read before, and after every tenth when the clients
have gone; growth is that from the first tenth to the last, and to the largest. With `--soak 10` tenths are minutes.
Figures of requests are medians of the tenths; errors and documents are sums.
"""

import argparse
import asyncio
import json
import os
import random
import re
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from statistics import median, quantiles
from time import perf_counter, sleep
from typing import Any
from urllib.request import urlopen

EXAMPLE = Path(__file__).parents[1] / "examples" / "search_service"
OPENINGS = ("Who", "What", "When", "Where", "Why", "How much", "How long", "Which", "Who decides about", "What about")
_CLOSED_SECONDS = 2.0  # after which the service has seen that the clients are gone: their sockets are files, too


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=30, help="how long (30)")
    parser.add_argument("--clients", type=int, default=50, help="how many at once (50)")
    parser.add_argument("--workers", type=int, default=2, help="processes that answer (2)")
    parser.add_argument("--writes", type=float, default=5, help="documents put and deleted per second (5)")
    parser.add_argument("--without-graph", action="store_true", help="words and vectors only")
    parser.add_argument("--synthesis", action="store_true", help="with extractive summaries")
    parser.add_argument("--soak", type=float, metavar="MINUTES", help="memory and file descriptors at half load")
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    options = parser.parse_args()
    with running_service(options.workers, synthesis=options.synthesis) as (port, process):
        load = Load(port, options.clients, options.writes, graph=not options.without_graph)
        run(load.run(2))  # warm
        result = soak(load, process, 60 * options.soak) if options.soak else run(load.run(options.seconds))
    if options.json:
        print(json.dumps(result))
        return
    sources = "words and vectors" if options.without_graph else "words, vectors and graph"
    summaries = "extractive summaries" if options.synthesis else "no summaries"
    print(f"{options.clients} clients, {options.workers} workers, distinct questions, {sources}, {summaries}")
    for name, value in result.items():
        print(f"  {name:<27} {value if isinstance(value, list) else format(value, '>10')}")


def soak(load: "Load", process: int, seconds: float) -> dict[str, Any]:
    """Half of what is possible, for long."""
    rate = float(run(load.run(10))["requests_per_second"]) / 2
    parts, footprints = [], [settled(process)]
    for _ in range(10):
        parts.append(run(load.run(seconds / 10, rate)))
        footprints.append(settled(process))
    sums = ("errors", "documents_put_found_deleted")
    series = {name: [one[name] for one in footprints] for name in footprints[0]}
    memory, files = series["memory_mb"][1:], series["files"][1:]
    return {
        **{
            name: sum(part[name] for part in parts) if name in sums else median(part[name] for part in parts)
            for name in parts[0]
        },
        **series,
        "memory_growth_percent": round(100 * (memory[-1] / memory[0] - 1), 2),
        "memory_peak_growth_percent": round(100 * (max(memory) / memory[0] - 1), 2),
        "files_growth": files[-1] - files[0],
    }


def settled(process: int) -> dict[str, float]:
    """The footprint when the service has seen that the clients are gone."""
    sleep(_CLOSED_SECONDS)
    return footprint(process)


class Load:
    """Clients and a writer, each with questions and documents that nobody had before."""

    def __init__(self, port: int, clients: int, writes: float, *, graph: bool = True) -> None:
        self._port, self._clients, self._writes, self._graph = port, clients, writes, graph
        self._questions = distinct_questions(1)
        self._numbers = count()
        self.errors: list[str] = []
        self.times: list[float] = []
        self.written = 0
        self.write_times: list[float] = []

    async def run(self, seconds: float, rate: float | None = None) -> dict[str, Any]:
        """Figures of so many seconds, with as many requests as are answered, or at a rate."""
        self.errors, self.times, self.written, self.write_times = [], [], 0, []
        usage, started = getrusage(RUSAGE_SELF), perf_counter()
        end = started + seconds
        pause = None if rate is None else self._clients / rate
        await asyncio.gather(*(self._ask(end, pause) for _ in range(self._clients)), self._write(end))
        took, used = perf_counter() - started, getrusage(RUSAGE_SELF)
        cuts = quantiles(self.times, n=100) if len(self.times) > 1 else [0.0] * 99
        for error in sorted(set(self.errors))[:5]:
            print(f"  {self.errors.count(error)} × {error}", file=sys.stderr)
        return {
            "requests_per_second": round(len(self.times) / took, 1),
            "p50_ms": round(1000 * median(self.times or [0.0]), 1),
            "p95_ms": round(1000 * cuts[94], 1),
            "p99_ms": round(1000 * cuts[98], 1),
            "errors": len(self.errors),
            "documents_put_found_deleted": self.written,
            "put_p50_ms": round(1000 * median(self.write_times or [0.0]), 1),
            "client_share": round((sum(used[:2]) - sum(usage[:2])) / took, 2),
        }

    async def _ask(self, end: float, pause: float | None) -> None:
        """One client: the next question when the last one is answered, or at its time."""
        connection, due = await connected(self._port), perf_counter()
        if pause is not None:
            due += random.random() * pause
        while perf_counter() < end:
            if pause is not None:
                await asyncio.sleep(max(0.0, due - perf_counter()))
                due += pause
            if connection.closed:
                connection = await connected(self._port)
            started = perf_counter()
            try:
                status, body = await connection.send(b"POST /search", self._question(next(self._questions)))
            except ConnectionError as error:
                status, body, connection = 0, repr(error).encode(), await connected(self._port)
            if status == 200 and body.startswith(b'{"results":[{'):
                self.times.append(perf_counter() - started)
            else:
                self.errors.append(f"search: {status} {body[:200]!r}")
        connection.close()

    def _question(self, text: str) -> bytes:
        return json.dumps({"query": text, "expand_graph": self._graph, "min_relevance_score": 0}).encode()

    async def _write(self, end: float) -> None:
        """Begin with one document after the other, however long they take."""
        tasks = []
        while self._writes and perf_counter() < end:
            tasks.append(asyncio.create_task(self._write_one(f"zq{next(self._numbers)}x")))
            await asyncio.sleep(1 / self._writes)
        await asyncio.gather(*tasks)

    async def _write_one(self, word: str) -> None:
        """Put, find, delete, find no more; each on a connection of its own, so that any worker may get it."""
        text = f"The harbour of {word} opens at six and is run by {word} and sons."
        document = json.dumps({"content": text, "source": "load", "metadata": {"title": word}}).encode()
        started = perf_counter()
        status, body = await self._once(f"PUT /documents/{word}".encode(), document)
        self.write_times.append(perf_counter() - started)
        asked = json.dumps({"query": f"When does the harbour of {word} open?", "limit": 3}).encode()
        found = await self._once(b"POST /search", asked)
        gone = await self._once(f"DELETE /documents/{word}".encode(), b"")
        left = await self._once(b"POST /search", asked)
        own = b'"id":"%s"' % word.encode()
        if status != 201 or gone != (200, b'{"deleted":1}'):
            self.errors.append(f"write: {status} {body[:200]!r} {gone}")
        elif own not in found[1] or left[0] != 200 or own in left[1]:
            self.errors.append(f"not found at once, or still found when deleted: {found[0]} {left[0]}")
        else:
            self.written += 1

    async def _once(self, what: bytes, body: bytes) -> tuple[int, bytes]:
        connection = await connected(self._port)
        try:
            return await connection.send(what, body)
        finally:
            connection.close()


class Connection(asyncio.Protocol):
    """As little of HTTP as it takes: a client library would take longer than the service does."""

    def connection_made(self, transport: Any) -> None:
        self._transport = transport
        self._received = bytearray()
        self._answer: asyncio.Future[tuple[int, bytes]] | None = None
        self._whole = 0
        self.closed = False

    def send(self, what: bytes, body: bytes) -> "asyncio.Future[tuple[int, bytes]]":
        """The status and the body of the answer."""
        head = b" HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(
            body
        )
        self._answer = asyncio.get_running_loop().create_future()
        self._transport.write(what + head + body)
        return self._answer

    def data_received(self, data: bytes) -> None:
        self._received += data
        if not self._whole:
            ended = self._received.find(b"\r\n\r\n")
            if ended < 0:
                return
            head = bytes(self._received[:ended]).lower()
            self._head = ended + 4
            self.closed = self.closed or b"\r\nconnection: close" in head
            self._whole = self._head + int(head.partition(b"content-length: ")[2].partition(b"\r\n")[0])
        if len(self._received) >= self._whole and self._answer is not None:
            status, body = int(self._received[9:12]), bytes(self._received[self._head : self._whole])
            del self._received[: self._whole]
            self._whole = 0
            self._answer.set_result((status, body))

    def connection_lost(self, _: Exception | None) -> None:
        self.closed = True
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(ConnectionError("closed before the answer"))

    def close(self) -> None:
        self._transport.close()


async def connected(port: int) -> Connection:
    return (await asyncio.get_running_loop().create_connection(Connection, "127.0.0.1", port))[1]


def run(work: Any) -> Any:
    """In uvloop, which leaves more of the machine to the service."""
    import uvloop

    return uvloop.run(work)


def distinct_questions(seed: int) -> Iterator[str]:
    """Questions about two things of the corpus and two of its words, no two alike."""
    documents = [json.loads(line) for line in (EXAMPLE / "corpus.jsonl").open(encoding="utf-8")]
    titles = [document["title"] for document in documents]
    words = sorted({word for document in documents for word in re.findall(r"[a-z]{5,}", document["text"])})
    chance = random.Random(seed)
    for number in count():
        opening, title, other = chance.choice(OPENINGS), chance.choice(titles), chance.choice(titles)
        yield f"{opening} {chance.choice(words)} {title} and {chance.choice(words)} {other}, {seed}-{number}?"


@contextmanager
def running_service(workers: int, *, synthesis: bool = False, **more: str) -> Iterator[tuple[int, int]]:
    """The service on a free port, with the handbook in a new file: its port and process."""
    with tempfile.TemporaryDirectory() as folder:
        port = free_port()
        environment = {
            **os.environ,
            "SEARCH_KNOWLEDGE_BASE": str(Path(folder) / "service.db"),
            "SEARCH_PORT": str(port),
            "SEARCH_WORKERS": str(workers),
            "SEARCH_SYNTHESIS__ENABLED": str(synthesis).lower(),
            "SEARCH_LOG_LEVEL": "WARNING",
            **more,
        }
        service = subprocess.Popen([sys.executable, "-m", "search_service"], cwd=EXAMPLE, env=environment)
        try:
            wait_for(port, workers)
            yield port, service.pid
        finally:
            service.terminate()
            service.wait(30)


def footprint(process: int) -> dict[str, float]:
    """Memory and open file descriptors of a process and those it started.

    A page that several share counts once in `memory_mb` and for each in `rss_mb`.
    """
    family = [process, *descendants(process)]
    sizes = {"Pss:": 0, "Rss:": 0}
    for one in family:
        for line in Path(f"/proc/{one}/smaps_rollup").read_text().splitlines()[1:]:
            name, kilobytes, *_ = line.split()
            if name in sizes:
                sizes[name] += int(kilobytes)
    files = sum(len(os.listdir(f"/proc/{one}/fd")) for one in family)
    return {
        "memory_mb": round(sizes["Pss:"] / 1024, 1),
        "rss_mb": round(sizes["Rss:"] / 1024, 1),
        "files": files,
    }


def descendants(process: int) -> list[int]:
    children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    return [one for child in children for one in (int(child), *descendants(int(child)))]


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def wait_for(port: int, workers: int, seconds: float = 60) -> None:
    """Until every worker takes connections."""
    end = perf_counter() + seconds
    while perf_counter() < end:
        try:
            with urlopen(f"http://127.0.0.1:{port}/metrics", timeout=2) as reply:
                if reply.read().count(b"search_worker_connections{") >= workers:
                    return
        except OSError:
            pass
        sleep(0.2)
    sys.exit(f"the service did not start within {seconds:g} s")


if __name__ == "__main__":
    main()
