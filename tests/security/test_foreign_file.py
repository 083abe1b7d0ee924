"""A knowledge base file from elsewhere, made by hand to do harm: nothing runs, hangs, or is touched outside of it."""

import json
import os
import sqlite3
import zlib
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from hopweave import Document, KnowledgeBase
from hopweave.errors import EmbeddingError, HopweaveError, KnowledgeBaseError
from hopweave.knowledge_base.images import ImageFolder
from hopweave.knowledge_base.settings import write_settings
from hopweave.storage.images import open_image, write_image


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "a.db"
    with KnowledgeBase.open(path) as kb:
        kb.add([Document(f"d{n}", f"The ferry {n} calls at Hallow.", {"title": f"Ferry {n}"}) for n in range(20)])
        kb.compact()
    return path


def changed(path, *statements):
    connection = sqlite3.connect(path)
    for statement in statements:
        connection.execute(*([statement] if isinstance(statement, str) else statement))
    connection.commit()
    connection.close()


ENDLESS = "WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x"


@pytest.mark.parametrize("read_only", [False, True])
@pytest.mark.parametrize(
    "statements",
    [
        ["ALTER TABLE removed RENAME TO gone", f"CREATE VIEW removed (version, row) AS {ENDLESS}, 1 FROM n"],
        ["CREATE TRIGGER evil AFTER INSERT ON documents BEGIN DELETE FROM documents; END"],
        ["CREATE TRIGGER evil AFTER UPDATE ON state BEGIN UPDATE settings SET value = 'x'; END"],
        ["CREATE INDEX evil ON documents (replace(text, 'a', hex(zeroblob(100000))))"],
        ["CREATE VIRTUAL TABLE evil USING fts5 (x)"],
        ["DROP TRIGGER documents_gone"],
        ["ALTER TABLE documents ADD COLUMN evil TEXT GENERATED ALWAYS AS (hex(zeroblob(100000000)))"],
        ["CREATE VIEW evil AS SELECT load_extension('/tmp/evil.so')"],
    ],
)
def test_a_schema_that_is_not_ours_is_refused(path, statements, read_only):
    changed(path, *statements)
    with pytest.raises(KnowledgeBaseError, match="its schema is not hopweave's"):
        KnowledgeBase.open(path, read_only=read_only)


def test_tables_of_the_owner_are_let_be(path):
    changed(path, "CREATE TABLE notes (text TEXT)", "CREATE INDEX notes_text ON notes (text)", "ANALYZE")
    with KnowledgeBase.open(path) as kb:
        assert kb.search("ferry 3").hits
        assert kb.check() == []


