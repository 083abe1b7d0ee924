"""An `index` that is killed at any moment leaves a sound file with every committed document in it."""

import json
import multiprocessing
import random
import sqlite3
from itertools import islice

import pytest

from hopweave.cli import main
from hopweave.errors import EmptyFile
from hopweave.knowledge_base.store import KnowledgeBase

DOCUMENTS, BATCH, KILLS = 2000, 50, 10
SYLLABLES = ("hal", "low", "tern", "skua", "tide", "gate", "fer", "ry", "isle", "har", "bour", "win", "sail", "mor")


@pytest.fixture(scope="module")
def processes():
    """A server that has all modules loaded and forks a fresh process whenever one is wanted."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["hopweave.cli", "hopweave.recipe", "bm25s", "Stemmer", "wordllama", "tqdm"])
    return context


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    chance = random.Random(7)

    def word():
        return "".join(chance.choices(SYLLABLES, k=2))

    file = tmp_path_factory.mktemp("corpus") / "corpus.jsonl"
    with file.open("w") as lines:
        for number in range(DOCUMENTS):
            text = " ".join(word() for _ in range(12))
            print(json.dumps({"id": f"d{number}", "title": word().title(), "text": text, "n": number}), file=lines)
    return file


def arguments(corpus, path):
    return ["index", str(corpus), "--kb", str(path), "--batch-size", str(BATCH), "--quiet"]


def committed(path):
    """The documents that a reader sees, after making sure that the file is sound."""
    try:
        with KnowledgeBase.open(path, read_only=True) as kb:
            assert kb.check() == []
            return [(document.id, document.text, document.metadata) for document in kb.documents()]
    except EmptyFile:
        return []


def seen(path):
    connection = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)
    try:
        return connection.execute("SELECT count(*) FROM documents").fetchone()[0]
    except sqlite3.Error:  # not there yet
        return 0
    finally:
        connection.close()


def kill_while_indexing(processes, corpus, path, seconds):
    """Start `index`, kill it, and say how many documents were committed just before. None if it was too quick."""
    child = processes.Process(target=main, args=(arguments(corpus, path),))
    child.start()
    child.join(seconds)
    if not child.is_alive():
        assert child.exitcode == 0
        return None
    before = seen(path) if path.exists() else 0
    child.kill()
    child.join()
    assert child.exitcode == -9
    return before


@pytest.fixture(scope="module")
def truth(corpus):
    expected = []
    for line in corpus.read_text().splitlines():
        fields = json.loads(line)
        expected.append((fields.pop("id"), fields.pop("text"), fields))
    return expected


def tables(path):
    connection = sqlite3.connect(path)
    found = [
        connection.execute(query).fetchall()
        for query in (
            "SELECT * FROM documents ORDER BY row",
            "SELECT * FROM terms ORDER BY analyzer, row",
            "SELECT * FROM vectors ORDER BY model, row",
        )
    ]
    connection.close()
    return found


def test_killed_at_random_moments(processes, corpus, truth, tmp_path):
    chance = random.Random(42)
    resumed, kills, counts = tmp_path / "resumed.db", 0, [0]
    while kills < KILLS:
        fresh = kills % 3 == 2  # every third in a new file, where the making of the file may be hit
        path = tmp_path / f"fresh-{kills}.db" if fresh else resumed
        before = kill_while_indexing(processes, corpus, path, chance.uniform(0.0, 0.3))
        if not path.exists():  # killed before anything was done
            continue
        assert main(["check", "--kb", str(path)]) == 0
        documents = committed(path)
        assert documents == truth[: len(documents)]  # whole, in order, nothing else
        if before is None:  # quicker than the dice: start again with a new file
            assert len(documents) == DOCUMENTS
            resumed, counts = tmp_path / f"resumed-{kills}.db", [0]
            continue
        kills += 1
        assert len(documents) % BATCH == 0
        assert len(documents) >= before
        if not fresh:
            assert len(documents) >= counts[-1]
            counts.append(len(documents))

    # run to the end, it is as if nothing had happened
    whole = tmp_path / "whole.db"
    for path in (resumed, whole):
        assert main(arguments(corpus, path)) == 0
    assert committed(resumed) == truth
    assert tables(resumed) == tables(whole)
    with KnowledgeBase.open(resumed) as one, KnowledgeBase.open(whole) as other:
        for _, text, _ in islice(truth, 0, DOCUMENTS, 500):
            assert one.search(text, recipe="hybrid").hits == other.search(text, recipe="hybrid").hits
