"""Reading what one may not write: right while the owner writes, or refused in words; and nothing is left behind."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from hopweave import Document, KnowledgeBase
from hopweave.errors import HopweaveError, KnowledgeBaseBusy, KnowledgeBaseError
from hopweave.knowledge_base.locks import file_state, state_without_log

NOBODY = 65534
pytestmark = pytest.mark.skipif(not hasattr(os, "setuid"), reason="permissions are of another kind here")

# The reader imports and tries everything first, as a user without rights may not read the interpreter's own folder.
READER = """
import json, os, sys
from hopweave import KnowledgeBase, Document
from hopweave.errors import KnowledgeBaseError
path, user = sys.argv[1], int(sys.argv[2])
with KnowledgeBase.open() as warm:
    warm.add([Document("a", "A ferry.")])
    warm.compact()
    warm.search("ferry", recipe="multihop"), warm.check()
if os.getuid() == 0:
    os.setgroups([])
    os.setgid(user)
    os.setuid(user)
kb = None
for line in sys.stdin:
    try:
        if line.startswith("open"):
            kb = KnowledgeBase.open(path, read_only=True)
            answer = "opened"
        elif line.startswith("close"):
            kb.close()
            answer = "closed"
        elif line.startswith("check"):
            answer = kb.check()
        elif line.startswith("write"):
            open(path + "-index/x", "w")
            answer = "written"
        else:
            answer = sorted(hit.id for hit in kb.search(line.strip(), top_k=500).hits)
    except (KnowledgeBaseError, PermissionError) as error:
        answer = f"{type(error).__name__}: {error}"
    print(json.dumps(answer), flush=True)
"""


class Reader:
    """A process that may read a folder and write nothing in it."""

    def __init__(self, path):
        self.process = subprocess.Popen(
            [sys.executable, "-c", READER, str(path), str(NOBODY)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __call__(self, line):
        print(line, file=self.process.stdin, flush=True)
        return json.loads(self.process.stdout.readline())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait(60)
        self.process.stdout.close()


@pytest.fixture
def folder():
    """A folder that anybody may read; pytest's own are for their owner alone."""
    path = Path(tempfile.mkdtemp(prefix="hopweave-read-only-"))
    path.chmod(0o755)
    yield path
    path.chmod(0o755)
    shutil.rmtree(path)


def locked(folder):
    """Nothing in the folder can be written by who is not its owner, nor by its owner unless that is root."""
    for file in folder.rglob("*"):
        file.chmod(0o555 if file.is_dir() else 0o444)
    folder.chmod(0o555)


def unlocked(folder):
    folder.chmod(0o755)
    for file in folder.rglob("*"):
        file.chmod(0o755 if file.is_dir() else 0o644)


def ship(number):
    return Document(f"s{number}", f"The tug {number} was launched.")


@pytest.fixture
def path(folder):
    path = folder / "kb.db"
    with KnowledgeBase.open(path) as kb:
        kb.add([Document(f"d{n}", f"The ferry {n} calls at Hallow.") for n in range(30)])
        kb.compact()
    return path


def files(path):
    return sorted(file.name for file in path.parent.iterdir())


def test_while_the_owner_writes(path, folder, attempts):
    with Reader(path) as ask:
        locked(folder)
        assert ask("open") == "opened"
        assert ask("write").startswith("PermissionError")
        assert ask("ferry 7")
        for number in range(attempts(6, 60)):
            unlocked(folder)
            with KnowledgeBase.open(path) as owner:
                owner.add([ship(number)])
                locked(folder)  # the owner has the file open, the reader may only read
                answers = [ask(f"tug {number}"), ask("check")]
                unlocked(folder)
                owner.add([Document(f"x{number}", "brig " * 500 + f"x{number}")])
                if number % 3 == 0:
                    owner.compact()
                locked(folder)
                answers += [ask(f"x{number}"), ask("check")]
                unlocked(folder)
            locked(folder)
            answers += [ask(f"tug {number}"), ask("check")]
            assert f"s{number}" in answers[0]
            assert f"x{number}" in answers[2]
            assert f"s{number}" in answers[4]
            assert answers[1::2] == [[], [], []]
        unlocked(folder)


