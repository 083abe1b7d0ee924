import os
import re
import shutil
import sqlite3
import subprocess
import sys
import threading
import time
from collections import OrderedDict
from datetime import UTC, date, datetime
from types import MappingProxyType

import numpy as np
import pytest

from hopweave.document import Document
from hopweave.errors import EmptyFile, KnowledgeBaseBusy, KnowledgeBaseError, NewerSchema
from hopweave.graph.model import Contribution, Edge
from hopweave.knowledge_base.documents import Added
from hopweave.knowledge_base.schema import SCHEMA_VERSION
from hopweave.knowledge_base.settings import _settle, read_settings, write_settings
from hopweave.knowledge_base.store import KnowledgeBase
from hopweave.query import Query
from hopweave.vector.embedders import CallableEmbedder, Cascade, StaticEmbedder


def lengths(texts):
    return [[float(len(text)), 1.0] for text in texts]


def documents(count, prefix="d", **metadata):
    return [Document(f"{prefix}{number}", f"passage number {number}", metadata) for number in range(count)]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "kb.db"


@pytest.fixture
def plain():
    """Without vectors: quick."""
    with KnowledgeBase.open(embedder=None) as kb:
        yield kb


def ids(kb, text, **how):
    return [hit.id for hit in kb.search(text, **how).hits]


def words(kb, text):
    return [key for key, _ in kb.rank_text({text: 1.0}, analyzer="nlp", top_k=1000)]


# Adding


def test_add_get_count_search(kb, isles):
    assert kb.count() == 5
    hit = kb.get(["skua"])["skua"]
    assert (hit.id, hit.score, hit.text, hit.metadata) == ("skua", None, isles[0].text, isles[0].metadata)
    assert ids(kb, "tide gate")[0] == "gate"
    assert ids(kb, "tide gate", recipe="hybrid")[:2] == ["gate", "notice"]
    assert [document.id for document in kb.documents()] == [document.id for document in isles]
    some = [isles[3].id, "unknown", isles[1].id]
    assert [document.id for document in kb.documents(some)] == [isles[1].id, isles[3].id]
    assert list(kb.documents([])) == []
    assert kb.check() == []


def test_get_keeps_the_order_asked_and_passes_over_the_unknown(kb):
    assert list(kb.get(["gate", "nobody", "skua", "gate"])) == ["gate", "skua"]
    assert kb.get([]) == {}
    assert len(kb.get([f"x{n}" for n in range(3000)] + ["gate"])) == 1


def test_nothing_in_nothing_out(plain):
    version = plain.version
    assert plain.add([]) == Added()
    assert plain.update([]) == Added()
    assert plain.delete([]) == 0
    assert (plain.count(), list(plain.documents()), plain.check()) == (0, [], [])
    assert plain.add([]) == Added()
    assert plain.version >= version


def test_an_empty_knowledge_base_answers_with_nothing():
    with KnowledgeBase.open() as kb:
        assert kb.search("ferry").hits == ()


def test_adding_twice_changes_nothing(kb, isles):
    version = kb.version
    before = kb.search("tide gate").hits
    assert kb.add(isles) == Added(unchanged=5)
    assert kb.version == version
    assert kb.search("tide gate").hits == before


def test_a_changed_document_replaces_the_old_one(kb):
    assert kb.add([Document("skua", "A lighthouse now.")]) == Added(updated=1)
    assert kb.count() == 5
    assert "skua" in ids(kb, "lighthouse")[:1]
    assert words(kb, "great") == []
    assert kb.get(["skua"])["skua"].metadata == {}
    assert kb.check() == []


@pytest.mark.parametrize(
    "changed",
    [
        Document("skua", "The Skua is a ferry between Hallow and Great Tern.", {"title": "MV Skua", "type": "boat"}),
        Document("skua", "The Skua is a ferry.", {"title": "MV Skua", "type": "ship"}),
        Document(
            "skua",
            "The Skua is a ferry between Hallow and Great Tern.",
            {"title": "MV Skua", "type": "ship"},
            np.ones(256, np.float32),
        ),
    ],
)
def test_a_change_of_text_metadata_or_vector_is_a_change(kb, changed):
    assert kb.add([changed], vectors_of=kb.settings.model) == Added(updated=1)
    assert kb.add([changed], vectors_of=kb.settings.model) == Added(unchanged=1)


def test_vectors_of_another_model_are_refused_and_nothing_is_written(path):
    foreign = Document("a", "text", vector=np.ones(256, np.float32))
    with KnowledgeBase.open(path) as kb:
        with pytest.raises(KnowledgeBaseError, match=r"document 'a': .* a model that was not named"):
            kb.add([Document("b", "text"), foreign])
        with pytest.raises(KnowledgeBaseError, match=r"a vector of 'e5', but .* holds those of 'wordllama"):
            kb.add([foreign], vectors_of="e5")
        assert kb.count() == 0
        assert kb.add([foreign], vectors_of=kb.settings.model) == Added(added=1)
    with KnowledgeBase.open(embedder=None) as kb:
        assert kb.add([foreign]) == Added(added=1)
        with pytest.raises(KnowledgeBaseError, match="has no embedder"):
            kb.embed("ferry")
    with KnowledgeBase.open(embedder=lengths) as kb, pytest.raises(KnowledgeBaseError, match=r"256 numbers, .* have 2"):
        kb.add([foreign])


