"""The search service over real HTTP: what it answers, what it refuses, and what it never reveals."""

import json
import re
import signal
import socket
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from hopweave import KnowledgeBase, read_documents
from hopweave.evaluate.evaluate import evaluate
from hopweave.evaluate.queries import read_queries

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "search_service"
QUESTION = "Who leads the team that owns Kestrel?"
INTERNALS = re.compile(r"Traceback|File \"|site-packages|hopweave\.|pydantic|sqlite|/home|/root|\.py\b|kb\.db", re.I)


def assert_refused(reply, status):
    """The right status, a message, and no trace of what is inside."""
    assert reply.status_code == status, reply.text
    answer = reply.json()
    assert set(answer) == {"message", "faults", "request_id"}
    assert answer["message"]
    assert reply.headers["x-request-id"] == answer["request_id"]
    assert not INTERNALS.search(reply.text), reply.text
    return answer


# Answers


def test_an_answer_has_all_its_fields_and_the_defaults_hold(service):
    asked = f"{QUESTION} Please!"  # nobody has asked this before, so it is not in the cache
    answer = service.search(asked).json()
    assert list(answer) == [
        "results", "query", "method_used", "total_results", "synthesis", "citations", "timings", "intent",
        "weights", "confidence", "degraded",
    ]  # fmt: skip
    assert answer["query"] == asked
    assert answer["method_used"] == "hybrid"
    assert answer["total_results"] == len(answer["results"]) <= 10
    assert answer["citations"] == [result["source"] for result in answer["results"]]
    assert answer["degraded"] == []
    assert {"text", "vector", "graph", "reciprocal_rank", "synthesis", "total"} <= set(answer["timings"])
    assert all(
        set(one) == {"content", "source", "relevance_score", "rank", "metadata", "receipt"} for one in answer["results"]
    )
    scores = [result["relevance_score"] for result in answer["results"]]
    assert scores == sorted(scores, reverse=True)
    assert scores[0] == answer["confidence"]
    assert min(scores) >= 0.15
    assert [result["rank"] for result in answer["results"]] == list(range(1, len(scores) + 1))
    assert {"services/kestrel.md", "teams/doorstep.md"} <= set(answer["citations"])


def test_receipts_add_up_and_tell_the_path(service):
    results = service.search(QUESTION).json()["results"]
    for result in results:
        signals = {one["name"]: one["share"] for one in result["receipt"]["signals"]}
        assert signals.keys() <= {"text", "vector", "graph"}
        assert sum(signals.values()) == pytest.approx(result["relevance_score"])
    doorstep = next(result for result in results if result["receipt"]["id"] == "teams/doorstep.md#1")
    assert doorstep["receipt"]["path"] == [
        {"name": "Kestrel", "edge_type": None, "forward": True},
        {"name": "Doorstep team", "edge_type": "mentions", "forward": False},
    ]
    assert [step["stage"] for step in doorstep["receipt"]["steps"]][-2:] == ["scale", "confidence"]


@pytest.mark.parametrize(("method", "signal_name"), [("keyword", "bm25"), ("vector", "vector")])
def test_single_methods_use_one_source(service, method, signal_name):
    answer = service.search(QUESTION, method=method, expand_graph=False, min_relevance_score=0).json()
    assert answer["method_used"] == method
    assert answer["total_results"] > 0
    assert {one["name"] for result in answer["results"] for one in result["receipt"]["signals"]} == {signal_name}


@pytest.mark.parametrize("method", ["keyword", "vector", "hybrid"])
def test_the_graph_can_be_switched_off_and_on(service, method):
    without = service.search(QUESTION, method=method, expand_graph=False).json()
    assert not any(result["receipt"]["path"] for result in without["results"])
    assert "graph" not in without["timings"]
    expanded = service.search(QUESTION, method=method).json()
    assert any(result["receipt"]["path"] for result in expanded["results"])


def test_a_request_can_leave_the_graph_out(service):
    answer = service.search(QUESTION, skip=["graph"]).json()
    assert not any(result["receipt"]["path"] for result in answer["results"])
    assert "graph" not in answer["timings"]


