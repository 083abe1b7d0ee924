"""Compaction: the same answers before and after, from every process; `vacuum` leaves nothing of what was deleted."""

import gc
import json
import logging
import os
import random
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from hopweave.cli import main
from hopweave.document import Document
from hopweave.errors import KnowledgeBaseBusy, KnowledgeBaseError
from hopweave.graph.model import Contribution, Edge
from hopweave.knowledge_base import compaction, connections
from hopweave.knowledge_base.images import ImageFolder
from hopweave.knowledge_base.store import KnowledgeBase

WORDS = ("tide", "gate", "ferry", "skua", "hallow", "isle", "storm", "quay", "rope", "mast", "wind", "sail")
QUESTIONS = ("tide gate", "storm over the isle", "ferry to Hallow 17")


def documents(count, start=0):
    chance = random.Random(start)
    return [
        Document(f"d{n}", f"{' '.join(chance.choices(WORDS, k=8))} Hallow {n % 40}.", {"title": f"Isle {n}"})
        for n in range(start, start + count)
    ]


def answers(kb):
    # not multihop, whose walk may be cut short by the clock on a busy machine; its graph instead
    ranked = [[(hit.id, hit.score) for hit in kb.search(question, recipe="hybrid").hits] for question in QUESTIONS]
    return [*ranked, sorted(filter(None, kb.graph.ids))]


def images(path):
    return sorted(file.name for file in ImageFolder(path).folder.glob("*.image"))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "a.db"


@pytest.fixture
def changed(path):
    """A file that was compacted, and then changed."""
    with KnowledgeBase.open(path) as kb:
        kb.add(documents(120))
        kb.compact()
        kb.add(documents(10, 200))
        kb.delete([f"d{n}" for n in range(0, 60, 7)])
    return path


@pytest.fixture
def expected(changed, tmp_path):
    """The answers of a file into which only what is left was put."""
    with KnowledgeBase.open(changed, read_only=True) as kb, KnowledgeBase.open(tmp_path / "fresh.db") as fresh:
        fresh.add(kb.documents())
        return answers(fresh)


def test_base_and_delta_answer_like_a_fresh_file(changed, expected):
    with KnowledgeBase.open(changed, read_only=True) as kb:
        assert answers(kb) == expected
        assert kb.check() == []


def test_compacting_changes_no_answer_and_no_version(changed, expected):
    with KnowledgeBase.open(changed) as kb, KnowledgeBase.open(changed, read_only=True) as reader:
        before, version = images(changed), kb.version
        assert answers(reader) == expected
        kb.compact()
        assert answers(kb) == answers(reader) == expected
        assert kb.version == version
        assert not set(before) & set(images(changed))
        kb.add(documents(1, 500))
        kb.delete(["d500"])
        assert answers(reader) == expected  # follows
    with KnowledgeBase.open(changed, read_only=True) as kb:
        assert answers(kb) == expected


def test_the_folder_may_be_deleted(changed, expected, caplog):
    shutil.rmtree(ImageFolder(changed).folder)
    with caplog.at_level(logging.WARNING), KnowledgeBase.open(changed, read_only=True) as kb:
        assert answers(kb) == expected
        assert not ImageFolder(changed).folder.exists()
    said = [record.getMessage() for record in caplog.records]
    assert said == [f"{changed}: index images are missing or cannot be used; hopweave compact writes them"]
    with KnowledgeBase.open(changed) as kb:
        kb.compact()
        assert images(changed)
        assert answers(kb) == expected


@pytest.mark.parametrize("place", [0, 40, 900, -1])
def test_a_damaged_image_is_made_again_and_said(place, changed, expected, caplog):
    for name in images(changed):
        file = ImageFolder(changed).folder / name
        content = bytearray(file.read_bytes())
        content[place] ^= 1
        file.write_bytes(content)
    with caplog.at_level(logging.WARNING), KnowledgeBase.open(changed) as kb:
        assert answers(kb) == expected
        assert len(caplog.records) == 1
        assert "images are missing or cannot be used" in caplog.text
        kb.compact()
        caplog.clear()
        assert answers(kb) == expected
    with KnowledgeBase.open(changed, read_only=True) as kb:
        assert answers(kb) == expected
    assert not caplog.text


