import json
import sqlite3
import zlib
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from hopweave.cli import main
from hopweave.document import Document
from hopweave.errors import KnowledgeBaseError
from hopweave.knowledge_base import schema
from hopweave.knowledge_base.settings import DEFAULT_BUILDERS
from hopweave.knowledge_base.store import KnowledgeBase
from hopweave.storage.images import open_image, write_image
from hopweave.vector.embedders import SentenceTransformerEmbedder


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


TRIGGER = schema._TABLES[schema._TABLES.index("CREATE TRIGGER IF NOT EXISTS documents_gone") :]
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
        (
            ["INSERT INTO vectors SELECT model, 998, vector, digest FROM vectors LIMIT 1"],
            "1 rows of vectors belong to no",
        ),
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
                TRIGGER,
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


# Graph entries, vectors and images


@pytest.fixture
def compacted(tmp_path):
    path = tmp_path / "whole.db"
    with KnowledgeBase.open(path) as kb:
        kb.add([Document(f"d{n}", f"The MV Skua {n} calls at Hallow.", {"title": f"Ship {n}"}) for n in range(30)])
        kb.compact()
        kb.add([Document("late", "came later")])
        kb.delete(["d3"])
        assert kb.check() == []
    return path


def problems(path):
    with KnowledgeBase.open(path, read_only=True) as kb:
        return kb.check()


def changed_file(path, statement, *values):
    connection = sqlite3.connect(path)
    connection.execute(statement, values)
    connection.commit()
    connection.close()


@pytest.mark.parametrize("payload", [b"", b"x", zlib.compress(b"[[],[],[],7,[]]"), zlib.compress(b"[" * 9999), None])
def test_a_damaged_graph_entry_is_named(compacted, payload):
    changed_file(compacted, "UPDATE graph_contributions SET payload = ? WHERE document_id = 'd7'", payload)
    assert problems(compacted) == ["graph entry of 'd7' is not as it was stored"]


@pytest.mark.slow
def test_a_graph_entry_that_grows_beyond_measure_is_refused(compacted):
    bomb = zlib.compress(bytes(200_000_000), 9)
    assert len(bomb) < 300_000
    changed_file(compacted, "UPDATE graph_contributions SET payload = ? WHERE document_id = 'd7'", bomb)
    assert problems(compacted) == ["graph entry of 'd7' is not as it was stored"]


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_a_vector_of_no_numbers_is_named(compacted, number):
    vector = np.full(256, number, np.float32).tobytes()
    changed_file(compacted, "UPDATE vectors SET vector = ? WHERE row = 5", vector)
    assert problems(compacted)[0] == "document 'd4' has a vector that is not made of finite numbers"


@pytest.mark.parametrize("kind", ["text", "vectors"])
def test_an_image_of_something_else_is_named_and_can_be_made_again(compacted, kind):
    with KnowledgeBase.open(compacted) as kb:
        kb.compact()
    folder = Path(f"{compacted}-index")
    connection = sqlite3.connect(compacted)
    name, file, checksum, *_ = connection.execute("SELECT * FROM images WHERE name LIKE ?", (f"{kind}:%",)).fetchone()
    connection.close()
    image = open_image(folder / file, checksum)
    wrong = write_image(folder / "wrong.image", image.header, {**image.arrays, "rows": image.arrays["rows"] + 1})
    changed_file(compacted, "UPDATE images SET file = 'wrong.image', checksum = ? WHERE name = ?", wrong, name)
    assert problems(compacted) == [
        "image wrong.image does not say what the documents say; hopweave compact --rebuild makes it again"
    ]
    assert main(["compact", "--kb", str(compacted), "--rebuild"]) == 0
    assert problems(compacted) == []


def test_info_tells_what_is_there(compacted, capsys):
    with KnowledgeBase.open(compacted, read_only=True) as kb:
        facts = kb.info()
        assert (facts["documents"], facts["embedder"]) == (30, "wordllama-l2-supercat-256")
        assert (facts["analyzers"], facts["builders"]) == (["nlp"], [builder.kind for builder in DEFAULT_BUILDERS])
        assert facts["nodes"] == kb.graph.node_count > 30
        assert facts["edges"] > 30
        assert facts["changed"]["text:nlp"] == pytest.approx(2 / 30)
        assert sum(facts["bytes"].values()) > 100_000
    assert main(["info", "--kb", str(compacted)]) == 0
    assert "documents   30" in capsys.readouterr().out
    assert main(["info", "--kb", str(compacted), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["documents"] == 30
    with KnowledgeBase.open(compacted) as kb:
        kb.delete([kb.ids()[0]])
        assert kb.info()["nodes"] == kb.graph.node_count < facts["nodes"]


@pytest.mark.slow
def test_a_file_never_makes_a_search_download_a_model(tmp_path, monkeypatch):
    pytest.importorskip("sentence_transformers")
    asked = []
    monkeypatch.setattr("sentence_transformers.SentenceTransformer", lambda model, **how: asked.append((model, how)))
    embedder = SentenceTransformerEmbedder(model="somebody/elsewhere")
    with KnowledgeBase.open(tmp_path / "a.db", embedder=embedder) as kb:
        kb.add([Document("a", "text", vector=np.ones(4, np.float32))])
    asked.clear()
    with KnowledgeBase.open(tmp_path / "a.db") as kb:
        for text in ("one", "two"):
            with pytest.raises(AttributeError):  # the model that was not loaded
                kb.embed(text)
    assert asked == [("somebody/elsewhere", {"device": None, "local_files_only": True})]
