"""A file restored from another while others use it, or after a writer was killed: one content or the other."""

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path
from threading import Thread

import pytest

from hopweave import Document, KnowledgeBase, Pipeline, QueryCache
from hopweave.cli import main
from hopweave.errors import EmptyFile, KnowledgeBaseBusy, KnowledgeBaseError
from hopweave.knowledge_base import restore
from hopweave.knowledge_base.images import ImageFolder

READER = """
import json, sys
from hopweave import KnowledgeBase, Pipeline, QueryCache
with KnowledgeBase.open(sys.argv[1], read_only=sys.argv[2] == "True") as kb:
    pipelines = [Pipeline(name, kb, cache=QueryCache()) for name in ("hybrid", "multihop")]
    for question in sys.stdin:
        hits = [hit for one in pipelines for hit in one.run(question.strip()).hits]
        names = sorted(name for name in kb.graph.ids if name.startswith("entity:"))
        print(json.dumps([sorted({hit.text for hit in hits}), names, kb.check()]), flush=True)
"""
WRITER = """
import sys
from hopweave import Document, KnowledgeBase
kb = KnowledgeBase.open(sys.argv[1])
kb.add([Document(f"d{n}", f"The blue tug {n} sails to Tern.") for n in range(20)])
kb.delete(["d3"])
print("written", flush=True)
sys.stdin.read()
"""


def filled(path, colour, count=20):
    """Files with equal ids, versions and numbers of rows: nothing but the content tells them apart."""
    with KnowledgeBase.open(path) as kb:
        kb.add([Document(f"{colour[0]}{n}", f"The {colour} ferry {n} of {colour.title()}isle.") for n in range(count)])
        kb.compact()
    return path


@pytest.fixture
def files(tmp_path):
    return filled(tmp_path / "kb.db", "blue"), filled(tmp_path / "new.db", "green")


