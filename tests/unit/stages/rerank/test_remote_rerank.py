import asyncio
import copy
import json
import logging
import pickle
import socket
import threading
import time
from dataclasses import replace

import numpy as np
import pytest
import yaml
from pydantic import SecretStr, ValidationError

from hopweave import remote as rerank_call
from hopweave.errors import InvalidScore, explain
from hopweave.hit import Hit
from hopweave.query import Query
from hopweave.stages.rerank import providers
from hopweave.stages.rerank.remote_rerank import RemoteRerank
from hopweave.stages.similarity.vector_finder import VectorFinder

PROVIDER = providers.PROVIDERS["jina"]
KEY = "sk-loopback-4f9a2c77e1"
PROVIDERS = ["jina", "siliconflow", "pinecone", "generic"]
EAST = np.array([1.0, 0.0], np.float32)
NORTH = np.array([0.0, 1.0], np.float32)
QUERY = Query("which ferry sails in winter?")


@pytest.fixture
def hits(rerank_server):
    rerank_server.scores = {"alpha": 0.1, "beta": 0.9, "gamma": 0.5}
    return [Hit("a", 0.8, "alpha"), Hit("b", 0.4, "beta"), Hit("c", 0.2, "gamma")]


@pytest.fixture
def stage(rerank_server):
    def make(provider="jina", **parameters):
        return RemoteRerank(provider=provider, url=rerank_server.url(provider), **{"api_key": KEY, **parameters})

    return make


def run_sync(stage, *arguments):
    return stage.apply(*arguments)


def run_async(stage, *arguments):
    return asyncio.run(stage.apply_async(*arguments))


both_ways = pytest.mark.parametrize("run", [run_sync, run_async])


def in_time(call, server, script, deadline):
    """What a call gives that must end within half a second of its deadline.

    A busy machine may be late once; a deadline that does not hold is late every time.
    """
    for _ in range(3):
        server.script = list(script)
        begun = time.monotonic()
        kept = call()
        seconds = time.monotonic() - begun
        if seconds <= deadline + 0.5:
            break
    assert deadline - 0.1 <= seconds <= deadline + 0.5
    return kept


def details(hits):
    return {hit.id: dict(hit.receipts[-1].details) for hit in hits}


def scores(hits):
    return [(hit.id, pytest.approx(hit.score)) for hit in hits]


class Library(VectorFinder):
    """As much of a knowledge base as the fallback asks for."""

    def __init__(self, stored, question=None):
        super().__init__(lambda ids: {key: stored[key] for key in ids if key in stored}, lexical=False)
        self.question = question

    def embed(self, text):
        return super().embed(text) if self.question is None else ("toy", self.question)


@both_ways
@pytest.mark.parametrize("provider", PROVIDERS)
def test_success(provider, run, stage, hits, rerank_server):
    reranked = run(stage(provider), hits, QUERY)
    # a 0.6*0.1 + 0.4*0.8 = 0.38, b 0.6*0.9 + 0.4*0.4 = 0.70, c 0.6*0.5 + 0.4*0.2 = 0.38
    assert scores(reranked) == [("b", 0.70), ("a", 0.38), ("c", 0.38)]
    assert {hit.scale for hit in reranked} == {"unit"}
    receipt = details(reranked)["b"]
    assert (receipt["outcome"], receipt["provider"], receipt["attempts"]) == ("reranked", provider, 1)
    assert (receipt["reranked"], receipt["original"]) == (0.9, 0.4)
    assert reranked[0].receipts[-1].before == 0.4
    (_, headers, body), *others = rerank_server.requests
    assert not others
    assert body["query"] == QUERY.text
    assert body["top_n"] == 3
    assert headers["Content-Type"] == "application/json"


def test_pinecone_names_its_version(stage, hits, rerank_server):
    stage("pinecone").apply(hits, QUERY)
    assert rerank_server.requests[0][1]["X-Pinecone-Api-Version"] == "2025-10"


def test_models(stage, hits, rerank_server):
    stage("siliconflow").apply(hits, QUERY)
    stage("siliconflow", model="mine").apply(hits, QUERY)
    stage("generic").apply(hits, QUERY)
    assert [body.get("model") for _, _, body in rerank_server.requests] == ["BAAI/bge-reranker-v2-m3", "mine", None]


