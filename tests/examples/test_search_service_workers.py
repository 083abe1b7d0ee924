"""Several workers of the search service: who answers what, and what becomes of requests when the service ends."""

import json
import os
import re
import signal
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from itertools import count
from pathlib import Path

import httpx
import pytest

NEVER_BEFORE = count()


def loads(service, name="connections"):
    """What each worker has, by its process."""
    text = httpx.get(f"{service.url}/metrics", trust_env=False, timeout=60).text
    found = re.findall(rf'^search_worker_{name}{{process="(\d+)"}} (\S+)$', text, re.M)
    return {int(process): float(value) for process, value in found}


def wait_until(check, seconds=120):
    end = time.monotonic() + seconds
    while not check():
        assert time.monotonic() < end
        time.sleep(0.05)


def ask(client):
    return client.post("/search", json={"query": f"Who owns locker {next(NEVER_BEFORE)}?"})


@pytest.fixture
def two_workers(run_service, tmp_path):
    with run_service(tmp_path, SEARCH_WORKERS="2") as running:
        wait_until(lambda: len(loads(running)) == 2)
        yield running


def test_connections_are_shared_out_and_move_when_a_worker_is_replaced(two_workers):
    with ExitStack() as stack:
        clients = [
            stack.enter_context(httpx.Client(base_url=two_workers.url, timeout=60, trust_env=False)) for _ in range(24)
        ]
        for client in clients:
            assert client.get("/health/live").status_code == 200
        assert min(loads(two_workers).values()) >= 6

        # all connections are now kept by one worker, as the other has only just started
        killed, kept = loads(two_workers)
        os.kill(killed, signal.SIGKILL)
        wait_until(lambda: killed not in loads(two_workers))
        for client in clients:
            try:
                client.get("/health/live")
            except httpx.TransportError:
                client.get("/health/live")
        wait_until(lambda: len(loads(two_workers)) == 2)
        assert kept in loads(two_workers)
        stop = threading.Event()

        def keep_asking(client):
            statuses = set()
            while not stop.is_set():
                statuses.add(ask(client).status_code)
            return statuses

        with ThreadPoolExecutor(len(clients)) as threads:
            asking = [threads.submit(keep_asking, client) for client in clients]
            try:
                wait_until(lambda: min(loads(two_workers).values()) >= 6)
            finally:
                stop.set()
            assert set().union(*(one.result() for one in asking)) == {200}


def open_files(process):
    links = []
    for file in Path(f"/proc/{process}/fd").iterdir():
        with suppress(FileNotFoundError):  # closed meanwhile
            links.append(os.readlink(file))
    return links


def open_images(process):
    """The index images that a process has open, and those of them that were replaced."""
    images = [link for link in open_files(process) if ".image" in link]
    return images, [link for link in images if link.endswith("(deleted)")]


def test_a_worker_opens_its_connections_to_the_file_at_the_start(run_service, tmp_path):
    """So that files stay as many as they are: one for each thread that may read at once."""

    with run_service(tmp_path, SEARCH_THREADS="3") as running:

        def opened():
            return sum(link.endswith("kb.db") for link in open_files(running.process.pid))

        assert opened() == 3 + 5
        with ThreadPoolExecutor(16) as threads:
            replies = list(threads.map(lambda _: ask(running.client), range(64)))
        assert {reply.status_code for reply in replies} == {200}
        assert opened() == 3 + 5


def test_workers_share_index_images_and_let_go_of_those_that_were_replaced(two_workers):
    first = {image for process in loads(two_workers) for image in open_images(process)[0]}
    assert {Path(image).name.partition("-")[0] for image in first} >= {"text", "vectors", "graph"}
    lines = [json.dumps({"id": f"up{number}", "text": f"The harbour of Upland{number}."}) for number in range(1100)]
    kind = {"content-type": "application/x-ndjson"}
    job = two_workers.client.post("/documents:bulk", content="\n".join(lines), headers=kind).json()["id"]
    wait_until(lambda: two_workers.client.get(f"/jobs/{job}").json()["status"] == "done")

    def has_followed(process):
        images, replaced = open_images(process)
        return images and not replaced and not first.intersection(images)

    def ask_anew(_):
        with httpx.Client(base_url=two_workers.url, timeout=60, trust_env=False) as client:
            return ask(client).status_code

    def all_have_followed():  # a search follows each change; of several at once, every worker gets some
        two_workers.client.put(
            "/documents/change", json={"content": f"Change {next(NEVER_BEFORE)}."}
        ).raise_for_status()
        with ThreadPoolExecutor(8) as threads:
            assert set(threads.map(ask_anew, range(16))) == {200}
        return all(map(has_followed, loads(two_workers)))

    wait_until(all_have_followed)


