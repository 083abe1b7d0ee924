import sqlite3

import pytest

from hopweave.graph.model import Contribution, Edge, Mention, Node
from hopweave.graph.storage import ledger as sql


@pytest.fixture
def connection():
    connection = sqlite3.connect(":memory:")
    sql.create_tables(connection)
    yield connection
    connection.close()


def says(id_, *names):
    return Contribution(id_, (Node.passage(id_),), mentions=tuple(map(Mention, names)))


FULL = Contribution(
    "Łódź/1",
    (Node.passage("Łódź/1", "北京"), Node("n", "place", "東京", None, {"area": 0.1, "tags": ["a", None]})),
    (Edge("n", "passage:Łódź/1", "relates_to", 0.30000000000000004, "lies in"),),
    (Mention("plain"), Mention("about", "about", 4.0), Mention("x", "tags", 1.0, "tags", False)),
    "some words . 東 京",
    ("Łódź", "a.md"),
)


def test_reads_back_exactly_what_was_recorded(connection):
    sql.record(connection, [FULL])
    assert sql.read(connection) == [FULL]


def test_recording_again_changes_nothing(connection):
    assert sql.record(connection, [FULL, says("b", "x")]) == ["Łódź/1", "b"]
    before = connection.total_changes
    assert sql.record(connection, [FULL, says("b", "x")]) == []
    assert connection.total_changes == before


def test_recording_replaces(connection):
    for name in ("x", "y"):
        sql.record(connection, [says("a", name)])
    assert sql.read(connection) == [says("a", "y")]


def test_the_last_of_several_for_one_document_counts(connection):
    sql.record(connection, [says("a", "x"), says("a", "y")])
    assert sql.read(connection) == [says("a", "y")]


def test_forgetting(connection):
    sql.record(connection, [says("a"), says("b")])
    assert sql.forget(connection, ["b", "nobody", "b"]) == ["b"]
    assert sql.read(connection) == [says("a")]


def test_an_empty_contribution_leaves_no_entry(connection):
    sql.record(connection, [says("a")])
    assert sql.record(connection, [Contribution("a"), Contribution("b")]) == ["a"]
    assert sql.read(connection) == []


def test_order_is_by_id_not_by_arrival(connection):
    sql.record(connection, [says("b"), says("a"), says("c")])
    assert [one.document_id for one in sql.read(connection)] == ["a", "b", "c"]


def test_more_than_fit_into_one_statement(connection):
    many = [says(f"{number:05}") for number in range(1203)]
    assert len(sql.record(connection, many)) == 1203
    assert sql.read(connection) == many
    assert len(sql.forget(connection, [one.document_id for one in many])) == 1203
    assert sql.read(connection) == []


def test_it_takes_part_in_the_callers_transaction(connection):
    connection.commit()
    sql.record(connection, [says("a")])
    connection.rollback()
    assert sql.read(connection) == []


def test_tables_can_be_created_again(connection):
    sql.record(connection, [says("a")])
    sql.create_tables(connection)
    assert sql.read(connection) == [says("a")]


def test_changes_lists_what_differs(connection):
    sql.record(connection, [says("a"), says("b", "x"), says("c")])
    seen = sql.last_sequence(connection)
    sql.record(connection, [says("b", "y"), says("d")])
    sql.forget(connection, ["a"])
    found = sql.changes(connection, seen)
    assert list(found.current) == [says("b", "y"), says("d")]
    assert found.gone == ["a"]
    assert not found.whole


def test_text_that_is_no_valid_unicode(connection):
    odd = says("a", "\ud800 lone")
    sql.record(connection, [odd])
    assert sql.read(connection) == [odd]


@pytest.mark.parametrize("weight", [-1.0, float("nan"), float("inf")])
def test_weights_that_are_not_allowed(connection, weight):
    edge = Contribution("d", (), (Edge("a", "b", "helps", weight),))
    mention = Contribution("d", mentions=(Mention("x", weight=weight),))
    for bad, what in ((edge, "edge 'a' -helps-> 'b'"), (mention, "mention of 'x'")):
        with pytest.raises(ValueError, match=f"document 'd', {what}: weight {weight} is not allowed"):
            sql.record(connection, [bad])


@pytest.mark.parametrize("value", [object(), float("nan")])
def test_metadata_that_is_not_json(connection, value):
    with pytest.raises(ValueError, match="document 'd': node metadata"):
        sql.record(connection, [Contribution("d", (Node("n", "k", "n", None, {"x": value}),))])