def test_further_parameters_are_sent(stage, hits, rerank_server):
    stage(parameters={"truncation": True}).apply(hits, QUERY)
    assert rerank_server.requests[0][2]["truncation"] is True


def test_the_title_is_sent_unless_it_should_not(stage, rerank_server):
    rerank_server.scores = {"Skua\nsails": 0.5, "sails": 0.5}
    hit = Hit("a", 0.5, "sails", {"title": "Skua"})
    stage().apply([hit], QUERY)
    stage(include_title=False).apply([hit], QUERY)
    assert [body["documents"] for _, _, body in rerank_server.requests] == [["Skua\nsails"], ["sails"]]


@both_ways
@pytest.mark.parametrize("provider", PROVIDERS)
def test_fewer_results_than_asked(provider, run, stage, hits, rerank_server):
    rerank_server.script = [
        lambda reply: {key: value[:1] if isinstance(value, list) else value for key, value in reply.items()}
    ]
    reranked = run(stage(provider), hits, QUERY)
    # b 0.70 as above; the others 0.8*0.8 = 0.64 and 0.8*0.2 = 0.16
    assert scores(reranked) == [("b", 0.70), ("a", 0.64), ("c", 0.16)]
    assert {key: receipt["outcome"] for key, receipt in details(reranked).items()} == {
        "a": "unreturned",
        "b": "reranked",
        "c": "unreturned",
    }


def test_hits_beyond_the_candidates_and_without_text_are_not_sent(stage, hits, rerank_server):
    reranked = stage(candidates=2).apply([Hit("blank", 0.9, "  "), *hits], QUERY)
    assert rerank_server.requests[0][2]["documents"] == ["alpha", "beta"]
    receipt = details(reranked)
    assert receipt["blank"]["outcome"] == receipt["c"]["outcome"] == "not_sent"
    # blank 0.8*0.9 = 0.72, c 0.8*0.2 = 0.16
    assert scores(reranked) == [("blank", 0.72), ("b", 0.70), ("a", 0.38), ("c", 0.16)]


@both_ways
@pytest.mark.parametrize("provider", PROVIDERS)
def test_429_then_success(provider, run, stage, hits, rerank_server):
    rerank_server.script = [429]
    reranked = run(stage(provider), hits, QUERY)
    assert scores(reranked)[0] == ("b", 0.70)
    assert {receipt["attempts"] for receipt in details(reranked).values()} == {2}


@both_ways
def test_retry_after_is_honoured_within_the_deadline(run, stage, hits, rerank_server):
    rerank_server.script = [(429, {"Retry-After": "1"})]
    begun = time.monotonic()
    reranked = run(stage(), hits, QUERY)
    assert 1.0 <= time.monotonic() - begun < 5.0
    assert details(reranked)["a"]["outcome"] == "reranked"


def test_retry_after_as_a_date_in_the_past_means_now(stage, hits, rerank_server):
    rerank_server.script = [(503, {"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"})]
    assert details(stage().apply(hits, QUERY))["a"]["attempts"] == 2


@pytest.mark.parametrize("asked", ["soon", "Wed, 99 Oct"])
def test_an_unreadable_retry_after_is_ignored(asked, stage, hits, rerank_server):
    rerank_server.script = [(503, {"Retry-After": asked})]
    assert details(stage().apply(hits, QUERY))["a"]["outcome"] == "reranked"


def test_retry_after_beyond_the_deadline_gives_up_at_once(stage, hits, rerank_server):
    rerank_server.script = [(429, {"Retry-After": "60"})]
    begun = time.monotonic()
    kept = stage().apply(hits, QUERY)
    assert time.monotonic() - begun < 2.5
    assert details(kept)["a"]["reason"] == "HTTP 429, and no time left to try again"


@both_ways
@pytest.mark.parametrize("provider", PROVIDERS)
def test_500s(provider, run, stage, hits, rerank_server):
    rerank_server.script = [500, 502, 503, 500]
    kept = run(stage(provider), hits, QUERY)
    assert len(rerank_server.requests) == 3  # the first and two retries
    assert [(hit.id, hit.score) for hit in kept] == [("a", 0.8), ("b", 0.4), ("c", 0.2)]
    for receipt in details(kept).values():
        assert receipt == {"outcome": "original_order", "provider": provider, "reason": "HTTP 503", "attempts": 3}


