"""Documents over HTTP: who may change what, uploads, and what is left after the service was killed."""

import json
import os
import signal
import threading
import time
from contextlib import suppress
from itertools import count
from pathlib import Path

import httpx
import pytest

from hopweave import read_documents

KEYS = json.dumps(
    [
        {"name": "reader", "key": "r-1"},
        {"name": "writer", "key": "w-1", "role": "write"},
        {"name": "acme", "key": "a-1", "role": "write", "tenant": {"customer": "acme"}},
        {"name": "slow", "key": "s-1", "requests_per_second": 1},
    ]
)
READER, WRITER, ACME = ({"x-api-key": key} for key in ("r-1", "w-1", "a-1"))


def document(word, **more):
    return {"content": f"The harbour of {word} opens at six.", "metadata": {"title": word}, **more}


def ids(answer):
    return [result["receipt"]["id"] for result in answer["results"]]


@pytest.fixture(scope="module")
def shared(run_service, tmp_path_factory):
    """Two workers on one file, with keys."""
    with run_service(tmp_path_factory.mktemp("shared"), SEARCH_KEYS=KEYS, SEARCH_WORKERS="2") as running:
        running.client.headers["connection"] = "close"  # so that either worker may get the next request
        yield running


def found(service, word, key=READER):
    asked = {"query": f"When does the harbour of {word} open?"}
    return ids(service.client.post("/search", headers=key, json=asked).json())


def test_a_document_is_found_by_every_worker_until_it_is_deleted(shared):
    path = "/documents/ports%2Fzorblatt.md%231"
    for expected, status in (("added", 201), ("unchanged", 200)):
        reply = shared.client.put(path, headers=WRITER, json=document("Zorblatt", source="ports/zorblatt.md"))
        assert (reply.status_code, reply.json()) == (status, {"id": "ports/zorblatt.md#1", "status": expected})
    assert all(found(shared, "Zorblatt")[0] == "ports/zorblatt.md#1" for _ in range(8))
    assert shared.client.put(path, headers=WRITER, json=document("Quagmire")).json()["status"] == "updated"
    assert all(found(shared, "Quagmire")[0] == "ports/zorblatt.md#1" for _ in range(8))
    assert [shared.client.delete(path, headers=WRITER).json()["deleted"] for _ in range(2)] == [1, 0]
    assert not any("ports/zorblatt.md#1" in found(shared, "Quagmire") for _ in range(8))


def test_a_source_goes_with_all_its_documents(shared):
    for number in range(3):
        body = document(f"Snark{number}", source="snark.md")
        assert shared.client.put(f"/documents/snark{number}", headers=WRITER, json=body).status_code == 201
    assert [shared.client.delete("/sources/snark.md", headers=WRITER).json()["deleted"] for _ in range(2)] == [3, 0]


@pytest.mark.parametrize(
    ("headers", "status"),
    [({}, 401), ({"x-api-key": "r-2"}, 401), (READER, 403), ({"authorization": "Bearer w-1"}, 200)],
)
def test_writing_takes_a_key_that_may(shared, headers, status):
    assert shared.client.delete("/documents/none", headers=headers).status_code == status
    if status != 200:
        for method, path in (("PUT", "/documents/a"), ("DELETE", "/sources/a"), ("POST", "/documents:bulk")):
            assert shared.client.request(method, path, headers=headers, json={}).status_code == status
        assert shared.client.get("/jobs/none", headers=headers).status_code == status


def test_a_tenant_sees_and_changes_its_own_documents_only(shared):
    shared.client.put("/documents/theirs", headers=WRITER, json=document("Borogove"))
    shared.client.put("/documents/ours", headers=ACME, json=document("Borogove"))
    assert found(shared, "Borogove", ACME) == ["ours"]
    assert {"ours", "theirs"} <= set(found(shared, "Borogove", WRITER))
    assert shared.client.put("/documents/theirs", headers=ACME, json=document("Borogove")).status_code == 409
    assert shared.client.delete("/documents/theirs", headers=ACME).json() == {"deleted": 0}
    assert shared.client.delete("/documents/ours", headers=ACME).json() == {"deleted": 1}


