"""A forked child shares neither connections nor locks with its parent: nothing is lost, nothing hangs."""

import os
import signal
import subprocess
import sys
import threading
import time
import traceback
from pathlib import Path

import pytest

from hopweave import Document, KnowledgeBase, Pipeline, QueryCache
from hopweave.errors import KnowledgeBaseError
from hopweave.knowledge_base import connections
from hopweave.knowledge_base.shared import open_shared

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing forks here"),
    pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning"),
]


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "a.db"
    with KnowledgeBase.open(path) as kb:
        kb.add([Document(f"d{n}", f"The ferry {n} calls at Hallow.", {"title": f"Ferry {n}"}) for n in range(30)])
    return path


def forked(work, seconds=60):
    """Do something in a child; its process id, to be handed to `ended`."""
    child = os.fork()
    if child == 0:
        signal.alarm(seconds)  # a child that hangs is ended by the system
        status = 1
        try:
            work()
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)
    return child


def ended(child):
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_a_child_writes_and_its_parent_closes(path, attempts):
    for round_ in range(attempts(5, 60)):
        with KnowledgeBase.open(path) as kb:
            kb.add([Document(f"parent{round_}", "A tug of the parent.")])
            kb.search("tug")

            def write(kb=kb, round_=round_):
                for number in range(20):
                    kb.add([Document(f"child{round_}-{number}", f"A tug of the child {number}.")])

            child = forked(write)
            kb.add([Document(f"both{round_}", "A tug of both.")])
        assert ended(child) == 0
        with KnowledgeBase.open(path) as kb:
            ids = set(kb.ids())
            assert {f"parent{round_}", f"both{round_}", *(f"child{round_}-{n}" for n in range(20))} <= ids
            assert kb.check() == []


def test_many_children_and_the_parent_write_at_once(path):
    with KnowledgeBase.open(path) as kb:

        def write(who):
            for number in range(10):
                kb.add([Document(f"{who}-{number}", f"A tug of {who}.")])
                assert kb.search(f"tug of {who}").hits

        children = [forked(lambda who=who: write(f"c{who}")) for who in range(4)]
        write("parent")
        assert [ended(child) for child in children] == [0] * 4
        assert {f"{who}-{n}" for who in ("parent", "c0", "c1", "c2", "c3") for n in range(10)} <= set(kb.ids())
        assert kb.check() == []


@pytest.mark.parametrize("read_only", [False, True])
def test_a_child_reads_what_its_parent_writes_afterwards(path, read_only, tmp_path):
    ready = tmp_path / "written"
    with KnowledgeBase.open(path) as writer, KnowledgeBase.open(path, read_only=read_only) as kb:
        kb.search("ferry", recipe="multihop")

        def read():
            while not ready.exists():
                time.sleep(0.01)
            for recipe in ("hybrid", "multihop"):
                assert "late" in [hit.id for hit in kb.search("late ferry", recipe=recipe).hits]
            kb.close()

        child = forked(read)
        writer.add([Document("late", "The late ferry.")])
        ready.touch()
        assert ended(child) == 0
        assert kb.search("late ferry").hits[0].id == "late"
        writer.add([Document("later", "The later ferry.")])
        assert kb.search("later ferry").hits[0].id == "later"


def test_locks_that_other_threads_hold_do_not_hang_a_child(path):
    """Threads search, write and compact while the process forks again and again."""
    stop = threading.Event()
    with KnowledgeBase.open(path) as kb, open_shared(path) as shared:
        pipeline = Pipeline("multihop", kb, cache=QueryCache())
        failures = []

        def work(number):
            try:
                while not stop.is_set():
                    if number == 0:
                        kb.add([Document("busy", f"A busy ferry {time.monotonic_ns()}.")])
                    else:
                        pipeline.run(f"busy ferry {number}")
                        shared.search("ferry", recipe="hybrid", tenant={"title": "Ferry 3"})
            except Exception as error:
                failures.append(error)

        threads = [threading.Thread(target=work, args=(n,)) for n in range(3)]
        for thread in threads:
            thread.start()

        def read():
            pipeline.run("busy ferry 1")
            assert shared.search("ferry", recipe="hybrid", tenant={"title": "Ferry 3"}).hits[0].id == "d3"
            assert open_shared(path).count() == 31
            kb.add([Document("busy", "of the child")])

        try:
            deadline = time.monotonic() + 60
            while kb.count() < 31:
                assert time.monotonic() < deadline, "nothing is written"
            children = [forked(read) for _ in range(8)]
        finally:
            codes = [ended(child) for child in children]
            stop.set()
            for thread in threads:
                thread.join()
        assert codes == [0] * 8
        assert failures == []
        assert kb.check() == []


def test_a_child_that_is_forked_in_the_middle_of_a_transaction_refuses(path):
    with KnowledgeBase.open(path) as kb:

        def read():
            for one in (kb, None):  # opened before or after, it is the same file
                with pytest.raises(KnowledgeBaseError, match="was in use when this process was forked"):
                    (one or KnowledgeBase.open(path)).count()

        with kb._connections.writing() as connection:
            connection.execute("DELETE FROM documents WHERE id = 'd7'")
            assert ended(forked(read)) == 0
        assert kb.count() == 29
        assert kb.check() == []


LEAVES = """
import os, sys
from hopweave import KnowledgeBase
with KnowledgeBase.open(sys.argv[1]) as kb:
    with kb._connections.writing() as connection:
        connection.execute("DELETE FROM documents WHERE id = 'd7'")
        child = os.fork()
        if child == 0:
            sys.exit(0)  # through all the contexts, and the interpreter tidies up
        os.waitpid(child, 0)
        connection.execute("DELETE FROM documents WHERE id = 'd8'")
    assert kb.count() == 28
    assert kb.check() == [], kb.check()
"""


def test_a_child_that_leaves_in_the_middle_of_a_transaction_does_not_touch_that_of_its_parent(path):
    subprocess.run([sys.executable, "-c", LEAVES, str(path)], check=True, timeout=120)
    with KnowledgeBase.open(path) as kb:
        assert kb.count() == 28
        assert kb.check() == []


def test_a_thread_that_does_not_give_back_its_connection_is_not_waited_for_forever(path, monkeypatch):
    monkeypatch.setattr(connections, "_FORK_SECONDS", 0.05)
    held, done = threading.Event(), threading.Event()
    with KnowledgeBase.open(path) as kb:

        def hold():
            with kb._connections.reading():
                held.set()
                done.wait(60)

        thread = threading.Thread(target=hold)
        thread.start()
        held.wait(60)

        def refuse():
            with pytest.raises(KnowledgeBaseError, match="was in use"):
                kb.search("ferry")

        assert ended(forked(refuse)) == 0
        done.set()
        thread.join()
        assert kb.search("ferry").hits


def test_a_child_does_not_remove_the_temporary_file_of_its_parent():
    with KnowledgeBase.open() as kb:
        kb.add([Document("a", "A ferry.")])
        folder = Path(kb.path).parent
        child = forked(kb.close)
        assert ended(child) == 0
        assert folder.exists()
        assert kb.search("ferry").hits[0].id == "a"
    assert not folder.exists()