def test_no_retries(stage, hits, rerank_server):
    rerank_server.script = [500]
    assert details(stage(max_retries=0).apply(hits, QUERY))["a"]["attempts"] == 1


def test_a_client_error_is_not_retried(stage, hits, rerank_server):
    rerank_server.script = [404]
    assert details(stage().apply(hits, QUERY))["a"] == {
        "outcome": "original_order",
        "provider": "jina",
        "reason": "HTTP 404",
        "attempts": 1,
    }


def test_a_redirect_is_not_followed(stage, hits, rerank_server):
    rerank_server.script = [(307, {"Location": "http://127.0.0.1:9/elsewhere"})]
    assert details(stage().apply(hits, QUERY))["a"]["reason"] == "HTTP 307"


@both_ways
@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"<html>oops", "the reply is not JSON"),
        (b"", "the reply is not JSON"),
        (b"\xff\xfe\x00", "the reply is not JSON"),
        (b"[" * 200_000, "the reply is not JSON"),
        (b"null", "the reply has no list results"),
        (b'{"results": "many"}', "the reply has no list results"),
        (b'{"results": []}', "the reply has no usable entry among 0"),
        (b'{"results": [{"index": 0, "relevance_score": NaN}]}', "the reply has no usable entry among 1"),
    ],
)
def test_garbage(raw, reason, run, stage, hits, rerank_server):
    rerank_server.script = [raw]
    kept = run(stage(), hits, QUERY)
    assert [(hit.id, hit.score) for hit in kept] == [("a", 0.8), ("b", 0.4), ("c", 0.2)]
    assert {receipt["reason"] for receipt in details(kept).values()} == {reason}


@both_ways
def test_wrong_indices(run, stage, hits, rerank_server):
    wrong = [(1, 0.9), (1, 0.2), (3, 0.9), (-1, 0.9), ("0", 0.9), (0.0, 0.9)]
    rerank_server.script = [lambda _: {"results": [{"index": i, "relevance_score": s} for i, s in wrong]}]
    reranked = run(stage(), hits, QUERY)
    assert scores(reranked) == [("b", 0.70), ("a", 0.64), ("c", 0.16)]
    assert {receipt["ignored_entries"] for receipt in details(reranked).values()} == {5}


@both_ways
@pytest.mark.parametrize("provider", PROVIDERS)
def test_hang(provider, run, stage, hits, rerank_server):
    kept = in_time(lambda: run(stage(provider, deadline_seconds=0.3), hits, QUERY), rerank_server, ["hang"], 0.3)
    assert {receipt["reason"] for receipt in details(kept).values()} == {"no answer within 0.3 s"}
    assert [hit.id for hit in kept] == ["a", "b", "c"]
    assert rerank_server.disconnected.wait(1)


def test_hang_with_the_default_deadline(stage, hits, rerank_server):
    rerank_server.script = ["hang", "hang"]

    async def timed(call):
        begun = time.monotonic()
        return await call, time.monotonic() - begun

    async def together():
        blocking = asyncio.to_thread(stage().apply, hits, QUERY)
        return await asyncio.gather(timed(blocking), timed(stage().apply_async(hits, QUERY)))

    for kept, seconds in asyncio.run(together()):
        assert 4.9 <= seconds <= 7.0
        assert details(kept)["a"]["reason"] == "no answer within 5 s"


@both_ways
def test_the_deadline_covers_retries(run, stage, hits, rerank_server):
    kept = in_time(lambda: run(stage(deadline_seconds=0.3), hits, QUERY), rerank_server, [500, "hang"], 0.3)
    assert details(kept)["a"]["reason"] == "no answer within 0.3 s; before that: HTTP 500"


@both_ways
def test_a_trickle_does_not_stretch_the_deadline(run, stage, hits, rerank_server):
    kept = in_time(lambda: run(stage(deadline_seconds=0.3), hits, QUERY), rerank_server, ["trickle"], 0.3)
    assert details(kept)["a"]["reason"] == "no answer within 0.3 s"


@both_ways
def test_connection_refused(run, hits):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound but not listening
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/rerank"
        kept = run(RemoteRerank(url=url, api_key=KEY), hits, QUERY)
    assert [(hit.id, hit.score) for hit in kept] == [("a", 0.8), ("b", 0.4), ("c", 0.2)]
    assert details(kept)["a"]["reason"] == "connection failed (ConnectError)"
    assert details(kept)["a"]["attempts"] == 3


