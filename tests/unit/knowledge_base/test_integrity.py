import sqlite3
from contextlib import suppress

import pytest

from hopweave.document import Document
from hopweave.errors import KnowledgeBaseError
from hopweave.knowledge_base.store import KnowledgeBase


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "kb.db"
    with KnowledgeBase.open(path, analyzers=["nlp", "code"]) as kb:
        kb.add(Document(f"d{n}", f"tide gate number {n} " * 30, {"title": f"Gate {n}"}) for n in range(40))
    return path


def damage(path, *statements):
    connection = sqlite3.connect(path)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()


def found(path, **how):
    with KnowledgeBase.open(path, **how) as kb:
        problems = kb.check()
        assert kb.check() == problems  # looking leaves nothing behind
    return problems


both = pytest.mark.parametrize("read_only", [False, True])


@both
def test_a_sound_file_has_no_problems(path, read_only):
    assert found(path, read_only=read_only) == []


FIELDS = "rowid, title, text"
ROW = "(SELECT row FROM documents WHERE id = 'd7')"


@both
@pytest.mark.parametrize(
    ("statements", "expected"),
    [
        (["UPDATE documents SET text = 'other' WHERE id = 'd7'"], "document 'd7' is not as it was stored"),
        (["UPDATE documents SET metadata = '{}' WHERE id = 'd7'"], "document 'd7' is not as it was stored"),
        ([f"DELETE FROM terms WHERE analyzer = 'code' AND row = {ROW}"], "document 'd7' lacks terms of 'code'"),
        (
            [f"UPDATE terms SET counts = zeroblob(length(counts)) WHERE analyzer = 'nlp' AND row = {ROW}"],
            "document 'd7' has other terms of 'nlp' than its text",
        ),
        ([f"UPDATE terms SET keys = x'00' WHERE analyzer = 'nlp' AND row = {ROW}"], "document 'd7' has other terms"),
        ([f"DELETE FROM vectors WHERE row = {ROW}"], "document 'd7' lacks a vector"),
        ([f"UPDATE vectors SET vector = x'00000000' WHERE row = {ROW}"], "'wordllama-l2-supercat-256' differ in size"),
        (["PRAGMA foreign_keys = OFF", "INSERT INTO terms VALUES ('nlp', 999, x'', x'')"], "1 rows of terms belong to"),
        (["INSERT INTO vectors SELECT model, 998, vector FROM vectors LIMIT 1"], "1 rows of vectors belong to no"),
        (
            [f"INSERT INTO full_text (full_text, {FIELDS}) SELECT 'delete', row, title, text FROM documents LIMIT 1"],
            "the full-text index does not say what the documents say",
        ),
        (
            [f"INSERT INTO full_text ({FIELDS}) VALUES (997, 'ghost', 'ghost')"],
            "the full-text index does not say what the documents say",
        ),
        (
            [
                "DROP TRIGGER documents_gone",
                "DELETE FROM terms WHERE row = 1",
                "DELETE FROM vectors WHERE row = 1",
                "DELETE FROM documents WHERE row = 1",
            ],
            "the full-text index does not say what the documents say",
        ),
    ],
)
def test_each_kind_of_damage_is_found(path, statements, expected, read_only):
    damage(path, *statements)
    assert any(expected in sentence for sentence in found(path, read_only=read_only))


def test_every_damaged_document_is_named(path):
    damage(path, "UPDATE documents SET metadata = '{}' WHERE id IN ('d3', 'd4')")
    assert found(path) == ["document 'd3' is not as it was stored", "document 'd4' is not as it was stored"]


@both
def test_overwritten_pages_are_found(path, read_only):
    with sqlite3.connect(path) as connection:
        (page,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'vectors'").fetchone()
    connection.close()
    with path.open("r+b") as file:
        file.seek((page - 1) * 4096)
        file.write(b"\xff" * 200)
    problems = found(path, read_only=read_only)
    assert problems
    assert all(sentence.startswith("storage: ") for sentence in problems)


def test_a_file_cut_short_does_not_pass_for_sound(path):
    data = path.read_bytes()
    for pages in range(1, len(data) // 4096, 7):
        path.write_bytes(data[: pages * 4096])
        with suppress(KnowledgeBaseError):  # some cannot even be opened
            assert found(path)


def test_a_file_without_vectors_is_not_blamed_for_it(tmp_path):
    with KnowledgeBase.open(tmp_path / "kb.db", embedder=None) as kb:
        kb.add([Document("a", "text"), Document("b", "text", vector=[1.0])])
        assert kb.check() == []