def test_a_folder_of_images_that_leads_elsewhere_is_not_tidied_up(path, tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    for name in ("letter.txt", "photo.image", "half.unfinished"):
        (home / name).write_text("precious")
    folder = ImageFolder(path).folder
    folder.rename(tmp_path / "moved")
    folder.symlink_to(home, target_is_directory=True)
    with KnowledgeBase.open(path) as kb:
        with pytest.raises(KnowledgeBaseError, match="is a link"):
            kb.compact()
        assert kb.search("ferry 3").hits
    assert sorted(file.name for file in home.iterdir()) == ["half.unfinished", "letter.txt", "photo.image"]


def test_nothing_but_images_is_removed_from_the_folder(path):
    note = ImageFolder(path).folder / "note.txt"
    note.write_text("mine")
    with KnowledgeBase.open(path) as kb:
        kb.compact()
    assert note.read_text() == "mine"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
@pytest.mark.parametrize("kind", ["pipe", "link", "folder", "device"])
def test_an_image_that_is_no_file_is_not_opened(path, kind, tmp_path):
    for file in ImageFolder(path).folder.glob("*.image"):
        file.rename(tmp_path / file.name)
        if kind == "pipe":
            os.mkfifo(file)
        elif kind == "folder":
            file.mkdir()
        else:
            file.symlink_to("/dev/zero" if kind == "device" else tmp_path / file.name)
    with KnowledgeBase.open(path, read_only=True) as kb:
        assert kb.search("ferry 3", recipe="multihop").hits[0].id == "d3"


@pytest.mark.parametrize("name", ["../evil.image", "/etc/passwd", "..\\evil.image", "passwd", "\0.image", ""])
def test_the_table_of_images_cannot_name_other_files(path, name):
    changed(path, ("UPDATE images SET file = ?", (name,)))
    with KnowledgeBase.open(path, read_only=True) as kb:
        assert kb.search("ferry 3", recipe="multihop").hits[0].id == "d3"


@pytest.mark.parametrize("array", ["places", "counts", "lengths", "offsets", "rows", "keys"])
@pytest.mark.parametrize("value", [-1, 2**31 - 1, 2**62])
def test_postings_that_point_anywhere(path, array, value):
    folder = ImageFolder(path).folder
    connection = sqlite3.connect(path)
    name, file, checksum, *_ = connection.execute("SELECT * FROM images WHERE name = 'text:nlp'").fetchone()
    image = open_image(folder / file, checksum)
    arrays = {key: values.copy() for key, values in image.arrays.items()}
    arrays[array][len(arrays[array]) // 2] = np.array(value).astype(arrays[array].dtype)
    wrong = write_image(folder / "wrong.image", image.header, arrays)
    connection.execute("UPDATE images SET file = 'wrong.image', checksum = ? WHERE name = ?", (wrong, name))
    connection.commit()
    connection.close()
    with KnowledgeBase.open(path, read_only=True) as kb:
        with suppress(HopweaveError):
            kb.search("ferry 3")
        assert kb.check() or array == "keys"  # the key of a term that no document has


@pytest.mark.parametrize(
    "statement",
    [
        ("UPDATE documents SET metadata = ? WHERE id = 'd3'", ("[" * 100_000 + "]" * 100_000,)),
        ("UPDATE documents SET metadata = '7' WHERE id = 'd3'",),
        ("UPDATE documents SET text = x'ff00' WHERE id = 'd3'",),
        ("UPDATE documents SET text = CAST(x'ff00fe' AS TEXT) WHERE id = 'd3'",),
        ("UPDATE vectors SET vector = x'00' WHERE row = 4",),
        ("UPDATE vectors SET vector = 'text' WHERE row = 4",),
        ("UPDATE terms SET keys = x'01' WHERE row = 4",),
        ("UPDATE graph_contributions SET payload = ? WHERE document_id = 'd3'", (zlib.compress(bytes(200_000_000)),)),
        ("UPDATE graph_contributions SET payload = ? WHERE document_id = 'd3'", (zlib.compress(b"[" * 1_000_000),)),
        (
            "UPDATE graph_contributions SET payload = ? WHERE document_id = 'd3'",
            (zlib.compress(b'[[[1]],[],[],"",[]]'),),
        ),
        ("UPDATE settings SET value = ?", ("[" * 100_000,)),
        ("UPDATE settings SET value = '7'",),
        ("UPDATE state SET version = 'x'",),
    ],
)
def test_rows_of_any_shape_raise_errors_of_ours(path, statement):
    changed(path, statement, "DELETE FROM images")

    def everything():
        with KnowledgeBase.open(path, read_only=True) as kb:
            problems = kb.check()
            assert problems
            kb.search("ferry 3 Hallow", recipe="multihop")
            kb.vectors(kb.ids())
            list(kb.documents())

    with suppress(HopweaveError):
        everything()


def test_a_model_folder_that_a_file_names_does_not_run_code(tmp_path):
    pytest.importorskip("sentence_transformers")
    evil, ran = tmp_path / "evil", tmp_path / "ran"
    evil.mkdir()
    (evil / "modules.json").write_text(json.dumps([{"idx": 0, "name": "0", "path": "", "type": "own.Evil"}]))
    (evil / "own.py").write_text(f"open({str(ran)!r}, 'w').close()\nclass Evil:\n    pass\n")
    (evil / "config_sentence_transformers.json").write_text("{}")
    path = tmp_path / "a.db"
    with KnowledgeBase.open(path, embedder=None) as kb:
        kb.add([Document("a", "A ferry.", vector=[1.0, 2.0])])
    connection = sqlite3.connect(path)
    write_settings(connection, {"embedder": {"kind": "sentence_transformers", "model": str(evil)}, "model": "evil"})
    connection.execute("UPDATE vectors SET model = 'evil'")
    connection.commit()
    connection.close()
    with KnowledgeBase.open(path) as kb, pytest.raises(EmbeddingError, match="has code of its own"):
        kb.embed("ferry")
    assert not ran.exists()


def test_a_file_is_never_opened_for_writing_where_one_only_reads(path, tmp_path):
    before = {file: (file.stat().st_mtime_ns, file.read_bytes()) for file in tmp_path.rglob("*") if file.is_file()}
    with KnowledgeBase.open(path, read_only=True) as kb:
        kb.search("ferry 3", recipe="multihop")
        kb.check()
    after = {file: (file.stat().st_mtime_ns, file.read_bytes()) for file in tmp_path.rglob("*") if file.is_file()}
    assert after == before
    assert Path(path).exists()