def test_a_dropped_connection_is_tried_again(stage, hits, rerank_server):
    rerank_server.script = ["drop"]
    reranked = stage().apply(hits, QUERY)
    assert details(reranked)["a"]["outcome"] == "reranked"
    assert details(reranked)["a"]["attempts"] == 2


def test_a_cancelled_call_ends_its_request(stage, hits, rerank_server):
    rerank_server.script = ["hang"]

    async def cancel():
        call = asyncio.create_task(stage(deadline_seconds=30).apply_async(hits, QUERY))
        while not rerank_server.requests:
            await asyncio.sleep(0.01)
        begun = time.monotonic()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        return time.monotonic() - begun

    assert asyncio.run(cancel()) < 10
    assert rerank_server.disconnected.wait(2)
    (loop,) = rerank_call._loops.values()

    async def others():
        return [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]

    assert asyncio.run_coroutine_threadsafe(others(), loop).result(2) == []
    # and the next call is none the worse for it
    assert details(stage().apply(hits, QUERY))["a"]["outcome"] == "reranked"


def test_connections_are_reused(stage, hits, rerank_server):
    for _ in range(3):
        stage().apply(hits, QUERY)
        asyncio.run(stage("pinecone").apply_async(hits, QUERY))
    assert len(rerank_server.requests) == 6
    assert rerank_server.connections == 1


