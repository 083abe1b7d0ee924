"""The folder of index images and the table that says which of them count."""

import logging
import sqlite3
import subprocess
import sys

import numpy as np
import pytest

from hopweave.errors import InvalidImage, KnowledgeBaseError
from hopweave.knowledge_base.connections import Connections
from hopweave.knowledge_base.images import ImageFolder, Noted, all_noted, noted, replace


@pytest.fixture
def file(tmp_path):
    return tmp_path / "a.db"


@pytest.fixture
def folder(file):
    return ImageFolder(file)


@pytest.fixture
def connections(file):
    opened = Connections(file, busy_seconds=5, read_only=False)
    yield opened
    opened.close()


def written(folder, number, format_version=1):
    arrays = {"rows": np.array([number])}
    return folder.write("text:nlp", {"format": format_version}, arrays, version=number, position=number, size=1)


def test_the_table_says_which_image_counts_and_the_others_are_leftovers(folder, connections):
    first, second = written(folder, 1), written(folder, 2)
    for image in (first, second):
        with connections.writing(same_content=True) as connection:
            replace(connection, image)
    with connections.reading() as connection:
        assert noted(connection, "text:nlp") == second
        assert all_noted(connection) == [second]
        assert noted(connection, "graph") is None
        with folder.locked() as mine:
            assert mine
            (folder.folder / "x.unfinished").write_bytes(b"")
            folder.remove_leftovers(connection)
    assert [file.name for file in folder.folder.glob("*.*")] == [second.file]
    assert folder.open(second, 1).arrays["rows"].tolist() == [2]


def test_replacing_an_image_is_no_new_version(folder, connections):
    with connections.writing(same_content=True) as connection:
        replace(connection, written(folder, 1))
    with connections.reading() as connection:
        assert connection.execute("SELECT version FROM state").fetchone() == (0,)


@pytest.mark.parametrize("spoil", ["missing", "damaged", "older", "elsewhere"])
def test_an_image_that_is_no_good_is_said_in_the_log(spoil, folder, caplog):
    image = written(folder, 1)
    place = folder.folder / image.file
    if spoil == "missing":
        place.unlink()
    elif spoil == "damaged":
        content = bytearray(place.read_bytes())
        content[-1] ^= 1
        place.write_bytes(content)
    elif spoil == "elsewhere":
        image = Noted("text:nlp", f"../{folder.folder.name}/{image.file}", image.checksum, 1, 1, 1)
    with pytest.raises(InvalidImage, match=image.file) as found:
        folder.open(image, 2 if spoil == "older" else 1)
    assert folder.lacks(image) == (spoil == "missing")
    with caplog.at_level(logging.WARNING):
        folder.unusable(image, found.value)
    assert folder.lacks(image)
    assert "a.db: index images are missing or cannot be used; hopweave compact writes them" in caplog.text