def test_a_copy_without_its_images_works_and_one_beside_other_images_too(changed, expected, tmp_path, caplog):
    other = tmp_path / "b.db"
    with KnowledgeBase.open(other) as kb:
        kb.add(documents(5, 900))
        kb.compact()
    for file in tmp_path.glob("b.db*"):
        if file.is_file():
            file.unlink()
    shutil.copy(changed, other)  # beside the images of what was there before
    with KnowledgeBase.open(other, read_only=True) as kb:
        assert answers(kb) == expected
    assert "images are missing or cannot be used" in caplog.text


def test_missing_images_are_noted_by_check_and_written_if_needed(changed, expected, tmp_path, capsys):
    copy = tmp_path / "copy.db"
    shutil.copy(changed, copy)
    assert main(["check", "--kb", str(copy)]) == 0
    said = capsys.readouterr()
    assert "copy.db: sound" in said.out
    assert "4 of 4 index images are missing (graph, latent:nlp, text:nlp, vectors:" in said.err
    with KnowledgeBase.open(copy) as kb:
        kb.compact(if_needed=True)
        first = images(copy)
        assert len(first) == 4
        kb.compact(if_needed=True)
        assert images(copy) == first
        assert answers(kb) == expected
        assert kb.check_notes() == []


def test_missing_images_are_written_in_the_background_by_who_writes(changed):
    shutil.rmtree(ImageFolder(changed).folder)
    with KnowledgeBase.open(changed) as kb:
        kb.add(documents(1, 900))
        kb._compaction.wait()
        assert len(images(changed)) == 4
        assert kb.check() == kb.check_notes() == []
        first = images(changed)
        kb.add(documents(1, 901))
        kb._compaction.wait()
        assert images(changed) == first


@pytest.mark.parametrize("how", ["truncated", "damaged"])
def test_an_unusable_image_is_named_with_its_mend_and_written_if_needed(changed, how):
    name = next(name for name in images(changed) if name.startswith("text"))
    file = ImageFolder(changed).folder / name
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content[:-500] if how == "truncated" else content)
    with KnowledgeBase.open(changed) as kb:
        (problem,) = kb.check()
        assert f"image {name} cannot be used, and hopweave compact writes it again: " in problem
        kb.compact(if_needed=True)
        assert name not in images(changed)
        assert kb.check() == []


def test_what_a_killed_compaction_left_is_noted_and_removed_by_the_next(changed, capsys):
    program = """if True:
        import os, sys
        from hopweave import KnowledgeBase
        from hopweave.knowledge_base import compaction
        compaction.replace = lambda *_: os.kill(os.getpid(), 9)
        with KnowledgeBase.open(sys.argv[1]) as kb:
            kb.compact()
    """
    child = subprocess.run([sys.executable, "-c", program, changed], check=False)
    assert child.returncode == -9
    assert len(images(changed)) == 8
    assert main(["check", "--kb", str(changed)]) == 0
    assert "4 files in" in (said := capsys.readouterr().err)
    assert "the next hopweave compact removes them" in said
    assert main(["compact", "--kb", str(changed)]) == 0
    assert len(images(changed)) == 4
    capsys.readouterr()
    assert main(["check", "--kb", str(changed)]) == 0
    assert capsys.readouterr().err == ""