@pytest.mark.parametrize("batch_size", [1, 2, 256])
def test_conflicts(plain, batch_size):
    old, new = Document("a", "old"), Document("a", "new")
    plain.add([old], batch_size=batch_size)
    assert plain.add([new], batch_size=batch_size).updated == 1
    assert plain.get(["a"])["a"].text == "new"
    assert plain.add([old, Document("b", "other")], on_conflict="skip") == Added(added=1, unchanged=1)
    assert plain.get(["a"])["a"].text == "new"
    with pytest.raises(KnowledgeBaseError, match="already there: 'a', 'b'"):
        plain.add([Document("c", "more"), old, Document("b", "other")], on_conflict="fail")
    assert plain.count() == 2


@pytest.mark.parametrize("batch_size", [1, 256])
def test_what_comes_twice_is_decided_alike_whatever_the_batches(plain, batch_size):
    one, two = Document("a", "one"), Document("a", "two")
    plain.add([one, two], on_conflict="skip", batch_size=batch_size)
    assert plain.get(["a"])["a"].text == "one"
    with pytest.raises(KnowledgeBaseError, match="'b'"):
        plain.add([Document("b", "one"), Document("b", "two")], on_conflict="fail", batch_size=batch_size)
    with pytest.raises(KnowledgeBaseError, match="id 'c' comes twice with different content"):
        plain.add([Document("c", "one"), Document("d", "one"), Document("c", "two")], batch_size=batch_size)
    assert plain.add([Document("d", "one"), Document("d", "one")], batch_size=batch_size).updated == 0
    for write in (plain.update, lambda documents: plain.replace("d.md", documents)):
        with pytest.raises(KnowledgeBaseError, match="id 'd' comes twice with different content"):
            write([Document("d", "three"), Document("d", "four")])
    assert plain.get(["d"])["d"].text == "one"


@pytest.mark.parametrize("ids", ["12", 12, [1, 2], [b"1"]])
def test_a_single_id_in_place_of_a_list_is_an_error(plain, ids):
    plain.add([Document("1", "one"), Document("2", "two")])
    for ask in (
        plain.delete,
        plain.get,
        plain.documents,
        plain.vectors,
        plain.communities,
        lambda ids: plain.visible({}, ids),
        lambda ids: plain.remove_missing({"a.md": ids}),
    ):
        with pytest.raises(TypeError, match=r"must be (a list of ids|strings), but"):
            ask(ids)
    assert plain.count() == 2
    assert plain.delete(key for key in ("1", "2")) == 2


@pytest.mark.parametrize("documents", [Document("a", "one"), "a", None, [Document("a", "one"), "b"]])
def test_a_single_document_in_place_of_a_list_is_an_error(plain, documents):
    for write in (plain.add, plain.update, lambda documents: plain.replace("a.md", documents)):
        with pytest.raises(TypeError, match="documents: must be"):
            write(documents)
    assert plain.count() == 0


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"on_conflict": "ignore"}, "on_conflict must be replace, skip or fail, but got 'ignore'"),
        ({"batch_size": 0}, "batch_size must be at least 1, but got 0"),
        ({"batch_size": -5}, "batch_size must be at least 1, but got -5"),
    ],
)
def test_bad_parameters_are_refused(plain, how, message):
    with pytest.raises(ValueError, match=message):
        plain.add(documents(3), **how)
    assert plain.count() == 0


def test_batches_are_committed_one_by_one(plain):
    done = []

    def stream():
        yield from documents(5)
        raise RuntimeError("the reader stumbled")

    with pytest.raises(RuntimeError, match="stumbled"):
        plain.add(stream(), batch_size=2, progress=done.append)
    assert done == [2, 2]
    assert plain.count() == 4
    assert plain.add(documents(5), batch_size=2) == Added(added=1, unchanged=4)


