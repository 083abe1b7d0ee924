"""Killed at any moment, a writer leaves a sound file with everything that was committed in it."""

import multiprocessing
import random
import sqlite3

from hopweave import Document, KnowledgeBase
from hopweave.knowledge_base import compaction
from hopweave.knowledge_base.images import ImageFolder

WORDS = ("tide", "gate", "ferry", "skua", "hallow", "isle", "storm", "quay", "rope", "mast", "wind", "sail")
QUESTIONS = ("tide gate", "storm over the isle", "ferry to Hallow 17")
PERMANENT = [Document(f"p{n}", f"The ferry {n} calls at Hallow {n % 9}.", {"title": f"Ferry {n}"}) for n in range(60)]


def churn(path, seed):
    """Add, replace, delete and compact for ever; each document says which version it was written after."""
    chance = random.Random(seed)
    compaction._MIN_CHANGES = 30
    with KnowledgeBase.open(path) as kb:
        while True:
            round_ = kb.version
            numbers = chance.sample(range(120), len(WORDS))
            kb.add(
                [
                    Document(f"k{n}", f"Round {round_} of MV {word.title()}.")
                    for n, word in zip(numbers, WORDS, strict=True)
                ],
                batch_size=6,
            )
            kb.replace("log", [Document(f"log{round_}-{n}", f"Storm {n} at Hallow.") for n in range(3)])
            kb.delete([f"k{chance.randrange(120)}" for _ in range(4)])
            if chance.random() < 0.3:
                kb.compact(vacuum=chance.random() < 0.5)


def test_a_writer_killed_at_random_moments(tmp_path, attempts):
    path, chance, version = tmp_path / "a.db", random.Random(5), 0
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["hopweave.knowledge_base.store", "Stemmer", "wordllama"])
    with KnowledgeBase.open(path) as kb:
        kb.add(PERMANENT)
    for kill in range(attempts(6, 300)):
        child = context.Process(target=churn, args=(path, kill))
        child.start()
        child.join(chance.uniform(0.1, 0.7))
        reader = sqlite3.connect(path)
        committed = reader.execute("SELECT version FROM state").fetchone()[0]
        reader.close()
        child.kill()
        child.join()
        assert child.exitcode == -9
        with KnowledgeBase.open(path, read_only=True) as kb:
            assert kb.check() == []
            assert kb.version >= max(committed, version)
            version = kb.version
            assert {document.id for document in PERMANENT} <= set(kb.ids())
            assert {len(kb.sources()), sum(kb.sources().values())} <= {0, 1, 3}  # replaced whole or not at all
    with KnowledgeBase.open(path) as kb, KnowledgeBase.open() as fresh:
        kb.compact()
        fresh.add(kb.documents())
        for question in QUESTIONS:
            assert kb.search(question, recipe="hybrid").hits == fresh.search(question, recipe="hybrid").hits
        assert sorted(filter(None, kb.graph.ids)) == sorted(filter(None, fresh.graph.ids))
        assert not list(ImageFolder(path).folder.glob("*.unfinished"))
    assert version > 0