def test_chunks_of_one_file_stay_apart(service):
    answer = service.search("Kestrel gateway and its offline lockers", limit=10).json()
    ids = [result["receipt"]["id"] for result in answer["results"]]
    assert {"services/kestrel.md#1", "services/kestrel.md#2"} <= set(ids)
    assert len(ids) == len(set(ids))


def test_limit_and_minimum(service):
    assert len(service.search(QUESTION, limit=3).json()["results"]) == 3
    confidence = service.search(QUESTION).json()["confidence"]
    best = service.search(QUESTION, min_relevance_score=confidence).json()["results"]
    assert [result["relevance_score"] for result in best] == [confidence] * len(best)
    assert service.search(QUESTION, min_relevance_score=1).json()["results"] == []
    everything = service.search(QUESTION, limit=100, min_relevance_score=0).json()
    assert 60 < everything["total_results"] <= 94


def test_filters_by_value_list_and_date(service):
    def found(**filters):
        answer = service.search("Who is on call and what is paid?", filters=filters, min_relevance_score=0).json()
        return [result["metadata"] for result in answer["results"]]

    assert {one["type"] for one in found(type="person")} == {"person"}
    assert {one["type"] for one in found(type=["team", "vendor"])} == {"team", "vendor"}
    recent = found(date_from="2025-01-06", date_to="2025-01-06")
    assert {one["date"] for one in recent} == {"2025-01-06"}
    assert {one["title"] for one in recent} >= {"On-call pay", "Being on call"}
    assert all(one["date"] < "2023-06-01" for one in found(date_to="2023-05-31"))
    assert found(date_from="2099-01-01") == []
    assert {one["title"] for one in found(date=["2023-01-09", "2025-01-06"], date_to="2024-01-01")} == {
        "On-call pay (until 2024)"
    }


def test_nothing_found_is_an_answer(service):
    answer = service.search(QUESTION, filters={"type": "poem"})
    assert answer.status_code == 200
    assert answer.json() | {"timings": {}, "confidence": None} == {
        "results": [], "query": QUESTION, "method_used": "hybrid", "total_results": 0, "synthesis": None,
        "citations": [], "timings": {}, "intent": "goal_based", "confidence": None, "degraded": [],
        "weights": {"embedding": 0.4, "text": 0.25, "graph": 0.15, "intent_edges": 0.2},
    }  # fmt: skip
    assert service.search("qqqzzzxxx", method="keyword", expand_graph=False).json()["results"] == []


@pytest.mark.parametrize(
    "nonsense",
    ["qqqzzzxxx", "asdf qwer zxcv", "How do I bake sourdough bread?", "Who won the world cup in 1998?",
     "What is the capital of Mongolia?"],
)  # fmt: skip
@pytest.mark.parametrize("method", ["keyword", "hybrid"])  # of vectors alone, confidence can tell less
def test_nothing_is_found_for_nonsense(service, nonsense, method):
    answer = service.search(nonsense, method=method).json()
    assert answer["results"] == [], answer["confidence"]
    assert answer["synthesis"] is None


def test_the_summary_quotes_its_sources_and_citations_can_be_left_out(service):
    answer = service.search("How long is the probation?").json()
    numbers = {int(number) for number in re.findall(r"\[(\d+)\]", answer["synthesis"])}
    assert numbers <= set(range(1, 6))
    for sentence, number in re.findall(r"(.+?) \[(\d+)\] ?", answer["synthesis"]):
        assert sentence in answer["results"][int(number) - 1]["content"]
    assert service.search("How long is the probation?", include_citations=False).json()["citations"] == []


def test_the_same_question_again_comes_from_the_cache(service):
    first, again = service.search("Who keeps bees?").json(), service.search("Who keeps bees?").json()
    assert "text" in first["timings"]
    assert set(again["timings"]) == {"cache", "synthesis", "total"}
    assert {**first, "timings": {}} == {**again, "timings": {}}