def test_a_bad_document_undoes_its_batch_only(plain):
    bad = Document("bad", "text", {"x": object()})
    with pytest.raises(KnowledgeBaseError, match="document 'bad' cannot be stored: metadata of type object"):
        plain.add([*documents(3), bad], batch_size=2)
    assert plain.count() == 2
    assert plain.check() == []


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (Document("", "text"), "a document's id must be a non-empty string, but got ''"),
        (Document(7, "text"), "a document's id must be a non-empty string, but got 7"),
        (Document("a", None), "document 'a': its text must be a string, but got None"),
        (Document("a", "\ud800"), "document 'a' cannot be stored: it is not valid Unicode"),
        (Document("\ud800", "text"), "cannot be stored: it is not valid Unicode"),
        (Document("a", "text", {"x": float("nan")}), "document 'a' cannot be stored: Out of range float"),
        (Document("a", "text", {"x": b"bytes"}), "metadata of type bytes is not JSON"),
        (Document("a", "text", {(1, 2): "x"}), "document 'a' cannot be stored: keys must be"),
        (Document("a", "text", None), "document 'a' cannot be stored"),
        (Document("a", "text", vector=np.ones((1, 4))), r"document 'a': its vector must be a row .* shape \(1, 4\)"),
        (Document("a", "text", vector=np.array([])), "document 'a': its vector must be a row of finite numbers"),
        (Document("a", "text", vector=[1.0, float("nan")]), "document 'a': its vector must be a row of finite numbers"),
        (Document("a", "text", vector="north"), "document 'a' cannot be stored"),
    ],
)
def test_what_cannot_be_stored_is_named(plain, document, message):
    with pytest.raises(KnowledgeBaseError, match=message):
        plain.add([document])
    assert plain.count() == 0


def test_metadata_of_every_kind_comes_back_as_json(plain):
    stored = {
        "none": None,
        "yes": True,
        "number": 7,
        "real": 0.5,
        "text": "é \U0001f6a2 \x00",
        "list": [1, [2, {"deep": None}]],
        "tuple": (1, 2),
        "set": {"b", "a"},
        "day": date(2026, 3, 1),
        "moment": datetime(2026, 3, 1, 12, tzinfo=UTC),
        "numpy": np.float32(0.5),
        "count": np.int64(3),
        "array": np.array([1, 2]),
        "frozen": MappingProxyType({"x": 1}),
        "ordered": OrderedDict(z=1, a=2),
    }
    original = dict(stored)
    plain.add([Document("a", "text", stored)])
    assert stored.keys() == original.keys()
    assert plain.get(["a"])["a"].metadata == {
        **{key: stored[key] for key in ("none", "yes", "number", "real", "text", "list")},
        "tuple": [1, 2],
        "set": ["a", "b"],
        "day": "2026-03-01",
        "moment": "2026-03-01T12:00:00+00:00",
        "numpy": 0.5,
        "count": 3,
        "array": [1, 2],
        "frozen": {"x": 1},
        "ordered": {"z": 1, "a": 2},
    }
    assert plain.add([Document("a", "text", dict(reversed(stored.items())))]) == Added(unchanged=1)


def test_odd_ids_and_texts_are_kept_exactly(plain):
    odd = ["a'b", 'a"b', "a;b", "a\nb", "ü", "%_", " ", "x" * 10_000, "\x00"]
    plain.add(Document(key, f"text\x00of {key}") for key in odd)
    assert list(plain.get(odd)) == odd
    assert plain.get([odd[0]])[odd[0]].text == f"text\x00of {odd[0]}"
    assert plain.delete(odd) == len(odd)


# Updating and deleting


def test_update_replaces_what_is_there_and_refuses_what_is_not(plain):
    plain.add(documents(2))
    assert plain.update([Document("d0", "new")]) == Added(updated=1)
    with pytest.raises(KnowledgeBaseError, match="cannot update what is not there: 'x', 'y'"):
        plain.update([Document("d1", "new"), Document("y", "new"), Document("x", "new")])
    assert plain.get(["d1"])["d1"].text == "passage number 1"


def test_delete_says_how_many_went_and_leaves_no_trace(kb, isles):
    before = {text: kb.search(text, recipe="hybrid").hits for text in ("tide gate", "ferry", "lighthouse")}
    kb.add([Document("light", "A lighthouse, a ferry and a tide gate."), Document("x", "harbour lighthouse")])
    assert kb.delete(["light", "x", "light", "nobody"]) == 2
    assert {text: kb.search(text, recipe="hybrid").hits for text in before} == before
    assert kb.delete(["light"]) == 0
    assert kb.vectors(["light"]) == {}
    assert kb.check() == []
    assert kb.delete(document.id for document in isles) == 5
    assert (kb.count(), kb.search("ferry").hits) == (0, ())
    assert kb.add(isles) == Added(added=5)
    assert {text: kb.search(text, recipe="hybrid").hits for text in before} == before


def test_the_version_grows_with_every_write(plain):
    versions = [plain.version]
    plain.add(documents(1))
    versions.append(plain.version)
    plain.delete(["d0"])
    versions.append(plain.version)
    assert versions == sorted(set(versions))


