"""The search service under load: 50 clients at once for 30 seconds on loopback, hybrid search with the graph.

    python benchmarks/service.py [--seconds 30] [--clients 50] [--workers N] [--without-graph] [--synthesis] [--json]

Every request asks a question that was not asked before, so the query cache never helps; answers have ten results with
their receipts. Summaries are off unless `--synthesis` asks for extractive ones. Service and clients share the machine.
An error is any answer but 200 with results, or none. The system the service is modelled on, which has no graph, handles
100 to 200 requests per second without summaries; `--without-graph` does no more than it does.
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
from itertools import count
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter, sleep
from urllib.request import urlopen

EXAMPLE = Path(__file__).parents[1] / "examples" / "search_service"
OPENINGS = ("Who", "What", "When", "Where", "Why", "How much", "How long", "Which", "Who decides about", "What about")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=30, help="how long (30)")
    parser.add_argument("--clients", type=int, default=50, help="how many at once (50)")
    parser.add_argument("--workers", type=int, default=min(os.cpu_count() or 1, 4), help="processes that answer")
    parser.add_argument("--without-graph", action="store_true", help="words and vectors only")
    parser.add_argument("--synthesis", action="store_true", help="with extractive summaries")
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        port = free_port()
        environment = {
            **os.environ,
            "SEARCH_KNOWLEDGE_BASE": str(Path(folder) / "service.db"),
            "SEARCH_PORT": str(port),
            "SEARCH_WORKERS": str(options.workers),
            "SEARCH_SYNTHESIS__ENABLED": str(options.synthesis).lower(),
            "SEARCH_LOG_LEVEL": "WARNING",
        }
        service = subprocess.Popen([sys.executable, "-m", "search_service"], cwd=EXAMPLE, env=environment)
        try:
            wait_for(port)
            graph = not options.without_graph
            asyncio.run(load(port, options.clients, 2, seed=1, graph=graph))  # warm
            times, errors, seconds = asyncio.run(load(port, options.clients, options.seconds, seed=2, graph=graph))
        finally:
            service.terminate()
            service.wait(30)
    cuts = quantiles(times, n=100) if len(times) > 1 else [0.0] * 99
    result = {
        "requests_per_second": round(len(times) / seconds, 1),
        "p50_ms": round(1000 * median(times or [0.0]), 1),
        "p95_ms": round(1000 * cuts[94], 1),
        "p99_ms": round(1000 * cuts[98], 1),
        "errors": errors,
    }
    if options.json:
        print(json.dumps(result))
        return
    summaries = "extractive summaries" if options.synthesis else "no summaries"
    sources = "words and vectors" if options.without_graph else "words, vectors and graph"
    print(
        f"{options.clients} clients, {seconds:.0f} s, {options.workers} processes, distinct questions, "
        f"{sources}, {summaries}"
    )
    for name, value in result.items():
        print(f"  {name:<20} {value:>8}")
    print("  (the system it is modelled on: 100 to 200 requests per second, without graph and summaries)")


async def load(
    port: int, clients: int, seconds: float, seed: int, graph: bool = True
) -> tuple[list[float], int, float]:
    """Seconds per good answer, how many were not good, and how long it all took."""
    asked = distinct_questions(seed)
    times: list[float] = []
    errors = 0
    end = perf_counter() + seconds

    async def client() -> None:
        nonlocal errors
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        while (started := perf_counter()) < end:
            try:
                good = await ask(reader, writer, {"query": next(asked), "expand_graph": graph})
            except (OSError, ValueError, asyncio.IncompleteReadError):
                good = False
            if good:
                times.append(perf_counter() - started)
            else:
                errors += 1
                writer.close()
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.close()

    started = perf_counter()
    await asyncio.gather(*(client() for _ in range(clients)))
    return times, errors, perf_counter() - started


async def ask(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, request: dict[str, object]) -> bool:
    """One request on a connection that stays open; plain sockets, as a client library would take longer than we do."""
    body = json.dumps(request).encode()
    head = f"POST /search HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
    writer.write(head.encode() + body)
    answer = (await reader.readuntil(b"\r\n\r\n")).lower()
    length = int(answer.split(b"content-length: ")[1].split(b"\r\n")[0])
    content = await reader.readexactly(length)
    return answer.startswith(b"http/1.1 200") and content.startswith(b'{"results":[{')


def distinct_questions(seed: int):
    """Questions about two things of the corpus and two of its words, no two alike."""
    documents = [json.loads(line) for line in (EXAMPLE / "corpus.jsonl").open(encoding="utf-8")]
    titles = [document["title"] for document in documents]
    words = sorted({word for document in documents for word in re.findall(r"[a-z]{5,}", document["text"])})
    chance = random.Random(seed)
    for number in count():
        opening, title, other = chance.choice(OPENINGS), chance.choice(titles), chance.choice(titles)
        yield f"{opening} {chance.choice(words)} {title} and {chance.choice(words)} {other}, {seed}-{number}?"


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def wait_for(port: int, seconds: float = 60) -> None:
    end = perf_counter() + seconds
    while perf_counter() < end:
        try:
            with urlopen(f"http://127.0.0.1:{port}/health", timeout=2):
                return
        except OSError:
            sleep(0.2)
    sys.exit(f"the service did not start within {seconds:g} s")


if __name__ == "__main__":
    main()