def test_health_reports_each_part(service):
    answer = service.client.get("/health").json()
    assert (answer["status"], answer["vector_db"], answer["keyword_engine"]) == ("healthy", ["default"], "connected")
    assert {name: part["status"] for name, part in answer["parts"].items()} == {
        "knowledge_base": "ok", "words": "ok", "vectors": "ok", "graph": "ok", "reranker": "off", "synthesis": "ok",
    }  # fmt: skip
    assert "94 documents" in answer["parts"]["knowledge_base"]["detail"]
    assert service.client.get("/health/live").json() == {"status": "ok"}
    assert service.client.get("/health/ready").json() == {"status": "ok"}


def test_fifty_at_once(service):
    questions = [f"What does {name} own in case {number}?" for number in range(10) for name in
                 ("Doorstep", "Roundabout", "Counter", "Groundwork", "Welcome")]  # fmt: skip
    with ThreadPoolExecutor(50) as clients:
        replies = list(clients.map(service.search, questions))
    assert {reply.status_code for reply in replies} == {200}
    assert [reply.json()["query"] for reply in replies] == questions


# Refusals


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "query"),
        ({"query": ""}, "query"),
        ({"query": "   "}, "query"),
        ({"query": "x" * 2001}, "query"),
        ({"query": 7}, "query"),
        ({"query": None}, "query"),
        ({"query": "x", "method": "magic"}, "method"),
        ({"query": "x", "limit": 0}, "limit"),
        ({"query": "x", "limit": 101}, "limit"),
        ({"query": "x", "limit": "10"}, "limit"),
        ({"query": "x", "limit": True}, "limit"),
        ({"query": "x", "limit": 1.5}, "limit"),
        ({"query": "x", "min_relevance_score": 1.1}, "min_relevance_score"),
        ({"query": "x", "min_relevance_score": "much"}, "min_relevance_score"),
        ({"query": "x", "include_citations": "yes"}, "include_citations"),
        ({"query": "x", "expand_graph": 1}, "expand_graph"),
        ({"query": "x", "skip": ["words"]}, "skip.0"),
        ({"query": "x", "filters": []}, "filters"),
        ({"query": "x", "filters": {"type": {"$ne": 1}}}, "filters.type"),
        ({"query": "x", "filters": {"type": [["a"]]}}, "filters.type"),
        ({"query": "x", "filters": {"type": "y" * 501}}, "filters.type"),
        ({"query": "x", "filters": {"type": ["y"] * 101}}, "filters.type"),
        ({"query": "x", "filters": {"date_from": 5}}, "filters.date_from"),
        ({"query": "x", "filters": {"date_to": "soon"}}, "filters.date_to"),
        ({"query": "x", "filters": {str(number): 1 for number in range(21)}}, "filters"),
        ({"query": "x", "unknown": 1}, "unknown"),
    ],
    ids=lambda value: json.dumps(value)[:50] if isinstance(value, dict) else value,
)
def test_wrong_fields_are_named(service, body, field):
    answer = assert_refused(service.client.post("/search", json=body), 422)
    assert [fault["field"] for fault in answer["faults"]] == [field]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 422),
        (b"{", 422),
        (b"\xff\xfe", (400, 422)),
        (b"null", 422),
        (b'"query"', 422),
        (b'{"query": "\\ud800"}', 422),
        (b'{"query": "x", "filters": {"\\ud800": 1}}', 422),
        (b'{"query": "x", "min_relevance_score": NaN}', 422),
        (b'{"query": "x", "filters": {"a": 1e999}}', 422),
        (b"[" * 60_000, (400, 422)),
        (b'{"a":' * 10_000, (400, 422)),
    ],
)
def test_bad_json(service, body, status):
    reply = service.client.post("/search", content=body, headers={"content-type": "application/json"})
    assert reply.status_code in (status if isinstance(status, tuple) else (status,))
    assert_refused(reply, reply.status_code)


def test_what_is_not_json_is_refused(service):
    reply = service.client.post("/search", content=b"query=x", headers={"content-type": "text/plain"})
    assert_refused(reply, 422)