def test_a_write_that_changes_nothing_makes_no_version(plain):
    plain.replace("a.md", [Document("a", "one")])
    contributed = [Contribution("other", edges=(Edge("entity:a", "entity:b", "knows"),))]
    plain.contribute(contributed)
    version = plain.version
    for write in (
        lambda: plain.delete(["unknown"]),
        lambda: plain.delete(where={"year": 1974}),
        lambda: plain.replace("a.md", [Document("a", "one")]),
        lambda: plain.replace("none", []),
        lambda: plain.update([Document("a", "one", source="a.md")]),
        lambda: plain.remove_missing({"a.md": ["a"]}, other_sources=True),
        lambda: plain.contribute(contributed),
    ):
        write()
        assert plain.version == version
    plain.delete(["a"])
    assert plain.version == version + 1


# Files


def test_everything_is_there_when_the_file_is_opened_again(path, isles):
    with KnowledgeBase.open(path, analyzers=["nlp", "code"]) as kb:
        kb.add(isles)
        before, version = kb.search("tide gate").hits, kb.version
    with KnowledgeBase.open(path) as kb:
        assert kb.search("tide gate").hits == before
        assert (kb.version, kb.settings.analyzers) == (version, ("nlp", "code"))
        assert kb.settings.embedder == StaticEmbedder()
        assert kb.check() == []
    assert [file.name for file in path.parent.iterdir()] == ["kb.db"]


def test_a_temporary_knowledge_base_is_gone_when_closed():
    with KnowledgeBase.open(embedder=None) as kb:
        kb.add(documents(1))
        assert kb.path.exists()
    assert not kb.path.parent.exists()


def test_an_empty_path_is_not_taken_for_a_temporary_one():
    with pytest.raises(KnowledgeBaseError, match="cannot be opened"):
        KnowledgeBase.open("")


def test_a_closed_knowledge_base_says_so(plain):
    plain.close()
    plain.close()
    with pytest.raises(KnowledgeBaseError, match="has been closed"):
        plain.count()


@pytest.mark.parametrize("name", ["with space.db", "percent%41.db", "question?.db", "hash#.db", "é.db"])
def test_file_names_are_taken_as_they_are(tmp_path, name):
    with KnowledgeBase.open(tmp_path / name, embedder=None) as kb:
        kb.add(documents(1))
    assert [file.name for file in tmp_path.iterdir()] == [name]


def test_read_only_reads_and_does_not_write(path):
    with pytest.raises(KnowledgeBaseError, match="does not exist"):
        KnowledgeBase.open(path, read_only=True)
    assert not path.exists()
    with KnowledgeBase.open(path, embedder=None) as kb:
        kb.add(documents(3))
    with KnowledgeBase.open(path, read_only=True) as kb:
        assert (kb.count(), words(kb, "passag"), kb.check()) == (3, ["d0", "d1", "d2"], [])
        for write in (lambda: kb.add(documents(4)), lambda: kb.delete(["d0"])):
            with pytest.raises(KnowledgeBaseError, match="was opened read-only"):
                write()


READ_IN_A_LOCKED_FOLDER = """
import os, sys
from pathlib import Path
from hopweave.knowledge_base.connections import Connections
import urllib.parse  # pathlib imports it late, and the standard library may be in a private folder
os.setuid(65534)  # somebody to whom nothing here belongs
with Connections(Path(sys.argv[1]), busy_seconds=1, read_only=True).reading() as connection:
    print(connection.execute("SELECT count(*) FROM documents").fetchone()[0])
"""


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can become somebody else")
def test_a_file_can_be_read_where_nothing_can_be_written(path):
    with KnowledgeBase.open(path, embedder=None) as kb:
        kb.add(documents(3))
    folder = path.parent
    locked = folder / "locked"
    locked.mkdir()
    shutil.move(path, locked)
    for place in (locked, *locked.parents):
        if place.stat().st_uid == 0 and place != place.parent:
            place.chmod(0o555 if place == locked else place.stat().st_mode | 0o055)
    ran = subprocess.run(
        [sys.executable, "-c", READ_IN_A_LOCKED_FOLDER, str(locked / "kb.db")],
        capture_output=True,
        text=True,
        check=False,
    )
    locked.chmod(0o755)
    assert ran.stdout == "3\n", ran.stderr


def test_a_file_of_a_newer_hopweave_is_refused_untouched(path):
    KnowledgeBase.open(path, embedder=None).close()
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    connection.close()
    before = path.read_bytes()
    for read_only in (False, True):
        with pytest.raises(NewerSchema, match=f"has schema {SCHEMA_VERSION + 1}, .* up to {SCHEMA_VERSION}; upgrade"):
            KnowledgeBase.open(path, read_only=read_only)
    assert path.read_bytes() == before


def test_a_database_of_another_program_is_refused_untouched(path):
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE bookmarks (url TEXT)")
    connection.commit()
    connection.close()
    before = path.read_bytes()
    for read_only in (False, True):
        with pytest.raises(KnowledgeBaseError, match="is a database of another program"):
            KnowledgeBase.open(path, read_only=read_only)
    assert path.read_bytes() == before  # not even its journal mode