def test_in_the_background_when_a_share_has_changed(path, monkeypatch):
    monkeypatch.setattr(compaction, "_MIN_CHANGES", 20)
    with KnowledgeBase.open(path) as kb:
        kb.add(documents(10))
        kb._compaction.wait()
        assert images(path) == []
        kb.add(documents(300, 10))
        kb._compaction.wait()
        first = images(path)
        assert first
        kb.add(documents(10, 400))
        kb._compaction.wait()
        assert images(path) == first  # 10 of 310
        kb.delete([f"d{n}" for n in range(25)])
        kb._compaction.wait()
        kept = set(images(path)) & set(first)
        assert {name.partition("-")[0] for name in kept} == {"latent"}  # which is learned anew less often
        expected = answers(kb)
    with KnowledgeBase.open(path, read_only=True) as kb:
        assert answers(kb) == expected


def test_a_temporary_one_only_after_documents_were_removed(monkeypatch):
    monkeypatch.setattr(compaction, "_MIN_CHANGES", 20)
    with KnowledgeBase.open() as kb:
        kb.add(documents(300))
        kb._compaction.wait()
        assert images(kb.path) == [], "nobody opens it again, and all of it is in memory"
        kb.delete([f"d{n}" for n in range(25)])
        kb._compaction.wait()
        assert images(kb.path)


def test_a_program_that_ends_leaves_no_half_made_image(path, monkeypatch):
    monkeypatch.setattr(compaction, "_MIN_CHANGES", 20)
    with KnowledgeBase.open(path) as kb:
        kb.add(documents(100))
    assert images(path)
    assert not list(ImageFolder(path).folder.glob("*.unfinished"))


def test_leftovers_are_removed(changed):
    folder = ImageFolder(changed).folder
    for name in ("text-nlp-1-000000000000.image", "x.image-1.unfinished"):
        (folder / name).write_bytes(b"half")
    with KnowledgeBase.open(changed) as kb:
        kb.compact()
    assert "text-nlp-1-000000000000.image" not in images(changed)
    assert not list(folder.glob("*.unfinished"))


def test_one_compaction_at_a_time(changed):
    with ImageFolder(changed).locked() as mine, KnowledgeBase.open(changed, busy_seconds=0.2) as kb:
        assert mine
        with pytest.raises(KnowledgeBaseBusy, match="another process is compacting"):
            kb.compact()


def test_only_read(changed):
    with (
        KnowledgeBase.open(changed, read_only=True) as kb,
        pytest.raises(KnowledgeBaseError, match="was opened read-only"),
    ):
        kb.compact()


def test_nothing_to_compact(path):
    with KnowledgeBase.open(path) as kb:
        kb.compact()
        assert answers(kb) == [[]] * 4
        kb.add(documents(3))
        kb.compact()
        kb.delete(["d0", "d1", "d2"])
        kb.compact()
        assert answers(kb) == [[]] * 4
        assert all((ImageFolder(path).folder / name).stat().st_size < 30_000 for name in images(path))
        kb.add(documents(3))
        assert answers(kb)[0]


# Deleting deletes

SECRETS = ("zanzibarquux", "flurbodroxi", "vorpalsnark", "anzibarqu", "urbodrox")


def found_in_bytes(folder, vectors):
    """Which secrets are anywhere in the files, and which of the vectors."""
    found = set()
    for file in (file for file in folder.rglob("*") if file.is_file()):
        content = file.read_bytes()
        found |= {secret for secret in SECRETS if secret.encode() in content.lower()}
        found |= {
            f"vector {n}" for n, vector in enumerate(vectors) if vector[:64] in content or vector[-64:] in content
        }
    return found


