"""Summaries of the search service as server-sent events, with a streaming OpenAI-compatible endpoint on loopback."""

import json
import threading
from contextlib import contextmanager, suppress

import pytest

QUESTION = "Who leads the team that owns Kestrel?"


def said(text, reason=None):
    return b"data: %s\n\n" % json.dumps({"choices": [{"delta": {"content": text}, "finish_reason": reason}]}).encode()


DONE = b"data: [DONE]\n\n"


@pytest.fixture
def endpoint(streaming_endpoint):
    return streaming_endpoint


@pytest.fixture(scope="module")
def writing(run_service, tmp_path_factory, streaming_endpoint):
    variables = {"SEARCH_SYNTHESIS__URL": streaming_endpoint.url, "SEARCH_SYNTHESIS__TIMEOUT_SECONDS": "3"}
    with run_service(tmp_path_factory.mktemp("writing"), **variables, NO_PROXY="127.0.0.1") as running:
        yield running


@contextmanager
def streamed(service, query=QUESTION, **fields):
    """The events of an answer, one by one."""
    with service.client.stream("POST", "/search/stream", json={"query": query, **fields}) as reply:
        assert reply.headers["content-type"] == "text/event-stream; charset=utf-8"
        assert reply.headers["cache-control"] == "no-store"
        yield parsed(reply.iter_lines())


def parsed(lines):
    name = None
    for line in lines:
        field, _, value = line.partition(": ")
        if field == "event":
            name = value
        elif field == "data":
            yield name, json.loads(value)


def all_events(service, **fields):
    with streamed(service, **fields) as events:
        return list(events)


def text_of(events):
    return "".join(data["text"] for name, data in events if name == "text")


def test_results_come_first_then_the_sources_own_sentences_with_valid_citations(service):
    events = all_events(service)
    names = [name for name, _ in events]
    assert names[0] == "results"
    assert names[1:-2] == ["text"] * len(names[1:-2])
    assert names[-2:] == ["citations", "done"]
    plain = service.search(QUESTION).json()
    assert events[0][1]["results"] == plain["results"]
    assert events[0][1]["synthesis"] is None
    assert text_of(events) == plain["synthesis"]
    checked = dict(events)["citations"]
    assert checked["invalid"] == []
    ids = [result["receipt"]["id"] for result in plain["results"]]
    assert checked["valid"]
    assert all(ids[one["number"] - 1] == one["id"] for one in checked["valid"])
    assert events[-1][1]["timings"]["total"] > 0
    assert events[-1][1]["degraded"] == []


def test_nothing_found_has_no_summary(service):
    events = all_events(service, filters={"type": "poem"})
    assert [name for name, _ in events] == ["results", "done"]
    assert events[0][1]["results"] == []


def test_what_is_wrong_with_the_request_is_refused_before_the_stream(service):
    reply = service.client.post("/search/stream", json={"query": ""})
    assert reply.status_code == 422
    assert [fault["field"] for fault in reply.json()["faults"]] == ["query"]


def test_the_text_arrives_while_it_is_written_and_citations_are_checked_at_the_end(writing, endpoint):
    read = threading.Event()

    def play():
        yield said("Ines Caldwell ")
        assert read.wait(20)  # the rest is written when the first piece has been read
        yield said("leads it [1]") + b": a comment\n\n" + said(", they say [9].", "stop")
        yield b'data: {"choices": [], "usage": {}}\n\n' + DONE

    endpoint.play = play
    with streamed(writing) as events:
        assert next(events)[0] == "results"
        assert next(events) == ("text", {"text": "Ines Caldwell "})
        read.set()
        rest = list(events)
    assert text_of(rest) == "leads it [1], they say [9]."
    checked = dict(rest)["citations"]
    assert [one["number"] for one in checked["valid"]] == [1]
    assert checked["invalid"] == [9]
    assert rest[-1] == ("done", {"timings": rest[-1][1]["timings"], "degraded": []})
    assert endpoint.asked[-1]["stream"] is True
    assert endpoint.asked[-1]["messages"][-1]["content"].endswith(f"Question: {QUESTION}")


def hang():
    yield said("I ")
    threading.Event().wait(6)


FAULTS = {
    "cut short": lambda: [said("It is ")],
    "an error in the middle": lambda: [said("It is "), b'data: {"error": {"message": "secret"}}\n\n'],
    "empty": lambda: [said(" "), DONE],
    "too large": lambda: (said("x" * 10_000) for _ in range(200)),
    "not JSON": lambda: [b"data: {\n\n"],
    "too slow": hang,
}


@pytest.mark.parametrize("fault", FAULTS)
def test_an_error_is_an_event_and_the_sources_speak_instead(writing, endpoint, fault):
    endpoint.play = FAULTS[fault]
    events = all_events(writing)
    names = [name for name, _ in events]
    message = dict(events)["error"]["message"]
    assert "could not be written" in message
    assert "secret" not in json.dumps(events)
    after = events[names.index("error") :]
    assert "Kestrel" in text_of(after)
    assert dict(after)["citations"]["invalid"] == []
    assert after[-1][1]["degraded"] == [message]
    assert writing.client.get("/health").json()["parts"]["synthesis"]["status"] == "degraded"


def test_an_endpoint_that_refuses_or_does_not_stream(writing, endpoint):
    endpoint.play, endpoint.status = list, 500
    assert "error" in dict(all_events(writing))
    endpoint.status, endpoint.kind = 200, "application/json"
    endpoint.play = lambda: [json.dumps({"choices": [{"message": {"content": "All at once [2]."}}]}).encode()]
    try:
        events = all_events(writing)
    finally:
        endpoint.kind = "text/event-stream"
    assert text_of(events) == "All at once [2]."
    assert [one["number"] for one in dict(events)["citations"]["valid"]] == [2]
    assert writing.client.get("/health").json()["parts"]["synthesis"]["status"] == "ok"


def test_a_caller_who_goes_away_ends_the_writing(run_service, tmp_path, endpoint):
    def play():
        while True:
            yield said("on and on ")
            threading.Event().wait(0.02)

    endpoint.play = play
    endpoint.lost.clear()
    variables = {"SEARCH_SYNTHESIS__URL": endpoint.url, "SEARCH_SYNTHESIS__TIMEOUT_SECONDS": "600"}
    with run_service(tmp_path, **variables, NO_PROXY="127.0.0.1") as running:
        with suppress(StopIteration), streamed(running) as events:
            assert next(events)[0] == "results"
            assert next(events)[0] == "text"
        assert endpoint.lost.wait(30)  # the endpoint cannot send any more
        assert running.client.get("/health").json()["status"] == "healthy"
    assert [entry["status"] for entry in running.logged() if entry.get("path") == "/search/stream"] == [499]
