"""Feedback of the search service becomes judged queries that hopweave evaluates and tunes with."""

import json
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from hopweave.evaluate.queries import read_queries

EXAMPLE = Path(__file__).parents[2] / "examples" / "search_service"
QUESTION = "Who leads the team that owns Kestrel?"
KEYS = [
    {"name": "ann", "key": "a-key"},
    {"name": "bob", "key": "b-key"},
    {"name": "cid", "key": "c-key"},
    {"name": "team", "key": "t-key", "tenant": {"type": "team"}},
]


@pytest.fixture(scope="module")
def judged_service(run_service, tmp_path_factory):
    folder = tmp_path_factory.mktemp("feedback")
    variables = {"SEARCH_STATE": str(folder / "state"), "SEARCH_KEYS": json.dumps(KEYS), "SEARCH_WORKERS": "2"}
    with run_service(folder, **variables) as service:
        yield service


@pytest.fixture
def running(judged_service):
    """Without judgements."""
    yield judged_service
    with closing(sqlite3.connect(judged_service.folder / "state" / "feedback.db")) as connection, connection:
        connection.execute("DELETE FROM judgements")


def judge(service, document, relevant, *, query=QUESTION, key="a-key", **fields):
    body = {"query": query, "id": document, "relevant": relevant, **fields}
    return service.client.post("/feedback", json=body, headers={"x-api-key": key}).status_code


def stored(service):
    text = (service.folder / "state" / "feedback-default.jsonl").read_text(encoding="utf-8")
    return {one["question"]: one for one in map(json.loads, text.splitlines())}


def hopweave(*arguments):
    command = [sys.executable, "-m", "hopweave", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_judgements_become_queries_for_evaluate_and_tune(running):
    judged = [
        ("teams/doorstep.md#1", True, QUESTION),
        ("people/ines-caldwell.md#1", True, QUESTION),
        ("services/ledgerline.md#1", False, QUESTION),
        ("handbook/travel.md#1", True, "How expensive may a  hotel be?"),
        ("people/ines-caldwell.md#1", False, "Only what is not relevant is no judged query."),
    ]
    with ThreadPoolExecutor(5) as clients:  # two workers, one file
        assert set(clients.map(lambda one: judge(running, one[0], one[1], query=one[2]), judged)) == {204}
    assert judge(running, "teams/doorstep.md#1", True, filters={"type": "team", "date_from": "2024-01-01"}) == 204
    file = running.folder / "state" / "feedback-default.jsonl"
    queries = read_queries(file)
    assert sorted(one.query.text for one in queries) == ["How expensive may a hotel be?", QUESTION, QUESTION]
    assert {one.qrels for one in queries} == {
        (("handbook/travel.md#1",),),
        (("teams/doorstep.md#1",),),
        (("people/ines-caldwell.md#1",), ("teams/doorstep.md#1",)),
    }
    assert next(one for one in queries if len(one.qrels) == 2).fields["not_relevant"] == ["services/ledgerline.md#1"]
    assert next(one for one in queries if one.query.filters).query.filters["type"] == "team"
    assert QUESTION not in running.log_text()

    for line in (EXAMPLE / "queries.jsonl").read_text(encoding="utf-8").splitlines()[:4]:  # tuning needs six
        one = json.loads(line)
        assert judge(running, one["gold"][0], True, query=one["question"]) == 204
    common = [str(file), "--kb", str(running.folder / "kb.db"), "--recipe", "service"]
    assert "service" in hopweave("evaluate", *common, "--measure", "recall@5")
    assert "fuse.weights.graph" in hopweave("tune", *common, "--parameter", "fuse.weights.graph", "--trials", "2")


def test_the_last_word_counts_and_the_majority_of_callers(running):
    assert judge(running, "teams/doorstep.md#1", False) == 204
    assert stored(running) == {}
    assert judge(running, "teams/doorstep.md#1", True) == 204
    assert stored(running)[QUESTION]["gold"] == ["teams/doorstep.md#1"]
    assert judge(running, "teams/doorstep.md#1", False, key="b-key") == 204
    assert stored(running) == {}  # a draw
    assert judge(running, "teams/doorstep.md#1", True, key="c-key") == 204
    assert stored(running)[QUESTION]["gold"] == ["teams/doorstep.md#1"]
    assert judge(running, "teams/doorstep.md#1", None, key="a-key") == 204
    assert judge(running, "teams/doorstep.md#1", None, key="c-key") == 204
    assert stored(running) == {}


def test_tenants_judge_what_they_see_and_their_queries_say_whose_they_are(running):
    assert judge(running, "teams/doorstep.md#1", True, key="t-key") == 204
    assert stored(running)[QUESTION]["tenant"] == {"type": "team"}
    assert judge(running, "people/ines-caldwell.md#1", True, key="t-key") == 404
    assert judge(running, "teams/doorstep.md#1", True, key="wrong") == 401


def test_feedback_is_bounded(run_service, tmp_path):
    with run_service(tmp_path, SEARCH_MAX_JUDGEMENTS="2") as service:
        replies = [judge(service, f"document-{number}", True, key="") for number in range(3)]
        assert replies == [204, 204, 429]
        assert judge(service, "document-1", False, key="") == 204  # in place of another
        assert service.client.get("/knowledge-bases").json()[0]["feedback"] is True
