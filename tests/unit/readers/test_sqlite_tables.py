"""Tables of another program: nodes, edges and embeddings."""

import sqlite3
from contextlib import closing

import numpy as np
import pytest

from hopweave import KnowledgeBase, Query
from hopweave.cli import main
from hopweave.errors import UnreadableInput
from hopweave.hit import Hit
from hopweave.readers.sqlite_tables import read_sqlite_tables
from hopweave.sources.graph_boost import GraphBoost

NODES = """
CREATE TABLE nodes (id INTEGER, name TEXT, type TEXT, description TEXT, properties TEXT);
INSERT INTO nodes VALUES (1, 'Parser', 'tool', 'Reads files.', '{"lines": 900}'), (2, 'Index', 'tool', NULL, NULL);
"""
EDGES = """
CREATE TABLE edges (source_id INTEGER, target_id INTEGER, type TEXT, weight REAL);
INSERT INTO edges VALUES (1, 2, 'feeds_into', 0.5);
"""


@pytest.fixture
def made(tmp_path):
    def make(script, vectors=None, table="embeddings"):
        file = tmp_path / "tools.db"
        with closing(sqlite3.connect(file)) as connection:
            connection.executescript(script)
            if vectors is not None:
                connection.execute(f"CREATE TABLE {table} (node_id INTEGER, embedding BLOB)")
                connection.executemany(f"INSERT INTO {table} VALUES (?, ?)", vectors)
            connection.commit()
        return file

    return make


def test_nodes_become_documents_and_edges_contributions(made):
    tables = read_sqlite_tables(made(NODES + EDGES))
    parser, index = tables.documents
    assert (parser.id, parser.title, parser.text) == ("1", "Parser", "Reads files.")
    assert parser.metadata == {"title": "Parser", "type": "tool", "properties": {"lines": 900}}
    assert index.text == "Index"
    (edge,) = tables.contributions[0].edges
    assert (edge.source, edge.target, edge.type, edge.weight) == ("passage:1", "passage:2", "feeds_into", 0.5)


@pytest.mark.parametrize("table", ["embeddings", "node_embeddings", "vec_embeddings"])
def test_embeddings_are_found_by_the_name_of_their_table(made, table):
    vector = np.array([1.5, -2.0], "<f4")
    tables = read_sqlite_tables(made(NODES, [(2, vector.tobytes())], table))
    assert [None if one.vector is None else one.vector.tolist() for one in tables.documents] == [None, [1.5, -2.0]]


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("CREATE TABLE words (id)", "has no table nodes or entities; there are words"),
        ("CREATE TABLE nodes (id, type); INSERT INTO nodes VALUES (1, 'x')", "a node needs an id"),
        (NODES + "CREATE TABLE edges (source, target); INSERT INTO edges VALUES (1, 9)", "from 1 to 9 leads to a node"),
    ],
)
def test_what_cannot_be_read_is_named(made, script, message):
    with pytest.raises(UnreadableInput, match=message):
        read_sqlite_tables(made(script))


def test_embeddings_that_are_no_floats(made):
    with pytest.raises(UnreadableInput, match="the embedding of node 1 is not made of 32-bit floats"):
        read_sqlite_tables(made(NODES, [(1, b"abc")]))


def test_no_file_and_no_database(tmp_path):
    with pytest.raises(UnreadableInput, match="is no file"):
        read_sqlite_tables(tmp_path / "none.db")
    (tmp_path / "text.db").write_text("no database at all, but long enough to be looked at" * 20)
    with pytest.raises(UnreadableInput, match="is no readable SQLite file"):
        read_sqlite_tables(tmp_path / "text.db")


def test_the_command_imports_and_a_deleted_document_takes_its_edges_along(made, tmp_path, capsys):
    kb_file = tmp_path / "kb.db"
    assert main(["import", "sqlite", str(made(NODES + EDGES)), "--kb", str(kb_file)]) == 0
    assert "2 added, 0 updated, 0 unchanged; 1 edges" in capsys.readouterr().out
    with KnowledgeBase.open(kb_file) as kb:
        upstream = {"text": [Hit("1")], "vector": []}
        assert [hit.id for hit in GraphBoost().search(Query("?"), kb, upstream)] == ["2"]
        kb.delete(["1"])
        assert kb.graph.find(["passage:1"]) == {}
        (left,) = kb.graph.find(["passage:2"]).values()
        assert not len(kb.graph.neighbours(np.array([left]), "in").targets)


def test_the_command_keeps_vectors_if_asked(made, tmp_path):
    kb_file, vector = tmp_path / "kb.db", np.array([3.0, 4.0], "<f4")
    file = made(NODES, [(1, vector.tobytes()), (2, vector.tobytes())])
    assert main(["import", "sqlite", str(file), "--kb", str(kb_file), "--keep-vectors"]) == 0
    with KnowledgeBase.open(kb_file) as kb:
        assert kb.vectors(["1"])["1"].tolist() == [3.0, 4.0]