@pytest.mark.parametrize(
    "content", [b"just some text, not a database at all" * 100, b"SQLite format 3\x00" + b"x" * 5000]
)
def test_what_is_no_database_is_refused_untouched(path, content):
    path.write_bytes(content)
    for read_only in (False, True):
        with pytest.raises(KnowledgeBaseError, match=re.escape(str(path))):
            KnowledgeBase.open(path, read_only=read_only)
    assert path.read_bytes() == content


def test_an_empty_file_is_new_to_a_writer_and_nothing_to_a_reader(path):
    path.touch()
    with pytest.raises(EmptyFile, match="is empty; nothing has been indexed yet"):
        KnowledgeBase.open(path, read_only=True)
    with KnowledgeBase.open(path, embedder=None) as kb:
        assert kb.count() == 0


@pytest.mark.parametrize("place", ["", "no/such/folder/kb.db"])
def test_a_place_that_cannot_hold_a_file_is_named(tmp_path, place):
    with pytest.raises(KnowledgeBaseError, match="cannot be opened"):
        KnowledgeBase.open(tmp_path / place)


# Settings


def test_a_graph_begun_before_a_builder_had_a_parameter_says_so(path, caplog):
    KnowledgeBase.open(path).close()
    assert KnowledgeBase.open(path).close() is None
    assert caplog.messages == []
    with sqlite3.connect(path) as connection:
        values = read_settings(connection, path)
        del values["graph"][0]["repeated"]
        write_settings(connection, values)
    connection.close()
    with KnowledgeBase.open(path) as kb:
        assert kb.settings.builders[0].repeated
    (message,) = caplog.messages
    assert "the builder 'mentions' had no repeated" in message
    assert str(path) in message


def test_settings_hold_for_the_life_of_the_file(path):
    KnowledgeBase.open(path, analyzers=["nlp", "code"]).close()
    for how in ({}, {"embedder": StaticEmbedder()}, {"analyzers": ["code", "nlp"]}):
        with KnowledgeBase.open(path, **how) as kb:
            assert kb.settings.analyzers == ("nlp", "code")
    with pytest.raises(KnowledgeBaseError, match="is indexed with analyzers nlp, code, not light"):
        KnowledgeBase.open(path, analyzers=["light"])
    with pytest.raises(KnowledgeBaseError, match="holds vectors of 'wordllama-l2-supercat-256', not of 'lengths'"):
        KnowledgeBase.open(path, embedder=lengths)
    with pytest.raises(KnowledgeBaseError, match="holds vectors of 'wordllama-l2-supercat-256', not of 'given'"):
        KnowledgeBase.open(path, embedder=None)


def test_a_file_without_an_embedder_takes_none_later(path):
    KnowledgeBase.open(path, embedder=None).close()
    with KnowledgeBase.open(path) as kb:
        assert kb.settings.embedder is None
    with pytest.raises(KnowledgeBaseError, match="holds vectors of 'given'"):
        KnowledgeBase.open(path, embedder=StaticEmbedder())


@pytest.mark.parametrize("analyzers", [["klingon"], "nlp"])
def test_an_unknown_analyzer_leaves_nothing_settled(path, analyzers):
    with pytest.raises(ValueError, match="is unknown"):
        KnowledgeBase.open(path, analyzers=analyzers)
    with KnowledgeBase.open(path, analyzers=["light", "light"]) as kb:
        kb.add(documents(1))
        assert (kb.settings.analyzers, kb.check()) == (("light",), [])


def test_a_file_whose_making_was_cut_short_is_settled_by_the_next_to_come(path):
    KnowledgeBase.open(path, embedder=None).close()
    connection = sqlite3.connect(path)
    connection.execute("DELETE FROM settings")  # as if killed after the tables, before the settings
    connection.commit()
    connection.close()
    with KnowledgeBase.open(path, read_only=True) as kb:
        assert (kb.count(), kb.check()) == (0, [])
    with KnowledgeBase.open(path, analyzers=["code"]) as kb:
        kb.add(documents(1))
        assert kb.settings.embedder == StaticEmbedder()
        assert kb.check() == []
    with KnowledgeBase.open(path) as kb:
        assert kb.settings.analyzers == ("code",)


def test_of_two_that_settle_a_file_at_once_the_first_decides(path):
    with KnowledgeBase.open(path, embedder=None, analyzers=["code"]) as kb:
        later = {"analyzers": ["light"], "model": "other", "embedder": None, "graph": []}
        assert _settle(kb._connections, later)["analyzers"] == ["code"]