class Caller(threading.Thread):
    """Sends one request after the other until there is no service, and keeps account of what came back."""

    def __init__(self, service, name, writes):
        super().__init__(name=name)
        self.client = httpx.Client(base_url=service.url, timeout=60, trust_env=False)
        self.writes, self.statuses, self.stored, self.lost = writes, [], [], []

    def run(self):
        with self.client:
            while True:
                try:
                    self.statuses.append(self.write() if self.writes else ask(self.client).status_code)
                except httpx.ConnectError:
                    return
                except httpx.TransportError as error:
                    self.lost.append(error)

    def write(self):
        key = f"{self.name}-{next(NEVER_BEFORE)}"
        status = self.client.put(f"/documents/{key}", json={"content": f"The harbour of {key}."}).status_code
        if status == 201:
            self.stored.append(key)
        return status


@pytest.mark.parametrize("workers", [1, 2])
def test_sigterm_under_load_answers_what_is_under_way_and_keeps_what_was_acknowledged(run_service, tmp_path, workers):
    with run_service(tmp_path, SEARCH_WORKERS=str(workers)) as running:
        wait_until(lambda: len(loads(running)) == workers)
        callers = [Caller(running, f"c{number}", writes=number % 4 == 0) for number in range(24)]
        for caller in callers:
            caller.start()
        wait_until(lambda: all(len(caller.statuses) >= 2 for caller in callers))
        running.process.send_signal(signal.SIGTERM)
        assert running.process.wait(60) == 0
        for caller in callers:
            caller.join(60)
            assert not caller.is_alive()
            assert set(caller.statuses) <= {200, 201, 503}
            # a connection that rested too long, and one that was opened when nobody was there any more
            assert not any(isinstance(error, httpx.TimeoutException) for error in caller.lost)
            assert len(caller.lost) <= 2, caller.lost
        assert not [entry for entry in running.logged() if entry["level"] in ("ERROR", "CRITICAL")]
    stored = [key for caller in callers for key in caller.stored]
    assert stored
    with run_service(tmp_path) as running:
        for key in stored:
            again = running.client.put(f"/documents/{key}", json={"content": f"The harbour of {key}."})
            assert again.json()["status"] == "unchanged"


def test_a_request_that_is_on_its_way_at_sigterm_is_answered(run_service, tmp_path):
    """A connection that rests is closed after the answer to what may be on its way, or a tenth of the time later."""
    with run_service(tmp_path, SEARCH_SHUTDOWN_SECONDS="300") as running:
        port = int(running.url.rpartition(":")[2])
        with (
            socket.create_connection(("127.0.0.1", port), timeout=60) as connection,
            connection.makefile("rb") as replies,
        ):
            connection.sendall(REQUEST)
            assert whole(replies)[0].startswith(b"HTTP/1.1 200")
            running.client.close()
            running.process.send_signal(signal.SIGTERM)
            wait_until(lambda: any("shutting down" in entry["event"].lower() for entry in running.logged()))
            connection.sendall(REQUEST)
            lines = whole(replies)
            assert lines[0].startswith(b"HTTP/1.1 200")
            assert b"connection: close\r\n" in lines
        assert running.process.wait(60) == 0


REQUEST = b"GET /health/live HTTP/1.1\r\nhost: x\r\n\r\n"


def whole(replies):
    """The lines of the head of a reply, after its body was read, too."""
    lines = [*iter(replies.readline, b"\r\n")]
    length = next(int(line.partition(b":")[2]) for line in lines if line.startswith(b"content-length"))
    replies.read(length)
    return lines