def test_a_key_may_not_come_too_often_whichever_worker_is_asked(shared):
    replies = [shared.client.get("/knowledge-bases", headers={"x-api-key": "s-1"}) for _ in range(6)]
    refused = [reply for reply in replies if reply.status_code == 429]
    assert refused
    assert int(refused[0].headers["retry-after"]) >= 1
    assert shared.client.get("/knowledge-bases", headers=READER).status_code == 200


def uploaded(service, lines, headers=WRITER, seconds=60):
    kind = {"content-type": "application/x-ndjson", **headers}
    reply = service.client.post("/documents:bulk", content="\n".join(lines), headers=kind)
    assert reply.status_code == 202, reply.text
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        job = service.client.get(f"/jobs/{reply.json()['id']}", headers=headers).json()
        if job["finished"]:
            return job
        time.sleep(0.05)
    raise AssertionError(job)


def test_an_upload_tells_which_lines_are_no_document(shared):
    good = [json.dumps({"id": f"up{number}", **document(f"Upland{number}")}) for number in range(150)]
    bad = ["{", '{"id": "x"}', '{"id": "", "content": "x"}', "7", '{"text": "y"}']
    job = uploaded(shared, [*good, "", *bad])
    assert (job["status"], job["lines"], job["done"], job["failed"]) == ("done", 155, 150, 5)
    assert [error["line"] for error in job["errors"]] == [152, 153, 154, 155, 156]
    assert "content" in job["errors"][1]["message"]
    assert found(shared, "Upland149")[0] == "up149"
    assert shared.client.get(f"/jobs/{job['id']}", headers=ACME).status_code == 404  # it is somebody else's


def test_an_upload_takes_what_the_command_line_indexes(shared, tmp_path):
    """The same lines, and the same documents of them: text or content, and all else is metadata."""
    lines = [
        '{"id": 7001, "text": "The harbour of Quixby opens at six.", "title": "Quixby", "source": "q.md", "depth": 12}',
        '{"id": "q2", "content": "The harbour of Quaxby opens at six.", "metadata": {"title": "Quaxby"}, "year": 1974}',
        '{"id": "q3", "text": 7}',
        '{"id": "q4", "text": "x", "vector": [1.0, 0.0]}',
        '{"id": "q5", "text": "a \\ud800 b"}',
        '{"id": true, "text": "x"}',
        f'{{"id": "q6", "text": "x", "depth": {"[" * 5000}1{"]" * 5000}}}',
        f'{{"id": "{"q" * 501}", "text": "x"}}',
    ]
    job = uploaded(shared, lines)
    assert (job["done"], job["failed"]) == (2, 6)
    messages = {error["line"]: error["message"] for error in job["errors"]}
    assert messages[3] == "needs a string under text, but got 7"
    assert messages[4].startswith("vector: ")
    assert messages[6].startswith("its id must be")
    assert messages[8].startswith("id: ")
    assert all(len(message) < 250 for message in messages.values())
    file = tmp_path / "corpus.jsonl"
    file.write_text("\n".join(lines[:2]))
    for document in read_documents(file):
        asked = {"query": document.text, "limit": 1}
        (best,) = shared.client.post("/search", headers=READER, json=asked).json()["results"]
        assert (best["receipt"]["id"], best["content"], best["metadata"]) == (
            document.id, document.text, dict(document.metadata),
        )  # fmt: skip


def test_metrics_are_those_of_all_workers(shared):
    def counted():
        lines = shared.client.get("/metrics", headers=READER).text.splitlines()
        return dict(line.rsplit(" ", 1) for line in lines if not line.startswith("#"))

    searches = 'search_requests_total{method="POST",route="/search",status="200"}'
    before = float(counted().get(searches, 0))
    for number in range(12):
        found(shared, f"Metric{number}")
    after = counted()
    assert float(after[searches]) == before + 12
    assert float(after['search_index_version{knowledge_base="default"}']) > 1
    assert 0 <= float(after['search_index_changed_ratio{knowledge_base="default"}']) <= 1
    assert float(after['search_step_seconds_count{step="graph"}']) > 0
    assert float(after['search_cache_total{result="miss"}']) > 0
    assert shared.client.get("/metrics").status_code == 401