def test_a_function_as_embedder_has_to_be_given_again(path):
    with KnowledgeBase.open(path, embedder=lengths) as kb:
        kb.add(documents(2))
    with KnowledgeBase.open(path) as kb:
        assert kb.count() == 2
        assert kb.rank_vectors(np.ones(2, np.float32), top_k=5)
        with pytest.raises(KnowledgeBaseError, match="has no embedder; give the question a vector"):
            kb.embed("ferry")
        with pytest.raises(KnowledgeBaseError, match="its embedder 'lengths' is not in the file"):
            kb.add([Document("new", "text")])
        assert kb.add([Document("new", "text", vector=np.ones(2))], vectors_of="lengths") == Added(added=1)
        assert kb.check() == []
    with KnowledgeBase.open(path, embedder=lengths) as kb:
        assert kb.embed("four")[0] == "lengths"
        assert kb.add([Document("newer", "text")]) == Added(added=1)


def test_a_cascade_with_a_function_can_be_opened_again_too(path):
    cascade = Cascade(embedders=(CallableEmbedder(name="remote", function=lengths), StaticEmbedder()))
    with KnowledgeBase.open(path, embedder=cascade) as kb:
        kb.add(documents(1))
    with KnowledgeBase.open(path) as kb:
        assert (kb.settings.embedder, kb.settings.model) == (None, "remote")
    with KnowledgeBase.open(path, embedder=cascade) as kb:
        assert kb.embed("four")[0] == "remote"


def test_a_cascade_never_mixes_models(path):
    up = []

    def remote(texts):
        if not up:
            raise ConnectionError("down")
        return lengths(texts)

    cascade = Cascade(embedders=(CallableEmbedder(name="remote", function=remote), StaticEmbedder()))
    with KnowledgeBase.open(path, embedder=cascade) as kb:
        kb.add([Document("static", "a ferry")])
        up.append(True)
        kb.add([Document("remote", "a ferry")])
        assert [key for key, _ in kb.rank_vectors(np.ones(2, np.float32), top_k=5)] == ["remote"]
        both = kb.rank_vectors(np.ones(256, np.float32), model=StaticEmbedder().model_name, top_k=5)
        assert {key for key, _ in both} == {"static", "remote"}
        (problem,) = kb.check()
        assert problem.startswith("document 'static' has no vector of model 'remote'")


def test_vectors_of_the_wrong_size_are_refused_and_nothing_is_lost():
    with KnowledgeBase.open(embedder=None) as kb:
        kb.add([Document("a", "x", vector=[1.0, 0.0]), Document("plain", "y")])
        with pytest.raises(
            KnowledgeBaseError, match=r"document 'b': its vector has 3 numbers, .* model 'given' have 2"
        ):
            kb.add([Document("c", "x", vector=[1.0, 0.0]), Document("b", "x", vector=[1.0, 0.0, 0.0])])
        assert kb.count() == 2
        assert kb.vectors(["a", "plain"]).keys() == {"a"}
        assert kb.check() == []
    with KnowledgeBase.open() as kb, pytest.raises(KnowledgeBaseError, match=r"has 2 numbers, .* have 256"):
        kb.add([Document("a", "x"), Document("b", "x", vector=[1.0, 0.0])], vectors_of=kb.settings.model)


def test_embeddings_of_questions_are_cached():
    asked = []

    def counting(texts):
        asked.append(len(texts))
        return lengths(texts)

    with KnowledgeBase.open(embedder=counting) as kb:
        assert np.array_equal(kb.embed("four")[1], kb.embed("four")[1])
    assert asked == [1]


# Tenants


@pytest.fixture
def shared(plain):
    plain.add(
        [
            Document("ann", "tide", {"owner": "ann", "level": 1, "open": True}),
            Document("bob", "tide", {"owner": "bob", "level": 2, "open": False}),
            Document("both", "tide", {"owner": ["ann", "bob"]}),
            Document("nested", "tide", {"owner": {"name": "ann"}}),
            Document("nobody", "tide"),
        ]
    )
    return plain


@pytest.mark.parametrize(
    ("tenant", "expected"),
    [
        (None, {"ann", "bob", "both", "nested", "nobody"}),
        ({"owner": "ann"}, {"ann", "both"}),
        ({"owner": ["ann", "bob"]}, {"ann", "bob", "both"}),
        ({"owner": {"bob"}}, {"bob", "both"}),
        ({"owner": []}, set()),
        ({"owner": "eve"}, set()),
        ({"owner": "ann", "level": 1}, {"ann"}),
        ({"owner": "ann", "level": 2}, set()),
        ({"level": "1"}, set()),
        ({"open": False}, {"bob"}),
        ({"owner' OR 1=1 --": "x"}, set()),
        ({"owner": "x' OR '1'='1"}, set()),
        ({"owner.name": "ann"}, set()),
    ],
)
def test_a_tenant_sees_only_what_carries_its_values(shared, tenant, expected):
    assert {key for key, _ in shared.rank_text({"tide": 1.0}, analyzer="nlp", top_k=9, tenant=tenant)} == expected
    assert {key for key, _ in shared.rank_full_text('"tide"', top_k=9, tenant=tenant)} == expected
    assert shared.get(["ann", "bob", "both", "nested", "nobody"], tenant=tenant).keys() == expected
    assert shared.count(tenant=tenant) == len(expected)