@pytest.mark.parametrize("count", [1, 60])
def test_nothing_of_a_deleted_document_is_in_any_file(count, path, tmp_path):
    secret = [
        Document(
            f"s{n}",
            f"Zanzibarquux{n}, the plan of Zanzibarquux, is flurbodroxi{n}. " + "lorem ipsum " * (n * 11),
            {"title": "Zanzibarquux", "note": "vorpalsnark", "links": ["zanzibarquux.md"]},
        )
        for n in range(count)
    ]
    with KnowledgeBase.open(path) as kb, KnowledgeBase.open(path, read_only=True) as reader:
        kb.add(documents(400))
        kb.add(secret)
        kb.compact()
        kb.add(documents(400, 1000))
        stored = list(kb.vectors(document.id for document in secret).values())
        unit = [(vector / np.linalg.norm(vector.astype(np.float64))).astype(np.float32) for vector in stored]
        vectors = [vector.tobytes() for vector in (*stored, *unit)]
        assert set(SECRETS[:3]) <= found_in_bytes(tmp_path, vectors)
        assert reader.search("Zanzibarquux").hits
        assert kb.delete([document.id for document in secret]) == count
        kb.compact(vacuum=True)
        assert found_in_bytes(tmp_path, vectors) == set()
        assert kb.check() == []
        assert not [hit for hit in reader.search("Zanzibarquux").hits if hit.id.startswith("s")]
    assert found_in_bytes(tmp_path, vectors) == set()


# Writing the file anew, which keeps other writers waiting, only if asked


@pytest.fixture
def statements(monkeypatch):
    """What SQLite executes on connections opened from now on."""
    executed, connect = [], connections.connect

    def traced(*place, **how):
        connection = connect(*place, **how)
        connection.set_trace_callback(executed.append)
        return connection

    monkeypatch.setattr(connections, "connect", traced)
    return executed


def free_pages(kb):
    with kb._connections.reading() as connection:
        return connection.execute("PRAGMA freelist_count").fetchone()[0]


@pytest.mark.parametrize("rebuild", [False, True])
def test_compaction_never_writes_the_file_anew_unless_asked(rebuild, path, statements, caplog):
    with KnowledgeBase.open(path) as kb:
        kb.add(documents(300))
        assert not kb.deleted_remains
        kb.delete([f"d{n}" for n in range(200)])
        with caplog.at_level(logging.INFO, "hopweave"):
            kb.compact(rebuild=rebuild)
        assert "VACUUM" not in statements
        assert free_pages(kb) > 10
        assert [record.levelname for record in caplog.records] == ["INFO"]
        assert "remains of deleted or replaced documents may still be in the file or its images" in caplog.text
        assert "compact(vacuum=True)" in caplog.text
        assert kb.info()["deleted_remains"] is kb.deleted_remains is True
        caplog.clear()
        size = path.stat().st_size
        with caplog.at_level(logging.INFO, "hopweave"):
            kb.compact(rebuild=rebuild, vacuum=True)
        assert statements.count("VACUUM") == 1
        assert free_pages(kb) == 0
        assert path.stat().st_size < size
        assert Path(f"{path}-wal").stat().st_size == 0
        assert caplog.records == []
        assert kb.info()["deleted_remains"] is kb.deleted_remains is False
        assert kb.check() == []
    with KnowledgeBase.open(path, read_only=True) as kb:
        assert kb.info()["deleted_remains"] is False


def test_what_leaves_remains(path):
    with KnowledgeBase.open(path) as kb:

        def remains():
            kb.compact()
            return kb.deleted_remains

        kb.add(documents(5))
        kb.contribute([Contribution("other", edges=(Edge("entity:a", "entity:b", "knows"),))])
        assert not remains()
        kb.add(documents(5))  # nothing has changed
        kb.delete(["unknown"])
        assert not remains()
        for change in (
            lambda: kb.delete(["d0"]),
            lambda: kb.add([Document("d1", "Another text.")]),
            lambda: kb.update([Document("d2", "Yet another text.")]),
            lambda: kb.contribute([Contribution("other", edges=(Edge("entity:a", "entity:c", "knows"),))]),
            lambda: kb.delete(["other"]),
        ):
            change()
            assert remains()
            kb.compact(vacuum=True)
            assert not kb.deleted_remains
            kb.add([Document(f"new{kb.version}", "An addition leaves nothing behind.")])
            assert not remains()