def test_too_many_uploads_wait_their_turn(run_service, tmp_path):
    kind = {"content-type": "application/x-ndjson"}
    lines = "\n".join(json.dumps({"id": f"{number}", **document(f"Word{number}")}) for number in range(3000))
    with run_service(tmp_path, SEARCH_MAX_JOBS="1") as running:
        replies = [running.client.post("/documents:bulk", content=lines, headers=kind) for _ in range(3)]
        assert replies[0].status_code == 202
        assert replies[-1].status_code == 429
        assert replies[-1].headers["retry-after"]
        assert running.client.put("/documents/big", content=b"x" * 2_000_000).status_code == 413


def test_pages_of_other_origins_and_names_are_kept_out(run_service, tmp_path):
    with run_service(tmp_path, SEARCH_CORS_ORIGINS='["https://wiki.example"]') as running:
        asks = {"access-control-request-method": "PUT"}
        for origin, status in (("https://wiki.example", 204), ("https://evil.example", 403)):
            reply = running.client.options("/documents/a", headers={"origin": origin, **asks})
            assert reply.status_code == status
            assert reply.headers.get("access-control-allow-origin") == (origin if status == 204 else None)
        rebound = {"host": "evil.example"}
        assert running.client.put("/documents/a", headers=rebound, json=document("x")).status_code == 403
        assert running.client.put("/documents/a", json=document("x")).status_code == 201


def test_a_folder_belongs_to_one_service(run_service, start_service, tmp_path):
    with run_service(tmp_path):
        done = start_service(tmp_path, "serve", SEARCH_PORT="0")
        assert done.returncode == 1
        assert "in use by another service" in done.stderr


def children_of(service):
    process = service.process.pid
    return [int(child) for child in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def is_running(process):
    """Whether it is there, and not only waiting to be taken note of."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


class Writer(threading.Thread):
    """Puts documents, deletes every third, and keeps account of what was acknowledged."""

    def __init__(self, service, name):
        super().__init__()
        self.client = httpx.Client(base_url=service.url, timeout=30, trust_env=False)
        self.name, self.kept, self.deleted = name, [], []

    def run(self):
        with self.client, suppress(httpx.TransportError):
            for number in count():
                key = f"{self.name}-{number}"
                stored = self.client.put(f"/documents/{key}", json=document(key)).status_code == 201
                if number % 3:
                    self.kept += [key] * stored
                elif self.client.delete(f"/documents/{key}").status_code == 200:
                    self.deleted.append(key)


def test_killed_under_load_nothing_acknowledged_is_lost(run_service, tmp_path):
    """Both workers and their parent, while documents are put and an upload is under way."""
    with run_service(tmp_path, SEARCH_WORKERS="2") as running:
        writers = [Writer(running, f"w{number}") for number in range(4)]
        for writer in writers:
            writer.start()
        while sum(len(writer.kept) for writer in writers) < 30:
            time.sleep(0.02)
        lines = [json.dumps({"id": f"up{number}", **document(f"Upland{number}")}) for number in range(2000)]
        kind = {"content-type": "application/x-ndjson"}
        job = running.client.post("/documents:bulk", content="\n".join(lines), headers=kind).json()["id"]
        for process in (running.process.pid, *children_of(running)):
            os.kill(process, signal.SIGKILL)
        running.process.wait(30)
        for writer in writers:
            writer.join()
    with run_service(tmp_path, SEARCH_WORKERS="2") as running:
        end = time.monotonic() + 120
        while running.client.get(f"/jobs/{job}").json()["status"] != "done" and time.monotonic() < end:
            time.sleep(0.1)
        assert running.client.get(f"/jobs/{job}").json()["done"] == 2000
        for key in [key for writer in writers for key in writer.kept]:  # putting it again changes nothing
            assert running.client.put(f"/documents/{key}", json=document(key)).json()["status"] == "unchanged", key
        for key in [key for writer in writers for key in writer.deleted]:
            assert running.client.delete(f"/documents/{key}").json() == {"deleted": 0}, key


def test_workers_end_with_their_parent(run_service, tmp_path):
    with run_service(tmp_path, SEARCH_WORKERS="2") as running:
        children = children_of(running)
        running.process.kill()
        running.process.wait(30)
        end = time.monotonic() + 60
        while any(map(is_running, children)) and time.monotonic() < end:
            time.sleep(0.1)
        assert not any(map(is_running, children))