def process(program, *arguments):
    command = [sys.executable, "-c", program, *map(str, arguments)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def ask(reader, question="ferry 3"):
    print(question, file=reader.stdin, flush=True)
    return json.loads(reader.stdout.readline())


@pytest.mark.parametrize("read_only", [True, False])
def test_a_reader_in_another_process_follows(files, read_only):
    blue, green = files
    with process(READER, blue, read_only) as reader:
        texts, names, problems = ask(reader)
        assert all("blue" in text for text in texts)
        assert problems == []
        assert main(["restore", str(green), "--kb", str(blue)]) == 0
        texts, new_names, problems = ask(reader)
        assert texts
        assert all("green" in text for text in texts)
        assert new_names
        assert not set(names) & set(new_names)
        assert problems == []
        with KnowledgeBase.open(blue) as kb:
            kb.add([Document("late", "The late ferry of Redisle.")])
            kb.delete(["g3"])
        texts, *_, problems = ask(reader, "late ferry")
        assert "The late ferry of Redisle." in texts
        assert not any("ferry 3 " in text for text in texts)
        assert problems == []
        reader.stdin.close()
    assert sorted(file.name for file in blue.parent.iterdir() if file.is_file()) == ["kb.db", "new.db"]


def test_what_is_held_and_cached_here_is_not_taken_for_the_new_content(files):
    blue, green = files
    with KnowledgeBase.open(blue) as kb, KnowledgeBase.open(blue, read_only=True) as reader:
        pipelines = [Pipeline("multihop", one, cache=QueryCache()) for one in (kb, reader)]
        for pipeline in pipelines:
            assert all("blue" in hit.text for hit in pipeline.run("ferry").hits)
        before = kb.version
        with kb.one_version():
            with KnowledgeBase.open(blue) as other:
                other.restore(green)
            assert all("blue" in hit.text for hit in kb.search("ferry 4", recipe="multihop").hits)
        assert kb.version > before
        for pipeline in pipelines:
            assert all("green" in hit.text for hit in pipeline.run("ferry").hits)
        assert kb.ids() == [f"g{n}" for n in range(20)]
        assert kb.check() == kb.check_notes() == []
        with KnowledgeBase.open(green) as fresh:
            assert kb.search("ferry 7", recipe="hybrid").hits == fresh.search("ferry 7", recipe="hybrid").hits
            assert sorted(filter(None, kb.graph.ids)) == sorted(filter(None, fresh.graph.ids))
        kb.restore(green)  # the same again
        assert kb.search("ferry 7", recipe="hybrid").hits[0].id == "g7"


def test_without_new_images_neither_the_old_ones_nor_what_is_held_are_taken(files, monkeypatch, caplog):
    blue, green = files

    def full(*_, **__):
        raise KnowledgeBaseError("no space left")

    with KnowledgeBase.open(blue) as kb, KnowledgeBase.open(green) as fresh:
        for one in (kb, fresh):
            one.delete([f"{one.ids()[0][0]}{n}" for n in (5, 19)])
        kb.add([Document("b5", "The blue ferry 5 of Whiteisle.")])
        assert kb.search("ferry 7", recipe="multihop").hits
        shutil.copytree(f"{green}-index", f"{blue}-index", dirs_exist_ok=True)  # as if they were its own
        with monkeypatch.context() as patch:
            patch.setattr(ImageFolder, "write", full)
            kb.restore(green)
        assert "its index images could not be written: no space left" in caplog.text
        assert set(kb.info()["changed"].values()) == {1.0}
        for round_ in range(2):
            for recipe in ("hybrid", "multihop"):
                hits = [one.search(f"ferry {round_}", recipe=recipe).hits for one in (kb, fresh)]
                assert [hit.id for hit in hits[0]] == [hit.id for hit in hits[1]]
            assert sorted(filter(None, kb.graph.ids)) == sorted(filter(None, fresh.graph.ids))
            for one in (kb, fresh):
                one.add([Document("late", "The late ferry of Redisle.")])
                one.delete(["g7"])
        assert kb.check() == []
        kb.compact()
        assert kb.check() == kb.check_notes() == []


def test_the_log_of_a_killed_writer_is_not_applied_to_the_new_content(files):
    blue, green = files
    with process(WRITER, blue) as writer:
        assert writer.stdout.readline() == "written\n"
        writer.kill()
    assert Path(f"{blue}-wal").stat().st_size
    assert main(["restore", str(green), "--kb", str(blue)]) == 0
    with KnowledgeBase.open(blue, read_only=True) as kb:
        assert kb.check() == []
        assert kb.ids() == [f"g{n}" for n in range(20)]
        assert all("green" in hit.text for hit in kb.search("ferry or tug").hits)
    assert not Path(f"{blue}-wal").exists()


def test_a_log_of_the_other_file_is_restored_with_it(files):
    blue, green = files
    with process(WRITER, green) as writer:
        assert writer.stdout.readline() == "written\n"
        assert main(["restore", str(green), "--kb", str(blue)]) == 0
        writer.kill()
    with KnowledgeBase.open(blue, read_only=True) as kb:
        assert "d4" in kb.ids()
        assert kb.check() == []


def test_writers_in_between_take_turns(files, monkeypatch):
    """Whatever is written until the new content is in place counts for its version."""
    blue, green = files
    with KnowledgeBase.open(blue) as kb:
        put = restore.put_in_place

        def late(connections, copy):
            for n in range(30):
                kb.add([Document(f"late{n}", "The late ferry.")])
            put(connections, copy)

        monkeypatch.setattr("hopweave.knowledge_base.store.put_in_place", late)
        version = kb.version
        threads = [Thread(target=kb.add, args=([Document(f"t{n}", "A tug.")],)) for n in range(4)]
        for thread in threads:
            thread.start()
        kb.restore(green)
        for thread in threads:
            thread.join()
        assert kb.version > version + 30
        assert {key for key in kb.ids() if not key.startswith("t")} == {f"g{n}" for n in range(20)}
        assert kb.check() == []


def test_a_writer_that_does_not_end_is_busy(files):
    blue, green = files
    writer = sqlite3.connect(blue, isolation_level=None)
    with KnowledgeBase.open(blue, busy_seconds=0.2) as kb:
        writer.execute("BEGIN IMMEDIATE")
        with pytest.raises(KnowledgeBaseBusy, match="another process is writing"):
            kb.restore(green)
        writer.close()
        assert kb.ids()[0] == "b0"
        assert kb.check_notes() == []


def test_killed_in_the_middle_it_leaves_the_old_content(files):
    blue, green = files
    program = """if True:
        import os, sys
        from hopweave import KnowledgeBase
        from hopweave.knowledge_base import restore
        restore._renew = lambda *_: os.kill(os.getpid(), 9)
        with KnowledgeBase.open(sys.argv[1]) as kb:
            kb.restore(sys.argv[2])
    """
    assert process(program, blue, green).wait(60) == -signal.SIGKILL
    with KnowledgeBase.open(blue) as kb:
        assert kb.check() == []
        assert "compaction that was killed" in kb.check_notes()[0]
        assert all("blue" in hit.text for hit in kb.search("ferry").hits)
        kb.compact()
        assert kb.check_notes() == []


def test_what_must_not_be_restored_is_refused_and_nothing_is_changed(files, tmp_path, capsys):
    blue, green = files
    damaged, foreign, other, empty = (tmp_path / name for name in ("damaged.db", "foreign.db", "other.db", "empty.db"))
    shutil.copy(green, damaged)
    connection = sqlite3.connect(damaged)
    connection.execute("UPDATE vectors SET vector = zeroblob(1024) WHERE row = 5")
    connection.commit()
    connection.close()
    connection = sqlite3.connect(foreign)
    connection.execute("CREATE TABLE cats (name)")
    connection.close()
    KnowledgeBase.open(other, embedder=None, builders=[]).close()
    empty.touch()
    (tmp_path / "text.db").write_text("no database at all " * 100)
    with KnowledgeBase.open(blue) as kb:
        before = kb.version, kb.ids()
        for file, reason in (
            (damaged, "is damaged; hopweave check lists all damage: document 'g4' has another vector"),
            (foreign, "is a database of another program"),
            (other, r"was made with other settings than .* \(embedder, model, graph\)"),
            (tmp_path / "text.db", "is not a hopweave knowledge base"),
            (tmp_path / "missing.db", "does not exist"),
            (blue, "is .* itself"),
        ):
            with pytest.raises(KnowledgeBaseError, match=reason):
                kb.restore(file)
        with pytest.raises(EmptyFile):
            kb.restore(empty)
        assert (kb.version, kb.ids()) == before
        assert kb.check() == kb.check_notes() == []
    with KnowledgeBase.open(blue, read_only=True) as kb, pytest.raises(KnowledgeBaseError, match="opened read-only"):
        kb.restore(green)
    assert main(["restore", str(green), "--kb", str(tmp_path / "missing.db")]) == 1
    assert "missing.db: does not exist; copy" in capsys.readouterr().err
    assert not os.path.exists(tmp_path / "missing.db")