def test_if_needed_writes_the_file_anew_if_something_was_deleted(path, statements):
    with KnowledgeBase.open(path) as kb:
        kb.add(documents(30))
        kb.compact(if_needed=True, vacuum=True)
        assert "VACUUM" not in statements
        first = images(path)
        assert first
        kb.delete(["d3"])
        kb.compact(if_needed=True)
        assert (images(path), "VACUUM" in statements, kb.deleted_remains) == (first, False, True)
        kb.compact(if_needed=True, vacuum=True)
        assert not set(images(path)) & set(first)  # they had words of the document
        assert (statements.count("VACUUM"), kb.deleted_remains) == (1, False)
        kb.compact(if_needed=True, vacuum=True)
        assert statements.count("VACUUM") == 1
        kb.compact(vacuum=True)
        assert statements.count("VACUUM") == 2


def test_remains_are_not_denied_while_a_reader_keeps_them_in_the_file(changed):
    reader = sqlite3.connect(changed, isolation_level=None)
    with KnowledgeBase.open(changed, busy_seconds=0.2) as kb:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM documents").fetchone()
        with pytest.raises(KnowledgeBaseBusy, match="a reader keeps its log in use, with what it held; compact again"):
            kb.compact(vacuum=True)
        assert kb.deleted_remains
        reader.close()
        kb.compact(vacuum=True)
        assert not kb.deleted_remains


def test_others_write_while_a_compaction_waits_for_a_reader(changed, monkeypatch):
    reader = sqlite3.connect(changed, isolation_level=None)
    with (
        KnowledgeBase.open(changed, busy_seconds=1) as kb,
        KnowledgeBase.open(changed, busy_seconds=0) as writer,
    ):
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM documents").fetchone()

        def in_between(seconds):
            if seconds == compaction._RETRY_SECONDS:
                writer.add([Document("meanwhile", "Written at once.")])
                reader.close()

        monkeypatch.setattr(compaction, "sleep", in_between)
        kb.compact()
        assert "meanwhile" in kb.ids()
    assert not Path(f"{changed}-wal").exists()


def test_commands_say_whether_remains_may_be_there(changed, capsys):
    def printed(*arguments):
        assert main([*arguments, "--kb", str(changed)]) == 0
        return capsys.readouterr()

    assert (
        "remains of deleted or replaced documents: may be in the file or its images; hopweave compact --kb"
        in printed("info").out
    )
    assert json.loads(printed("info", "--json").out)["deleted_remains"] is True
    said = printed("compact").err.splitlines()
    assert len(said) == 1
    assert said[0].endswith(f"in the file or its images; remove them with: hopweave compact --kb {changed} --vacuum")
    done = printed("compact", "--vacuum")
    assert done.err == ""
    assert "nothing of deleted documents is left" in done.out
    assert "remains of deleted or replaced documents: none\n" in printed("info").out
    assert json.loads(printed("info", "--json").out)["deleted_remains"] is False
    assert printed("compact").err == ""


def test_if_needed_only_writes_what_is_missing_or_old(path, monkeypatch):
    monkeypatch.setattr(compaction, "_MIN_CHANGES", 20)
    with KnowledgeBase.open(path) as kb:
        kb.add(documents(10))
        kb.compact(if_needed=True)
        first = images(path)
        assert first
        kb.add(documents(5, 50))
        kb.compact(if_needed=True)
        assert images(path) == first
        kb.compact()
        assert not set(images(path)) & set(first)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="open files are read from /proc")
def test_images_that_were_replaced_are_not_kept_open(changed):
    def opened():
        links = [os.path.realpath(file) for file in Path("/proc/self/fd").iterdir()]
        return sorted(Path(link).name for link in links if ".image" in link and str(changed.parent) in link)

    gc.collect()
    gc.disable()  # an index that is replaced refers to nothing that refers to it, so it goes at once
    try:
        with KnowledgeBase.open(changed) as kb, KnowledgeBase.open(changed, read_only=True) as reader:
            for start in range(1000, 1004):
                kb.add(documents(3, start))
                kb.compact()
                assert answers(kb) == answers(reader)
                assert 0 < len(opened()) <= 2 * len(images(changed))  # of each index one, in either
    finally:
        gc.enable()