def test_a_log_that_cannot_be_read_is_refused_in_words(path, folder):
    with KnowledgeBase.open(path) as owner:
        owner.add([ship(1)])
        shutil.copytree(folder, folder / "copy", ignore=shutil.ignore_patterns("copy", "*-shm"))  # as after a crash
    copied = folder / "copy" / "kb.db"
    with Reader(copied) as ask:
        locked(folder)
        answer = ask("open")
        if answer == "opened":  # SQLite found a way: then it must be right
            assert "s1" in ask("tug 1")
        else:
            assert "holds changes that cannot be read from a folder that one cannot write to" in answer
        unlocked(folder)
    with KnowledgeBase.open(copied, read_only=True) as kb:
        assert kb.search("tug 1").hits[0].id == "s1"


def test_writing_where_one_may_not_is_refused_in_words(path, folder):
    program = """if True:
        import os, sys
        from hopweave import KnowledgeBase
        from hopweave.errors import KnowledgeBaseError
        KnowledgeBase.open().close()
        if os.getuid() == 0:
            os.setgid(65534), os.setuid(65534)
        for name in ("kb.db", "new.db"):
            try:
                KnowledgeBase.open(sys.argv[1] + "/" + name)
            except KnowledgeBaseError as error:
                print(error)
    """
    locked(folder)
    said = subprocess.run([sys.executable, "-c", program, folder], capture_output=True, text=True, check=True).stdout
    unlocked(folder)
    reason = "its folder is read-only, or cannot be written by this user"
    assert f"kb.db: cannot be written: {reason}; to search it, open it with read_only=True\n" in said
    assert f"new.db: cannot be made: {reason}\n" in said


def test_nothing_is_left_behind(path):
    before = files(path)
    with KnowledgeBase.open(path, read_only=True) as kb:
        assert kb.search("ferry 7", recipe="multihop").hits
        assert kb.check() == []
        assert kb.info()["documents"] == 30
        assert files(path) == before
    assert files(path) == before == ["kb.db", "kb.db-index"]


def test_what_is_written_later_is_seen_and_the_writer_tidies_up(path):
    with KnowledgeBase.open(path, read_only=True) as kb:
        assert kb.search("ferry").hits
        for number in range(5):
            with KnowledgeBase.open(path) as owner:
                owner.add([ship(number)])
                assert kb.search(f"tug {number}").hits[0].id == f"s{number}"
            assert kb.search(f"tug {number}").hits[0].id == f"s{number}"
    with KnowledgeBase.open(path):
        pass
    assert files(path) == ["kb.db", "kb.db-index"]


def test_a_file_written_in_the_middle_of_a_read_is_refused_and_forgotten(path):
    """The moment at which somebody begins to write and brings it into the file, in the middle of a search."""
    with KnowledgeBase.open(path, read_only=True) as kb:

        def disturbed(ask):
            with kb.one_version():
                kb.rank_full_text("ferry", top_k=3)
                with KnowledgeBase.open(path) as owner:
                    owner.add([ship(n) for n in range(50)])
                    owner.compact()
                ask()

        for ask in (lambda: kb.search("tug 7"), lambda: kb.rank_words("tug", analyzer="nlp", top_k=3), lambda: None):
            with pytest.raises(HopweaveError, match="was written by another process while it was read"):
                disturbed(ask)
            with KnowledgeBase.open(path) as owner:
                owner.delete([f"s{n}" for n in range(50)])
        with KnowledgeBase.open(path) as owner:
            owner.add([ship(n) for n in range(50)])
        assert kb.search("tug 7").hits[0].id == "s7"
        assert kb.check() == []


def test_damage_is_not_blamed_on_the_file_if_it_was_written_meanwhile(path):
    with KnowledgeBase.open(path, read_only=True) as kb:

        def ask(before):
            with kb._connections.reading() as connection:
                before()
                connection.execute("SELECT * FROM no_such_table")

        with pytest.raises(KnowledgeBaseBusy):
            ask(lambda: os.utime(path))
        with pytest.raises(KnowledgeBaseError, match="no such table"):
            ask(lambda: None)
    assert state_without_log(path) == file_state(path)
