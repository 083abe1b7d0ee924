"""Several processes prepare documents, and the file is the same as if one had."""

import os
import sqlite3

import pytest

from hopweave.document import Document
from hopweave.errors import KnowledgeBaseError
from hopweave.graph.build.builders.mentions import MentionsBuilder
from hopweave.knowledge_base.store import KnowledgeBase
from hopweave.vector.embedders import CallableEmbedder


def documents(count):
    return [
        Document(f"d{n}", f"The MV Skua {n} calls at Hallow, [see](d{n + 1}).", {"title": f"Ship {n}", "n": n})
        for n in range(count)
    ]


def tables(path):
    connection = sqlite3.connect(path)
    names = ("documents", "terms", "vectors", "graph_contributions")
    found = {name: connection.execute(f"SELECT * FROM {name} ORDER BY 1, 2").fetchall() for name in names}
    connection.close()
    return found


@pytest.mark.slow
def test_workers_store_the_same(tmp_path):
    # the same documents again, in batches that are prepared before the first are stored
    stream = [*documents(60), *documents(70)[50:], documents(4)[3]]
    again = [*documents(20), Document("d30", "changed"), *documents(70)[60:]]
    done = {}
    for workers in (1, 2):
        with KnowledgeBase.open(tmp_path / f"{workers}.db") as kb:
            done[workers] = [kb.add(one, batch_size=10, workers=workers) for one in (stream, again)]
            assert kb.check() == []
    assert done[1] == done[2]
    assert tables(tmp_path / "1.db") == tables(tmp_path / "2.db")


def test_what_cannot_be_sent_to_other_processes_is_said():
    embedder = CallableEmbedder(name="one", function=lambda texts: [[1.0]] * len(texts))
    with KnowledgeBase.open(embedder=embedder) as kb:
        with pytest.raises(ValueError, match="workers must be 1, but got 2: the embedder"):
            kb.add(documents(3), workers=2)
        assert kb.add(documents(3)).added == 3
        with pytest.raises(ValueError, match="workers must be at least 1, but got 0"):
            kb.add(documents(3), workers=0)


class Ending(MentionsBuilder):
    """Ends the process that asks it."""

    kind: str = "ending"

    def contribute(self, document):
        """Not in the process that stores."""
        if document.id == "d25":
            os._exit(3)
        return super().contribute(document)


@pytest.mark.slow
def test_a_worker_that_ends_is_said_and_what_was_stored_stays(monkeypatch):
    with KnowledgeBase.open() as kb:
        object.__setattr__(kb._writer._settings, "builders", (Ending(),))
        with pytest.raises(KnowledgeBaseError, match="a worker process ended"):
            kb.add(documents(60), batch_size=10, workers=2)
        stored = kb.ids()
        assert stored == [f"d{n}" for n in range(len(stored))]
        assert len(stored) % 10 == 0
        assert kb.check() == []
