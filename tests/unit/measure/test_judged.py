import json
from datetime import UTC, datetime

import pytest

from hopweave.errors import UnreadableInput
from hopweave.hit import Hit
from hopweave.measure.judged import FEW_QUERIES, JudgedQuery, doubts, read_judged

LINE = {"id": "q1", "question": "Who built the gate?", "gold": ["gate"]}


@pytest.fixture
def file(tmp_path):
    def file(*lines):
        path = tmp_path / "queries.jsonl"
        path.write_text("".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines))
        return path

    return file


def test_everything_that_stands_in_a_line_is_read(file):
    path = file({**LINE, "filters": {"type": "place"}, "tenant": {"team": "a"}, "asked_at": "2026-03-01", "hops": 2})
    (one,) = read_judged(path)
    assert (one.id, one.query.text, one.gold) == ("q1", "Who built the gate?", (("gate",),))
    assert (one.query.filters, one.query.tenant) == ({"type": "place"}, {"team": "a"})
    assert one.query.asked_at == datetime(2026, 3, 1, tzinfo=UTC)
    assert one.fields == {"hops": 2}


def test_an_item_of_gold_that_is_a_list_is_a_class():
    assert JudgedQuery.read({**LINE, "gold": ["gate", ["oram", "orams"]]}).gold == (("gate",), ("oram", "orams"))


def test_a_filter_narrows_what_counts_as_found():
    admits = JudgedQuery.read({**LINE, "filters": {"type": ["place", "ship"]}}).query.admits()
    assert [admits(Hit("x", metadata={"type": kind})) for kind in ("place", "ship", "notice")] == [True, True, False]


def test_all_queries_without_a_time_are_asked_at_the_same_one(file):
    first, second = read_judged(file(LINE, {**LINE, "id": "q2"}))
    assert first.query.asked_at == second.query.asked_at
    now = datetime(2026, 5, 1, tzinfo=UTC)
    assert read_judged(file(LINE), now=now)[0].query.asked_at == now


def test_without_an_id_a_query_is_called_after_its_line(file):
    assert [one.id for one in read_judged(file("", {"question": "?", "gold": ["a"]}, {**LINE, "id": 7}))] == [
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
        ({**LINE, "id": "q2", "asked_at": "soon"}, "line 2: asked_at: 'soon' is not allowed: it must be an ISO date"),
        (LINE, "line 2: id: 'q1' is that of line 1 already"),
    ],
)
def test_faults_name_file_line_and_field(file, line, complaint):
    with pytest.raises(UnreadableInput, match=f"queries.jsonl {complaint}"):
        read_judged(file(LINE, line))


def test_files_that_are_not_there_or_empty(tmp_path, file):
    with pytest.raises(UnreadableInput, match=r"lost\.jsonl: does not exist"):
        read_judged(tmp_path / "lost.jsonl")
    with pytest.raises(UnreadableInput, match="holds no judged queries"):
        read_judged(file("", "  "))
    (tmp_path / "binary.jsonl").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UnreadableInput, match=r"binary\.jsonl: cannot be read"):
        read_judged(tmp_path / "binary.jsonl")


def test_few_queries_are_doubted(kb):
    many = [JudgedQuery.read({**LINE, "id": str(n)}) for n in range(FEW_QUERIES)]
    assert doubts(many, kb) == []
    assert doubts(many[1:], kb) == ["19 judged queries are few: with fewer than 20, figures say little"]


def test_gold_that_is_not_stored_is_reported(kb):
    many = [JudgedQuery.read({**LINE, "id": str(n), "gold": ["gate", ["skua", f"lost {n}"]]}) for n in range(20)]
    (said,) = doubts(many, kb)
    assert said.startswith("20 gold ids are not in the knowledge base: 0 'lost 0', 1 'lost 1', ")
    assert said.endswith(" and 15 more")