def test_many_threads_at_once(stage, hits, rerank_server):
    answers = []
    threads = [threading.Thread(target=lambda: answers.append(scores(stage().apply(hits, QUERY)))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [[("b", 0.70), ("a", 0.38), ("c", 0.38)]] * 8


def test_a_sync_call_inside_an_event_loop(stage, hits):
    async def inside():
        return stage().apply(hits, QUERY)

    assert details(asyncio.run(inside()))["a"]["outcome"] == "reranked"


@both_ways
def test_cosine_fallback(run, stage, rerank_server):
    rerank_server.scores = {"x": 1, "y": 1, "z": 1}
    rerank_server.script = [500] * 3
    hits = [Hit("a", 0.5, "x", vector=NORTH), Hit("b", 0.4, "y", vector=EAST), Hit("c", 0.3, "z")]
    kept = run(stage(), hits, Query("q", vector=3 * EAST))
    # a 0.7*0.5 + 0.3*0 = 0.35, b 0.7*0.4 + 0.3*1 = 0.58, c has no vector: 0.3
    assert scores(kept) == [("b", 0.58), ("a", 0.35), ("c", 0.3)]
    receipt = details(kept)
    assert receipt["b"] == {
        "outcome": "cosine",
        "cosine": 1.0,
        "original": 0.4,
        "provider": "jina",
        "reason": "HTTP 500",
        "attempts": 3,
    }
    assert receipt["c"]["cosine"] is None


def test_cosine_fallback_asks_the_knowledge_base(stage, rerank_server):
    rerank_server.scores = {"x": 1, "y": 1}
    rerank_server.script = [404]
    hits = [Hit("a", 0.5, "x"), Hit("b", 0.4, "y")]
    kept = stage().apply(hits, QUERY, Library({"a": NORTH, "b": EAST}, question=EAST))
    assert scores(kept) == [("b", 0.58), ("a", 0.35)]


@pytest.mark.parametrize(
    ("query", "library"),
    [
        (QUERY, Library({"a": NORTH}, question=None)),  # nobody can embed the question
        (QUERY, Library({}, question=EAST)),  # no hit has a vector
        (Query("q", vector=np.zeros(2, np.float32)), Library({"a": NORTH})),  # a question without direction
        (Query("q", vector=np.ones(3, np.float32)), Library({"a": NORTH})),  # vectors of another model
    ],
)
def test_no_cosine_without_vectors(query, library, stage, hits, rerank_server):
    rerank_server.script = [404]
    kept = stage().apply(hits, query, library)
    assert [(hit.id, hit.score) for hit in kept] == [("a", 0.8), ("b", 0.4), ("c", 0.2)]
    assert details(kept)["a"]["outcome"] == "original_order"


def test_a_negative_cosine_lowers_but_not_below_zero(stage, rerank_server):
    rerank_server.scores = {"x": 1}
    rerank_server.script = [404]
    (kept,) = stage().apply([Hit("a", 0.1, "x", vector=-EAST)], Query("q", vector=EAST))
    assert kept.score == 0.0  # 0.7*0.1 - 0.3*1 < 0


def test_unscored_hits_take_what_there_is(stage, rerank_server):
    rerank_server.scores = {"x": 0.25, "y": 0.75}
    rerank_server.script = [lambda reply: {"results": reply["results"][:1]}]
    reranked = stage().apply([Hit("a", None, "x"), Hit("b", None, "y")], QUERY)
    assert [(hit.id, hit.score) for hit in reranked] == [("b", 0.75), ("a", None)]
    rerank_server.script = [404]
    kept = stage().apply([Hit("a", None, "x", vector=EAST), Hit("b", None, "y")], Query("q", vector=EAST))
    assert [(hit.id, hit.score) for hit in kept] == [("a", 1.0), ("b", None)]


def test_originals_are_brought_to_one_scale(stage, rerank_server):
    rerank_server.scores = {"x": 0.5, "y": 0.5}
    logits = stage().apply([Hit("a", 0.0, "x", scale="logit")], QUERY)
    assert scores(logits) == [("a", 0.6 * 0.5 + 0.4 * 0.5)]  # sigmoid(0) = 0.5
    bm25 = stage().apply([Hit("a", 8.0, "x", scale="positive"), Hit("b", 2.0, "y", scale="positive")], QUERY)
    assert scores(bm25) == [("a", 0.3 + 0.4 * 1.0), ("b", 0.3 + 0.4 * 0.25)]


def test_empty_in_empty_out(stage, rerank_server):
    assert stage().apply([], QUERY) == []
    assert asyncio.run(stage().apply_async([], QUERY)) == []
    assert rerank_server.requests == []


def test_nothing_to_send(stage, hits, rerank_server):
    for kept in (stage().apply([Hit("a", 0.5)], QUERY), stage().apply(hits, Query(" "))):
        assert details(kept)["a"]["reason"].startswith("nothing to send")
    assert rerank_server.requests == []


def test_duplicates_are_sent_once(stage, hits, rerank_server):
    assert [hit.id for hit in stage().apply([*hits, hits[0]], QUERY)] == ["b", "a", "c"]
    assert rerank_server.requests[0][2]["documents"] == ["alpha", "beta", "gamma"]


def test_a_score_that_is_no_number_is_an_error(stage):
    with pytest.raises(InvalidScore, match="'a'"):
        stage().apply([Hit("a", float("nan"), "x")], QUERY)


def test_nothing_is_mutated(stage, hits):
    before = copy.deepcopy(hits)
    stage().apply(hits, QUERY)
    assert hits == before


@pytest.fixture
def jina(rerank_server, monkeypatch):
    """The service of the provider itself, at its usual address."""
    monkeypatch.setitem(providers.PROVIDERS, "jina", replace(PROVIDER, url=rerank_server.url("jina")))


@pytest.mark.usefixtures("jina")
def test_the_key_from_the_environment(stage, hits, monkeypatch):
    monkeypatch.setenv("JINA_API_KEY", KEY + "\n")  # as `export KEY=$(cat file)` in some shells leaves it
    assert details(RemoteRerank().apply(hits, QUERY))["a"]["outcome"] == "reranked"
    monkeypatch.setenv("MY_KEY", KEY)
    assert details(stage(api_key=None, api_key_env="MY_KEY").apply(hits, QUERY))["a"]["outcome"] == "reranked"


def test_a_service_of_ones_own_is_not_sent_the_key_of_the_provider(stage, hits, monkeypatch, rerank_server, caplog):
    monkeypatch.setenv("JINA_API_KEY", KEY)
    kept = stage(api_key=None).apply(hits, QUERY)
    assert details(kept)["a"]["reason"].startswith("HTTP 4")
    assert [headers.get("Authorization") for _, headers, _ in rerank_server.requests] == [None]
    assert "rerank by 127.0.0.1 failed" in caplog.text
    assert "jina" not in caplog.text


@pytest.mark.usefixtures("jina")
def test_no_key(stage, hits, monkeypatch, rerank_server):
    monkeypatch.delenv("JINA_API_KEY", raising=False)
    kept = RemoteRerank().apply(hits, QUERY)
    assert details(kept)["a"]["reason"] == "no key: the environment variable JINA_API_KEY is not set"
    kept = stage(api_key=None, api_key_env="ABSENT").apply(hits, QUERY)
    assert details(kept)["a"]["reason"] == "no key: the environment variable ABSENT is not set"
    assert rerank_server.requests == []


def test_a_generic_service_needs_no_key(stage, hits, rerank_server):
    rerank_server.key = None
    reranked = stage("generic", api_key=None).apply(hits, QUERY)
    assert details(reranked)["a"]["outcome"] == "reranked"
    assert "Authorization" not in rerank_server.requests[0][1]


def test_the_key_never_shows(stage, hits, rerank_server, caplog):
    caplog.set_level(logging.DEBUG)
    seen = []
    # servers that repeat the key in their errors, a key that fits no header, a wrong key, success
    broken = KEY + "\x00é\n" + KEY
    for key, script in [(KEY, [500, 502, 503]), (KEY, [404]), (broken, []), (KEY + "x", []), (KEY, [])]:
        rerank_server.script = script
        made = stage(api_key=key)
        for answered in (made.apply(hits, QUERY), asyncio.run(made.apply_async(hits, QUERY))):
            seen += [repr(answered), json.dumps([hit.as_dict() for hit in answered])]
        seen += [repr(made), str(made), json.dumps(made.model_dump()), made.model_dump_json()]
        seen += [yaml.safe_dump(made.model_dump(mode="json")), str(made.model_dump(exclude_defaults=True))]
        seen += [json.dumps(type(made).model_json_schema()), repr(made._prepare(hits, QUERY))]
        assert details(answered)["a"]["outcome"] == ("reranked" if key == KEY and not script else "original_order")
    for wrong in [
        {"api_key": KEY, "blend": 7},
        {"api_key": KEY, "provider": "generic"},
        {"api_key": KEY, "url": "ftp://x"},
        {"api_key": {"value": KEY}, "max_retries": -1},
        {"api_key": KEY.encode(), "max_retries": -1},
        {"apikey": KEY},
        {"api_key": KEY, "url": f"https://me:{KEY}@host/rerank"},
    ]:
        with pytest.raises(ValidationError) as fault:
            RemoteRerank(**wrong)
        seen.append(str(fault.value))
        if "@" not in str(wrong):  # there the address itself is what is wrong
            seen.append(explain(fault.value))
    seen += [record.getMessage() + str(record.args) + str(record.exc_info) for record in caplog.records]
    assert any("falling back" in text for text in seen)
    assert not [text for text in seen if KEY in text]


def test_a_copy_and_a_pickle_still_work(stage, hits):
    made = stage()
    for other in (copy.deepcopy(made), pickle.loads(pickle.dumps(made)), made.model_copy()):
        assert other == made
        assert details(other.apply(hits, QUERY))["a"]["outcome"] == "reranked"


def test_what_is_written_can_be_read(stage):
    made = stage("generic", blend=0.0, api_key=None, api_key_env="MY_KEY", parameters={"truncate": False})
    assert RemoteRerank.model_validate(yaml.safe_load(yaml.safe_dump(made.model_dump(mode="json")))) == made
    assert RemoteRerank(api_key="k").api_key == SecretStr("k")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"provider": "generic"}, "needs the URL"),
        ({"url": "api.jina.ai/v1/rerank"}, "starts with http"),
        ({"url": "https://"}, "starts with http"),
        ({"url": "https://a:b@host/"}, "user name or password"),
        ({"url": "https://host/v1?key=sk-1"}, "must not contain a key, as its parameter 'key' does"),
        ({"url": "https://host/v1?v=2&api_token=sk-1"}, "must not contain a key, as its parameter 'api_token' does"),
        ({"deadline_seconds": 0}, "greater than 0"),
        ({"blend": 1.1}, "less than or equal to 1"),
        ({"provider": "tei"}, "needs the URL"),
        ({"provider": "coherent"}, "allowed are cohere, generic, jina, pinecone, siliconflow, tei, vllm, voyage"),
    ],
)
def test_bad_parameters(wrong, message):
    with pytest.raises(ValidationError, match=message):
        RemoteRerank(**wrong)


def test_falsy_overrides_count(stage, hits):
    assert scores(stage(blend=0.0).apply(hits, QUERY)) == [("a", 0.8), ("b", 0.4), ("c", 0.2)]
    assert scores(stage(blend=1.0).apply(hits, QUERY)) == [("b", 0.9), ("c", 0.5), ("a", 0.1)]