def test_a_body_that_is_too_large(service):
    assert_refused(service.client.post("/search", json={"query": "x" * 70_000}), 413)

    def unannounced():
        for _ in range(100):
            yield b"x" * 1000

    reply = service.client.post("/search", content=unannounced(), headers={"content-type": "application/json"})
    assert_refused(reply, 413)


@pytest.mark.parametrize(
    "path",
    ["/../kb.db", "/..%2f..%2fetc/passwd", "/page.js/../settings.py", "/%2e%2e/kb.db", "//etc/passwd", "/search/",
     "/docs", "/redoc", "/static/../app.py", "/page.css%00.py", "/health/", "/nothing"],
)  # fmt: skip
def test_paths_lead_nowhere(service, path):
    host, port = service.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), 10) as line:  # raw: a client library would tidy the path up
        line.sendall(f"GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n".encode())
        answer = b"".join(iter(lambda: line.recv(65536), b"")).decode()
    status = int(answer.split()[1])
    assert status in (404, 405, 307), answer
    assert not INTERNALS.search(answer.partition("\r\n\r\n")[2]), answer
    assert "root:" not in answer


def test_other_methods_are_refused(service):
    for method, path in (("GET", "/search"), ("DELETE", "/search"), ("POST", "/health"), ("PUT", "/")):
        reply = service.client.request(method, path)
        assert_refused(reply, 405)
        assert reply.headers["allow"]


def test_every_answer_has_the_headers(service):
    replies = [service.client.get("/"), service.client.get("/nothing"), service.search(QUESTION), service.search("")]
    for reply in replies:
        assert reply.headers["content-security-policy"].startswith("default-src 'none'; script-src 'self'")
        assert reply.headers["x-content-type-options"] == "nosniff"
        assert reply.headers["x-frame-options"] == "DENY"
        assert reply.headers["referrer-policy"] == "no-referrer"
        assert "server" not in reply.headers
    assert replies[2].headers["cache-control"] == "no-store"


def test_request_ids_are_taken_over_if_they_are_harmless(service):
    assert service.client.get("/health", headers={"x-request-id": "mine-7"}).headers["x-request-id"] == "mine-7"
    bad = service.client.get("/health", headers={"x-request-id": "a b<script>"}).headers["x-request-id"]
    assert re.fullmatch(r"[0-9a-f]{32}", bad)


def test_logs_are_json_and_hold_no_question(service):
    service.client.post("/search", json={"query": "a very private question"}, headers={"x-request-id": "logged-1"})
    entry = service.logged_request("logged-1")
    assert entry["level"] == "INFO"
    assert (entry["method"], entry["path"], entry["status"]) == ("POST", "/search", 200)
    assert entry["milliseconds"] > 0
    assert "private" not in service.log_text()


# A key


@pytest.fixture(scope="module")
def locked(run_service, tmp_path_factory):
    with run_service(tmp_path_factory.mktemp("locked"), SEARCH_API_KEY="open-sesame-42") as running:
        yield running


def test_without_the_key_there_is_no_answer(locked):
    assert_refused(locked.search(QUESTION), 401)
    for wrong in ("", "open-sesame", "OPEN-SESAME-42", "open-sesame-42x"):
        reply = locked.client.post("/search", json={"query": QUESTION}, headers={"x-api-key": wrong})
        assert_refused(reply, 401)
    assert_refused(locked.client.post("/search", content=b"{"), 401)
    assert_refused(locked.client.get("/anything-else"), 401)


def test_with_the_key_there_is(locked):
    reply = locked.client.post("/search", json={"query": QUESTION}, headers={"x-api-key": "open-sesame-42"})
    assert reply.status_code == 200
    assert reply.json()["total_results"] > 0


def test_page_health_and_description_need_no_key(locked):
    for path in ("/", "/page.css", "/page.js", "/icon.svg", "/health", "/health/live", "/openapi.json"):
        assert locked.client.get(path).status_code == 200, path
    assert "open-sesame" not in locked.log_text()


