import json
from datetime import UTC, datetime

import pytest

from hopweave.errors import UnreadableInput
from hopweave.evaluate.queries import FEW_QUERIES, EvaluationQuery, query_set_warnings, read_queries
from hopweave.hit import Hit

LINE = {"id": "q1", "question": "Who built the gate?", "gold": ["gate"]}


@pytest.fixture
def file(tmp_path):
    def file(*lines):
        path = tmp_path / "queries.jsonl"
        path.write_text("".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines))
        return path

    return file


def test_everything_that_stands_in_a_line_is_read(file):
    path = file({**LINE, "filters": {"type": "place"}, "tenant": {"team": "a"}, "now": "2026-03-01", "hops": 2})
    (one,) = read_queries(path)
    assert (one.id, one.query.text, one.qrels) == ("q1", "Who built the gate?", (("gate",),))
    assert (one.query.filters, one.query.tenant) == ({"type": "place"}, {"team": "a"})
    assert one.query.now == datetime(2026, 3, 1, tzinfo=UTC)
    assert one.fields == {"hops": 2}


def test_an_item_of_gold_that_is_a_list_is_a_class():
    assert EvaluationQuery.read({**LINE, "gold": ["gate", ["oram", "orams"]]}).qrels == (("gate",), ("oram", "orams"))


def test_a_filter_narrows_what_counts_passthrough():
    admits = EvaluationQuery.read({**LINE, "filters": {"type": ["place", "ship"]}}).query.admits()
    assert [admits(Hit("x", metadata={"type": kind})) for kind in ("place", "ship", "notice")] == [True, True, False]


def test_all_queries_without_a_time_are_asked_at_the_same_one(file):
    first, second = read_queries(file(LINE, {**LINE, "id": "q2"}))
    assert first.query.now == second.query.now
    now = datetime(2026, 5, 1, tzinfo=UTC)
    assert read_queries(file(LINE), now=now)[0].query.now == now


def test_without_an_id_a_query_is_called_after_its_line(file):
    assert [one.id for one in read_queries(file("", {"question": "?", "gold": ["a"]}, {**LINE, "id": 7}))] == [
        "line 2",
        "7",
    ]


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("{", "line 2: is not JSON"),
        ("[1]", "line 2: is not a JSON object"),
        ({"gold": ["a"]}, "line 2: question: nothing is not allowed: it must be a text that is not empty"),
        ({**LINE, "question": " "}, "line 2: question: ' ' is not allowed"),
        ({**LINE, "id": None}, "line 2: id: nothing is not allowed: it must be a text or a whole number"),
        ({**LINE, "id": True}, "line 2: id: True is not allowed"),
        ({"id": "q2", "question": "?"}, "line 2: gold: nothing is not allowed: it must be a list of at least one id"),
        ({**LINE, "id": "q2", "gold": []}, r"line 2: gold: \[\] is not allowed"),
        ({**LINE, "id": "q2", "gold": "gate"}, "line 2: gold: 'gate' is not allowed"),
        ({**LINE, "id": "q2", "gold": [3]}, "line 2: gold: 3 is not allowed: it must be an id"),
        ({**LINE, "id": "q2", "gold": [[]]}, "line 2: gold: a class without ids"),
        ({**LINE, "id": "q2", "gold": ["a", ["b", "a"]]}, "line 2: gold: 'a' comes twice"),
        ({**LINE, "id": "q2", "filters": ["a"]}, "line 2: filters: .* must be a mapping"),
        ({**LINE, "id": "q2", "filters": {"date": {"after": 1}}}, "line 2: filters.date: unknown operator 'after'"),
        ({**LINE, "id": "q2", "tenant": "a"}, "line 2: tenant: 'a' is not allowed"),
        ({**LINE, "id": "q2", "now": "soon"}, "line 2: now: 'soon' is not allowed: it must be an ISO date"),
        (LINE, "line 2: id: 'q1' is that of line 1 already"),
    ],
)
def test_faults_name_file_line_and_field(file, line, complaint):
    with pytest.raises(UnreadableInput, match=f"queries.jsonl {complaint}"):
        read_queries(file(LINE, line))


def test_files_that_are_not_there_or_empty(tmp_path, file):
    with pytest.raises(UnreadableInput, match=r"lost\.jsonl: does not exist"):
        read_queries(tmp_path / "lost.jsonl")
    with pytest.raises(UnreadableInput, match="has no judged queries"):
        read_queries(file("", "  "))
    (tmp_path / "binary.jsonl").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UnreadableInput, match=r"binary\.jsonl: cannot be read"):
        read_queries(tmp_path / "binary.jsonl")


def test_few_queries_are_doubted(kb):
    many = [EvaluationQuery.read({**LINE, "id": str(n)}) for n in range(FEW_QUERIES)]
    assert query_set_warnings(many, kb) == []
    assert query_set_warnings(many[1:], kb) == ["only 19 judged queries: with fewer than 20, figures are not reliable"]


def test_gold_that_is_not_stored_is_reported(kb):
    many = [EvaluationQuery.read({**LINE, "id": str(n), "gold": ["gate", ["skua", f"lost {n}"]]}) for n in range(20)]
    (warned,) = query_set_warnings(many, kb)
    assert warned.startswith("20 gold ids are not in the knowledge base: 0 'lost 0', 1 'lost 1', ")
    assert warned.endswith(" and 15 more")
