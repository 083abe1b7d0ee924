"""A reader in the process of a writer: the writer keeps its locks, so that other processes leave its log alone."""

import gc
import subprocess
import sys
import threading

import pytest

from hopweave import Document, KnowledgeBase
from hopweave.knowledge_base import locks

ANOTHER_WRITES = """
import sys
from hopweave import Document, KnowledgeBase
with KnowledgeBase.open(sys.argv[1]) as kb:
    kb.add([Document("theirs" + sys.argv[2], "The cormorant of another process.")])
    kb.compact(vacuum=sys.argv[2] == "1")
"""


def another_process_writes(path, number):
    subprocess.run([sys.executable, "-c", ANOTHER_WRITES, str(path), str(number)], check=True, timeout=120)


@pytest.fixture
def path(tmp_path):
    with KnowledgeBase.open(tmp_path / "kb.db") as kb:
        kb.add([Document("first", "The first aardvark.")])
    return tmp_path / "kb.db"


def opened_and_closed(path):
    with KnowledgeBase.open(path, read_only=True) as reader:
        reader.search("aardvark")


def kept_open(path):
    reader = KnowledgeBase.open(path, read_only=True)
    reader.search("aardvark")
    return reader


def forgotten(path):
    kept_open(path)
    gc.collect()


@pytest.mark.parametrize("read", [opened_and_closed, kept_open, forgotten])
def test_nothing_is_lost_beside_a_reader_that_came_later(path, read):
    with KnowledgeBase.open(path) as kb:
        kb.add([Document("mine", "A badger.")])
        reader = read(path)
        for number in range(2):
            another_process_writes(path, number)
            assert path.with_name("kb.db-wal").exists(), "the log of the writer, which has the file open"
            kb.add([Document(f"later{number}", "A dunnock.")])
        assert kb.count() == 6
    if reader:
        assert reader.search("dunnock").hits[0].id.startswith("later")
        reader.close()
    with KnowledgeBase.open(path) as kb:
        assert sorted(kb.ids()) == ["first", "later0", "later1", "mine", "theirs0", "theirs1"]
        assert kb.check() == []


def test_nothing_is_lost_beside_a_reader_that_came_first(path):
    with KnowledgeBase.open(path, read_only=True) as reader:
        reader.search("aardvark")  # without locks, as nobody writes
        assert locks._here.without_locks
        with KnowledgeBase.open(path) as kb:
            kb.add([Document("mine", "A badger.")])
            assert reader.search("badger").hits[0].id == "mine"  # with locks from now on
            another_process_writes(path, 0)
            assert path.with_name("kb.db-wal").exists()
            kb.add([Document("later", "A dunnock.")])
        assert reader.search("dunnock").hits[0].id == "later"
    with KnowledgeBase.open(path) as kb:
        assert sorted(kb.ids()) == ["first", "later", "mine", "theirs0"]
        assert kb.check() == []


def test_what_waits_is_closed_with_the_last_lock(path):
    before = len(locks._here.without_locks)
    reader = kept_open(path)
    kb = KnowledgeBase.open(path)
    kb.add([Document("mine", "A badger.")])
    reader.close()
    assert locks._here.waiting
    kb.close()
    assert not locks._here.waiting
    assert len(locks._here.without_locks) == before
    assert not path.with_name("kb.db-wal").exists()


def test_readers_and_a_writer_in_many_threads(path):
    failures = []

    def read():
        try:
            for _ in range(10):
                opened_and_closed(path)
        except Exception as error:  # what matters is that there is none
            failures.append(error)

    with KnowledgeBase.open(path) as kb:
        threads = [threading.Thread(target=read) for _ in range(4)]
        for thread in threads:
            thread.start()
        for number in range(20):
            kb.add([Document(f"d{number}", f"Badger {number}.")])
        for thread in threads:
            thread.join()
        another_process_writes(path, 0)
        kb.add([Document("last", "A dunnock.")])
    assert failures == []
    with KnowledgeBase.open(path) as kb:
        assert kb.count() == 23
        assert kb.check() == []