def test_one_process_at_a_time_and_a_kill_gives_the_lock_back(folder):
    program = (
        "import os, sys; from pathlib import Path; from hopweave.knowledge_base.images import ImageFolder\n"
        "with ImageFolder(Path(sys.argv[1])).locked() as mine:\n"
        "    print(mine, flush=True)\n"
        "    sys.stdin.read(1)\n"
        "    os.kill(os.getpid(), 9)"
    )
    path = str(folder.folder).removesuffix("-index")
    child = subprocess.Popen(
        [sys.executable, "-c", program, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert child.stdout.readline() == "True\n"
    with folder.locked() as mine:
        assert not mine
    child.communicate("x")
    assert child.returncode == -9
    with folder.locked() as mine:
        assert mine


@pytest.mark.parametrize("obstacle", ["no database", "a folder"])
def test_a_lock_that_cannot_be_taken_is_not_blamed_on_another_process(folder, obstacle):
    folder.folder.mkdir()
    if obstacle == "a folder":
        (folder.folder / "lock").mkdir()
    else:
        (folder.folder / "lock").write_bytes(b"x" * 5000)
    with pytest.raises(KnowledgeBaseError, match="lock: cannot be locked: "), folder.locked():
        pass


def test_a_file_in_place_of_the_folder_is_named(folder):
    folder.folder.write_text("")
    with pytest.raises(KnowledgeBaseError, match=r"a\.db-index: must be a folder, for index images, but is a file"):
        written(folder, 1)
    with pytest.raises(KnowledgeBaseError, match=r"a\.db-index: must be a folder"), folder.locked():
        pass


SCHEMA_1 = """
CREATE TABLE state (only INTEGER PRIMARY KEY CHECK (only = 1), version INTEGER NOT NULL);
INSERT INTO state VALUES (1, 4);
CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE documents (row INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, title TEXT NOT NULL,
    text TEXT NOT NULL, metadata TEXT NOT NULL, digest BLOB NOT NULL, vector_digest BLOB NOT NULL);
CREATE TABLE terms (analyzer TEXT NOT NULL, row INTEGER NOT NULL REFERENCES documents (row) ON DELETE CASCADE,
    keys BLOB NOT NULL, counts BLOB NOT NULL, PRIMARY KEY (analyzer, row));
CREATE TABLE vectors (model TEXT NOT NULL, row INTEGER NOT NULL REFERENCES documents (row) ON DELETE CASCADE,
    vector BLOB NOT NULL, PRIMARY KEY (model, row));
CREATE TABLE approximate_indexes (model TEXT NOT NULL, part INTEGER NOT NULL, data BLOB NOT NULL,
    PRIMARY KEY (model, part));
CREATE VIRTUAL TABLE full_text USING fts5 (title, text, content = 'documents', content_rowid = 'row',
    tokenize = 'unicode61 remove_diacritics 2');
CREATE TRIGGER documents_added AFTER INSERT ON documents BEGIN
    INSERT INTO full_text (rowid, title, text) VALUES (new.row, new.title, new.text);
END;
CREATE TRIGGER documents_gone AFTER DELETE ON documents BEGIN
    INSERT INTO full_text (full_text, rowid, title, text) VALUES ('delete', old.row, old.title, old.text);
END;
CREATE TABLE graph_contributions (document_id TEXT PRIMARY KEY, digest BLOB NOT NULL, payload BLOB NOT NULL);
PRAGMA application_id = 1752133751;
PRAGMA user_version = 1;
"""


def test_a_file_of_schema_1_is_brought_up_to_date_and_loses_nothing(tmp_path):
    from hopweave.document import Document
    from hopweave.knowledge_base.store import KnowledgeBase

    documents = [
        Document("skua", "MV Skua is a ferry to Harris.", {"title": "MV Skua"}),
        Document("harris", "Harris is an island. The MV Skua calls there.", {"title": "Harris"}),
    ]
    old, new = tmp_path / "old.db", tmp_path / "new.db"
    with KnowledgeBase.open(new) as kb:
        kb.add(documents)
    connection = sqlite3.connect(old)
    connection.executescript(SCHEMA_1)
    connection.execute("ATTACH ? AS new", (str(new),))
    for table in ("settings", "documents", "terms", "vectors"):
        columns = ", ".join(name for _, name, *_ in connection.execute(f"PRAGMA main.table_info({table})"))
        connection.execute(f"INSERT INTO main.{table} SELECT {columns} FROM new.{table}")
    connection.execute(
        "INSERT INTO main.graph_contributions SELECT document_id, digest, payload FROM new.graph_contributions"
    )
    connection.commit()
    connection.close()

    with pytest.raises(KnowledgeBaseError, match=r"has schema 1, .* hopweave compact"):
        KnowledgeBase.open(old, read_only=True)
    with KnowledgeBase.open(old) as kb, KnowledgeBase.open(new) as fresh:
        assert kb.check() == []
        for recipe in ("hybrid", "multihop"):
            assert (
                kb.search("ferry to Harris", recipe=recipe).hits == fresh.search("ferry to Harris", recipe=recipe).hits
            )
        assert kb.delete(["skua"]) == 1
        assert kb.check() == []
        assert [hit.id for hit in kb.search("ferry to Harris").hits] == ["harris"]
    with KnowledgeBase.open(old, read_only=True) as kb:
        assert kb.ids() == ["harris"]