@pytest.mark.parametrize(
    ("tenant", "message"),
    [
        ({'own"er': "ann"}, "must be a string without double quotes"),
        (
            {"owner": {"name": "ann"}},
            "a string, a number, a boolean or a list of them, but got {'name': 'ann'}",
        ),
        ({"owner": None}, "but got None"),
        ({"owner": [None]}, "but got None"),
    ],
)
def test_a_tenant_that_cannot_be_enforced_is_an_error(shared, tenant, message):
    with pytest.raises(ValueError, match=message):
        shared.rank_text({"tide": 1.0}, analyzer="nlp", top_k=9, tenant=tenant)


def test_tenants_follow_writes(shared):
    def seen():
        return {key for key, _ in shared.rank_text({"tide": 1.0}, analyzer="nlp", top_k=9, tenant={"owner": "ann"})}

    assert seen() == {"ann", "both"}
    shared.add([Document("ann", "tide", {"owner": "bob"}), Document("new", "tide", {"owner": "ann"})])
    assert seen() == {"both", "new"}


# Rankings


def test_ties_are_broken_by_id_even_at_the_cut(plain):
    plain.add(Document(key, "tide") for key in "fbdace")
    assert plain.rank_text({"tide": 1.0}, analyzer="nlp", top_k=3)[0][0] == "a"
    assert [key for key, _ in plain.rank_text({"tide": 1.0}, analyzer="nlp", top_k=3)] == ["a", "b", "c"]
    assert [key for key, _ in plain.rank_full_text('"tide"', top_k=3)] == ["a", "b", "c"]
    with KnowledgeBase.open(embedder=lambda texts: [[1.0, 2.0]] * len(texts)) as kb:
        kb.add(Document(key, "tide") for key in "fbdace")
        assert [key for key, _ in kb.rank_vectors(np.ones(2, np.float32), top_k=3)] == ["a", "b", "c"]


def test_a_title_is_searched_along_with_the_text(kb):
    assert words(kb, "mv") == ["petrel", "skua"]


# Above a size, in cells


def cloud(count, start=0):
    numbers = np.random.default_rng(start).normal(size=(count, 16)).astype(np.float32)
    return [Document(f"v{start + n}", f"point {start + n}", vector=row) for n, row in enumerate(numbers)]


def nearest(kb, document, top_k=1):
    return [key for key, _ in kb.rank_vectors(document.vector, top_k=top_k)]


def test_vectors_in_cells_are_kept_in_step(path):
    first, second = cloud(400), cloud(120, 1000)
    with KnowledgeBase.open(path, embedder=None, approximate_above=200) as kb:
        kb.add(first)
        kb.compact()
        assert all(nearest(kb, document) == [document.id] for document in first[::20])
        kb.add(second[:10])
        assert nearest(kb, second[3]) == [second[3].id]  # searched beside the cells
        with KnowledgeBase.open(path, read_only=True, approximate_above=200) as reader:
            assert nearest(reader, second[3]) == [second[3].id]
            assert kb.add(second).added == 110
            kb.compact()
            assert all(nearest(reader, document) == [document.id] for document in second)
            kb.delete([document.id for document in first[:200]])
            assert not {document.id for document in first[:200]} & set(nearest(reader, first[0], 300))
        assert len(nearest(kb, first[0], 1000)) == 320
        assert kb.check() == []
    with KnowledgeBase.open(path, approximate_above=200) as kb:
        assert all(nearest(kb, document) == [document.id] for document in second)
    with KnowledgeBase.open(path) as kb:  # below the size: exact
        assert nearest(kb, second[0], 300)[0] == second[0].id


# Threads and processes


def test_threads_read_while_one_writes(path):
    stop, errors, counts = threading.Event(), [], []
    with KnowledgeBase.open(path) as kb:
        kb.add(documents(20, "old"))

        def read():
            rounds = 0
            try:
                while not stop.is_set():
                    hits = kb.search("passage number 7", top_k=5).hits
                    assert len({hit.id for hit in hits}) == 5
                    assert len(kb.get(f"old{number}" for number in range(20))) == 20
                    assert kb.count() >= 20
                    rounds += 1
                counts.append(rounds)
            except Exception as error:
                errors.append(error)

        threads = [threading.Thread(target=read) for _ in range(4)]
        for thread in threads:
            thread.start()
        for number in range(15):
            kb.add(documents(10, f"new{number}-"), batch_size=5)
            kb.delete([f"new{number - 1}-0"])
        stop.set()
        for thread in threads:
            thread.join()
        assert errors == []
        assert min(counts) > 0
        assert kb.count() == 20 + 15 * 10 - 14
        assert kb.check() == []