# Synthesis by an endpoint


class Endpoint(ThreadingHTTPServer):
    """An OpenAI-compatible endpoint with fixed replies."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.reply, self.status, self.asked = "", 200, []
        self.hangs = threading.Event()
        self.hangs.set()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.asked.append((self.path, self.headers.get("authorization"), asked))
        self.server.hangs.wait(20)
        answer = json.dumps({"choices": [{"message": {"role": "assistant", "content": self.server.reply}}]}).encode()
        self.send_response(self.server.status)
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def endpoint():
    server = Endpoint()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.hangs.set()
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def writing(run_service, tmp_path_factory, endpoint):
    settings = tmp_path_factory.mktemp("settings") / "settings.yaml"
    settings.write_text(f"synthesis: {{url: '{endpoint.url}', model: from-yaml, timeout_seconds: 1}}\nport: 1\n")
    variables = {"SEARCH_CONFIG": str(settings), "SEARCH_SYNTHESIS__API_KEY": "sk-secret", "NO_PROXY": "127.0.0.1"}
    with run_service(tmp_path_factory.mktemp("writing"), **variables) as running:
        yield running


def test_a_model_writes_the_summary(writing, endpoint):
    endpoint.reply, endpoint.status = "Ines Caldwell leads Doorstep [1].", 200
    answer = writing.search(QUESTION).json()
    assert answer["synthesis"] == "Ines Caldwell leads Doorstep [1]."
    assert answer["degraded"] == []
    path, authorization, asked = endpoint.asked[-1]
    assert path == "/v1/chat/completions"
    assert authorization == "Bearer sk-secret"
    assert (asked["model"], asked["temperature"], asked["max_tokens"]) == ("from-yaml", 0.3, 500)
    prompt = asked["messages"][-1]["content"]
    assert prompt.endswith(f"Question: {QUESTION}")
    assert all(f"[{number}] " in prompt for number in range(1, 6))
    assert "[6] " not in prompt
    assert writing.client.get("/health").json()["parts"]["synthesis"]["status"] == "ok"


@pytest.mark.parametrize("fault", ["status", "citation", "empty", "slow"])
def test_without_the_model_the_sources_speak_and_the_answer_says_so(writing, endpoint, fault):
    endpoint.reply = {"citation": "Somebody [9].", "empty": " "}.get(fault, "fine [1]")
    endpoint.status = 500 if fault == "status" else 200
    if fault == "slow":
        endpoint.hangs.clear()
    try:
        reply = writing.search(QUESTION)
    finally:
        endpoint.hangs.set()
    assert reply.status_code == 200
    answer = reply.json()
    assert answer["total_results"] > 0
    assert "Kestrel" in answer["synthesis"]
    assert len(answer["degraded"]) == 1
    assert "summary" in answer["degraded"][0]
    assert not INTERNALS.search(answer["degraded"][0])
    health = writing.client.get("/health").json()
    assert (health["status"], health["parts"]["synthesis"]["status"]) == ("degraded", "degraded")
    assert "sk-secret" not in writing.log_text() + reply.text


def test_nothing_found_is_not_sent_to_the_model(writing, endpoint):
    before = len(endpoint.asked)
    assert writing.search(QUESTION, filters={"type": "poem"}).json()["synthesis"] is None
    assert len(endpoint.asked) == before


# Other optional parts


def test_a_reranker_that_fails_is_said_and_survived(run_service, tmp_path):
    with run_service(tmp_path, SEARCH_RERANK='{"kind": "cross_encoder", "model": "no/such-model"}') as running:
        answer = running.search(QUESTION)
        assert answer.status_code == 200
        assert answer.json()["degraded"] == ["The reranker failed; the order is that of the search itself."]
        assert answer.json()["total_results"] > 0
        assert running.client.get("/health").json()["parts"]["reranker"]["status"] == "degraded"


def test_a_reranker_reorders(run_service, tmp_path, cross_encoder):
    rerank = json.dumps({"kind": "cross_encoder", "model": cross_encoder})
    with run_service(tmp_path, SEARCH_RERANK=rerank) as running:
        answer = running.search(QUESTION, limit=5, min_relevance_score=0).json()
        assert answer["degraded"] == []
        assert all(result["receipt"]["steps"][-1]["stage"] == "cross_encoder" for result in answer["results"])
        assert "rerank" in answer["timings"]
        plain = running.search(QUESTION, skip=["rerank"]).json()
        assert "cross_encoder" not in {
            step["stage"] for result in plain["results"] for step in result["receipt"]["steps"]
        }


def test_a_file_without_vectors_searches_by_words(run_service, tmp_path):
    index = [sys.executable, "-m", "hopweave", "index", str(EXAMPLE / "corpus.jsonl"), "--kb", str(tmp_path / "kb.db")]
    subprocess.run([*index, "--embedder", "none", "--quiet"], check=True)
    with run_service(tmp_path, SEARCH_CORPUS="null") as running:
        answer = running.search(QUESTION).json()
        assert (answer["method_used"], answer["degraded"]) == ("keyword", [])  # nothing has failed
        assert [one["source"] for one in running.logged() if one["event"] == "source is absent"] == ["vector"]
        assert answer["total_results"] > 0
        assert_refused(running.search(QUESTION, method="vector", expand_graph=False), 503)
        assert running.client.get("/health").json()["parts"]["vectors"]["status"] == "off"


def test_too_many_at_once_are_sent_away(run_service, tmp_path):
    with run_service(tmp_path, SEARCH_MAX_WAITING="1", SEARCH_THREADS="1") as running:
        with ThreadPoolExecutor(20) as clients:
            replies = list(clients.map(running.search, [f"{QUESTION} {number}" for number in range(60)]))
        assert {reply.status_code for reply in replies} <= {200, 503}
        busy = [reply for reply in replies if reply.status_code == 503]
        assert busy
        assert assert_refused(busy[0], 503)["message"].startswith("Too many searches")
        assert busy[0].headers["retry-after"] == "1"
        assert running.search(QUESTION).status_code == 200


def test_a_search_that_takes_too_long_is_given_up(run_service, tmp_path):
    with run_service(tmp_path, SEARCH_REQUEST_SECONDS="0.0005") as running:
        reply = running.search(QUESTION)
        # so short a limit may strike as early as when the body is read
        assert "too long" in assert_refused(reply, 408 if reply.status_code == 408 else 503)["message"]


# Life and death


def test_killed_and_restarted_nothing_is_lost(run_service, tmp_path):
    with run_service(tmp_path) as running:
        before = running.search(QUESTION).json()
        assert running.stop(signal.SIGKILL) == -signal.SIGKILL
    with run_service(tmp_path) as running:
        after = running.search(QUESTION).json()
        indexed = [entry for entry in running.logged() if entry["event"] == "indexed"]
    assert after["results"] == before["results"]
    assert after["synthesis"] == before["synthesis"]
    assert [(entry["added"], entry["unchanged"]) for entry in indexed] == [(94, 0), (0, 94)]


def test_killed_while_indexing_the_next_start_finishes(run_service, tmp_path):
    command = [sys.executable, "-m", "search_service", "index"]
    environment = {"SEARCH_KNOWLEDGE_BASE": str(tmp_path / "kb.db"), "PATH": "/usr/bin:/bin"}
    for seconds in (0.5, 1.0, 1.5, 2.0):
        process = subprocess.Popen(command, cwd=EXAMPLE, env=environment, stdout=subprocess.DEVNULL)
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    with run_service(tmp_path) as running:
        assert "94 documents" in running.client.get("/health").json()["parts"]["knowledge_base"]["detail"]
        assert running.search(QUESTION).json()["results"][0]["receipt"]["id"] == "teams/doorstep.md#1"


def test_sigterm_lets_a_running_request_end(run_service, tmp_path, endpoint):
    endpoint.reply, endpoint.status = "Done [1].", 200
    endpoint.hangs.clear()
    asked = len(endpoint.asked)
    with run_service(tmp_path, SEARCH_SYNTHESIS__URL=endpoint.url, NO_PROXY="127.0.0.1") as running:
        with ThreadPoolExecutor(1) as client:
            reply = client.submit(running.search, QUESTION)
            while len(endpoint.asked) == asked:
                threading.Event().wait(0.05)
            running.process.send_signal(signal.SIGTERM)
            threading.Event().wait(0.3)
            endpoint.hangs.set()
            assert reply.result(30).json()["synthesis"] == "Done [1]."
        assert running.process.wait(30) == 0
        assert any("complete" in entry["event"].lower() for entry in running.logged()[-4:])


def test_what_is_not_done_in_time_after_sigterm_gets_503(run_service, tmp_path, endpoint):
    endpoint.reply, endpoint.status = "Done [1].", 200
    endpoint.hangs.clear()
    asked = len(endpoint.asked)
    variables = {"SEARCH_SYNTHESIS__URL": endpoint.url, "SEARCH_SHUTDOWN_SECONDS": "1", "NO_PROXY": "127.0.0.1"}
    with run_service(tmp_path, **variables, SEARCH_SYNTHESIS__TIMEOUT_SECONDS="60") as running:
        with ThreadPoolExecutor(1) as client:
            reply = client.submit(running.search, QUESTION)
            while len(endpoint.asked) == asked:
                threading.Event().wait(0.05)
            running.process.send_signal(signal.SIGTERM)
            assert_refused(reply.result(60), 503)
        endpoint.hangs.set()
        assert running.process.wait(60) == 0


# The recipe


def test_the_recipe_finds_more_than_any_of_its_sources():
    with KnowledgeBase.open() as kb:
        kb.add(read_documents(EXAMPLE / "corpus.jsonl"))
        judged = read_queries(EXAMPLE / "queries.jsonl")
        report = evaluate(kb, ["service"], judged, measures=["recall@5"], sources=True)
    own, *alone = (one.mean("recall@5") for one in report.evaluations)
    assert len(alone) == 4  # the graph by itself, and led by words and vectors, which is a recipe of its own
    assert own > max(alone[:3]), (own, alone)


def test_corpus_and_questions_are_well_formed():
    documents = [json.loads(line) for line in (EXAMPLE / "corpus.jsonl").open(encoding="utf-8")]
    ids = {one["id"] for one in documents}
    assert len(ids) == len({one["title"] for one in documents}) == len(documents) == 94
    for one in documents:
        assert one["id"].startswith(one["source"] + "#")
        assert set(one["links"]) <= ids - {one["id"]}
        assert 30 <= len(one["text"].split()) <= 120
    questions = [json.loads(line) for line in (EXAMPLE / "queries.jsonl").open(encoding="utf-8")]
    assert len(questions) == 28
    assert all(set(one["gold"]) <= ids and one["hops"] == len(one["gold"]) for one in questions)


# Settings


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("SEARCH_PORT", "many", "port"),
        ("SEARCH_RERANK", '{"kind": "no_such"}', "rerank"),
        ("SEARCH_API_KEY", "", "api_key"),
        ("SEARCH_SYNTHESIS__URL", "ftp://x", "synthesis.url"),
        ("SEARCH_MCP__KNOWLEDGE_BASE", "other", "'other' is not one of default"),
        ("SEARCH_CONFIG", "no/such.yaml", "no/such.yaml"),
    ],
)
def test_bad_settings_are_named_at_the_start(tmp_path, name, value, message):
    environment = {"SEARCH_KNOWLEDGE_BASE": str(tmp_path / "kb.db"), "PATH": "/usr/bin:/bin", name: value}
    done = subprocess.run(
        [sys.executable, "-m", "search_service", "index"],
        cwd=EXAMPLE, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.startswith("search_service: ")
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_the_example_settings_are_valid():
    program = "from search_service.settings import Settings; print(Settings().port)"
    environment = {"SEARCH_CONFIG": "settings.example.yaml", "PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=EXAMPLE, env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "8006"