def test_threads_may_write_at_the_same_time(plain):
    threads = [
        threading.Thread(target=lambda name=name: plain.add(documents(30, name), batch_size=7)) for name in "abcd"
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert plain.count() == 120
    assert plain.check() == []


WRITER = """
import sys
import hopweave.catalogue
from hopweave.document import Document
from hopweave.knowledge_base.store import KnowledgeBase
path, name = sys.argv[1:]
print("ready", flush=True)
sys.stdin.readline()
with KnowledgeBase.open(path, embedder=None) as kb:
    kb.add((Document(f"{name}{n}", f"passage {n} of {name}") for n in range(60)), batch_size=5)
"""


def test_processes_may_create_and_fill_the_same_file(path):
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, str(path), name], **pipes, text=True) for name in "abcd"]
    for writer in writers:
        assert writer.stdout.readline() == "ready\n"
    for writer in writers:
        writer.stdin.write("\n")
        writer.stdin.flush()  # all at the same moment
    assert [(writer.communicate()[1], writer.returncode) for writer in writers] == [("", 0)] * 4
    with KnowledgeBase.open(path, read_only=True) as kb:
        assert kb.count() == 240
        assert kb.check() == []


READER = """
import sys
from hopweave import KnowledgeBase
kb = KnowledgeBase.open(sys.argv[1], read_only=True)
for _ in sys.stdin:
    print(kb.count(), len(kb.rank_text({"passag": 1.0}, analyzer="nlp", top_k=99)), flush=True)
"""


def test_a_reader_in_another_process_sees_each_commit(path):
    with (
        KnowledgeBase.open(path, embedder=None) as kb,
        subprocess.Popen(
            [sys.executable, "-c", READER, str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
        ) as other,
    ):

        def seen():
            other.stdin.write("\n")
            other.stdin.flush()
            return other.stdout.readline().split()

        assert seen() == ["0", "0"]
        kb.add(documents(7))
        assert seen() == ["7", "7"]
        kb.delete(["d0"])
        kb.add([Document("d1", "nothing")])
        assert seen() == ["6", "5"]
        other.stdin.close()


def test_a_file_that_somebody_else_is_writing_is_busy(path):
    with KnowledgeBase.open(path, embedder=None, busy_seconds=0.2) as kb:
        kb.add(documents(3))
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        started = time.perf_counter()
        with pytest.raises(KnowledgeBaseBusy, match="another process is writing"):
            kb.add([Document("new", "text")])
        assert 0.1 < time.perf_counter() - started < 5
        assert (kb.count(), words(kb, "passag")) == (3, ["d0", "d1", "d2"])  # reading goes on
        other.execute("ROLLBACK")
        other.close()
        assert kb.add([Document("new", "text")]) == Added(added=1)


def test_a_conflict_that_arises_while_vectors_are_made_is_seen(path):
    rival = []

    def slow(texts):
        for kb in rival:
            rival.clear()
            kb.add([Document("a", "from the rival")])
        return lengths(texts)

    with (
        KnowledgeBase.open(path, embedder=slow) as kb,
        KnowledgeBase.open(path, embedder=CallableEmbedder(name="slow", function=lengths)) as other,
    ):
        rival.append(other)
        assert kb.add([Document("a", "from us"), Document("b", "from us")], on_conflict="skip") == Added(1, 0, 1)
        assert kb.get(["a"])["a"].text == "from the rival"
        kb.delete(["a"])
        rival.append(other)
        with pytest.raises(KnowledgeBaseError, match="already there: 'a'"):
            kb.add([Document("a", "from us"), Document("c", "from us")], on_conflict="fail")
        assert kb.get(["a", "c"]).keys() == {"a"}


def test_a_question_object_can_be_searched_for(kb):
    assert ids(kb, Query("ferry", filters={"type": "notice"})) == ["notice"]


def test_search_takes_filters_and_a_tenant():
    with KnowledgeBase.open() as kb:
        kb.add(
            Document(key, "A ferry.", {"owner": owner, "year": year})
            for key, owner, year in (("a", "ann", 1974), ("b", "bob", 1974), ("c", "ann", 1999))
        )
        assert {hit.id for hit in kb.search("ferry", tenant={"owner": "ann"}).hits} == {"a", "c"}
        assert {hit.id for hit in kb.search("ferry", filters={"year": 1974}).hits} == {"a", "b"}
        asked = Query("ferry", tenant={"owner": "ann"}, filters={"year": 1999})
        assert {hit.id for hit in kb.search(asked).hits} == {"c"}
        assert {hit.id for hit in kb.search(asked, filters={"year": 1974}).hits} == {"a"}
        assert {hit.id for hit in kb.search(asked, filters={}, tenant={"owner": "bob"}).hits} == {"b"}


def test_an_embedder_called_default_is_no_word_for_the_files_own():
    with pytest.raises((TypeError, ValueError, KnowledgeBaseError)):
        KnowledgeBase.open(embedder="default")
