"""One search, one state: index, tenants, ids, texts and graph are of one version, whatever is written meanwhile."""

import asyncio
import multiprocessing
import sqlite3
import threading
import time
from typing import Literal

import pytest

from hopweave import Document, KnowledgeBase, Query
from hopweave.component import Source, fetched
from hopweave.errors import KnowledgeBaseBusy, KnowledgeBaseError
from hopweave.pipeline import Pipeline
from hopweave.recipe import Recipe

FERRIES = [Document(f"d{n}", f"The ferry {n} calls at Hallow.", {"title": f"Ferry {n}"}) for n in range(40)]
ANCHOR = Document("anchor", "The anchor of MV Skua lies at North Quay.", {"title": "Anchor", "customer": "acme"})


def busy(number):
    return Document("busy", f"The busy tug, moored {number} times, met MV Skua.", {"n": number, "customer": "acme"})


def write_for_ever(path, stop):
    with KnowledgeBase.open(path) as kb:
        number = 1
        while not stop.is_set():
            kb.add([busy(number), Document(f"passing{number}", "A ship that passes.")])
            kb.delete([f"passing{number}"])
            if number % 25 == 0:
                kb.compact()
            number += 1


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "a.db"
    with KnowledgeBase.open(path) as kb:
        kb.add([*FERRIES, ANCHOR, busy(0)])
    return path


@pytest.mark.parametrize("read_only", [False, True])
def test_no_search_beside_a_writer_misses_what_is_always_there(path, read_only, attempts):
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["hopweave.knowledge_base.store", "Stemmer", "wordllama"])
    stop = context.Event()
    writer = context.Process(target=write_for_ever, args=(path, stop))
    with KnowledgeBase.open(path, read_only=read_only) as kb:
        first = kb.version
        writer.start()
        try:
            deadline = time.monotonic() + 60
            while kb.version < first + 3:
                assert time.monotonic() < deadline, "nothing is written"
            missed = []
            for _ in range(attempts(40, 400)):
                for question, tenant, wanted in (
                    ("busy tug moored", None, "busy"),
                    ("busy tug moored", {"customer": "acme"}, "busy"),
                    ("anchor", {"customer": "acme"}, "anchor"),
                ):
                    result = kb.search(Query(question, tenant=tenant), recipe="multihop", top_k=5)
                    missed += [] if wanted in [hit.id for hit in result.hits] else [(question, tenant)]
            assert missed == []
            assert kb.version > first + 3
        finally:
            stop.set()
            writer.join(60)
            writer.kill()
            writer.join()
    assert KnowledgeBase.open(path).check() == []


class Slow(Source):
    """Ranks, lets somebody write, and only then fetches the texts."""

    kind: Literal["slow"] = "slow"
    change: object = None
    in_a_thread: bool = False

    def search(self, query, knowledge, upstream=None):
        ranking = knowledge.rank_words(query.text, analyzer="nlp", top_k=5, tenant=query.tenant)
        self.change()
        for ask in (lambda: knowledge.search("Skua tug"), lambda: knowledge.graph):  # others move on
            other = threading.Thread(target=ask)
            other.start()
            other.join()
        return fetched(ranking, knowledge, query, "slow", "positive")


def searches(change):
    return [Recipe(name="r", sources={"s": Slow(change=change, deadline_seconds=limit)}) for limit in (None, 60)]


@pytest.mark.parametrize("number", [0, 1])
@pytest.mark.parametrize("how", ["run", "run_async"])
def test_texts_are_of_the_version_that_was_ranked(path, how, number):
    with KnowledgeBase.open(path) as kb:
        kb.graph  # noqa: B018 - is open already, as in a service

        def change():
            kb.delete(["busy"])
            kb.add([Document("anchor", "Another text.", {"customer": "zeta"})])

        recipe = searches(change)[number]
        query = Query("busy anchor", tenant={"customer": "acme"})
        pipeline = Pipeline(recipe, kb)
        result = pipeline.run(query) if how == "run" else asyncio.run(pipeline.run_async(query))
        assert {hit.id: hit.text for hit in result.hits} == {"busy": busy(0).text, "anchor": ANCHOR.text}
        assert kb.search("busy").hits[0].id != "busy"  # the next search sees what was written
        assert kb.get(["anchor"])["anchor"].text == "Another text."


def test_every_question_of_a_search_is_answered_of_one_version(path):
    with KnowledgeBase.open(path) as kb:

        def seen():
            vector = kb.embed("busy tug")[1]
            return (
                kb.version,
                kb.count(),
                kb.ids(),
                kb.get(["busy"]),
                kb.rank_words("tug", analyzer="nlp", top_k=3),
                kb.rank_words("tug", analyzer="light", top_k=3),
                kb.rank_full_text("tug", top_k=3),
                kb.rank_vectors(vector, top_k=3),
                kb.visible({"customer": "acme"}),
                kb.graph.version,
                sorted(kb.graph.ids),
            )

        before = seen()
        with kb.one_version():
            kb.add([busy(7), *(Document(f"new{n}", "A tug.") for n in range(5))])
            other = threading.Thread(target=seen)  # brings the indexes that are shared to the next version
            other.start()
            other.join()
            assert seen() == before
            with pytest.raises(KnowledgeBaseError, match="a search is under way"):
                kb.compact()
            with (
                KnowledgeBase.open(path, busy_seconds=0.3) as elsewhere,
                pytest.raises(KnowledgeBaseBusy, match="compacted, but a reader keeps its log"),
            ):
                elsewhere.compact()
            assert seen() == before
        assert seen() != before
        assert kb.check() == []


def test_a_source_that_outlives_its_search_disturbs_nobody(path):
    started, go_on, ended = threading.Event(), threading.Event(), []

    class Late(Source):
        kind: Literal["late"] = "late"

        def search(self, query, knowledge, upstream=None):
            with knowledge._connections.reading():
                started.set()
                go_on.wait(60)
            try:
                return fetched([("busy", 1.0)], knowledge, query, "late", "positive")
            finally:
                ended.append(True)

    with KnowledgeBase.open(path) as kb:
        recipe = Recipe(name="r", sources={"s": Late(deadline_seconds=0.2, optional=True)})
        assert Pipeline(recipe, kb).run("busy").failures
        assert started.is_set()
        kb.add([busy(9)])
        assert kb.search("busy tug").hits[0].metadata["n"] == 9
        go_on.set()
        deadline = time.monotonic() + 60
        while not ended and time.monotonic() < deadline:
            time.sleep(0.01)
        assert ended
        deadline = time.monotonic() + 60
        while kb._connections._lent_to and time.monotonic() < deadline:
            time.sleep(0.01)
        assert not kb._connections._lent_to  # the connection was given back
        assert kb.search("busy tug").hits[0].metadata["n"] == 9


def test_a_file_restored_to_an_older_state_is_read_as_it_is(path, tmp_path):
    with KnowledgeBase.open(path) as kb:
        old = sqlite3.connect(path)
        copy = sqlite3.connect(tmp_path / "copy.db")
        old.backup(copy)
        kb.add([Document("late", "The late ferry.")])
        assert kb.search("late ferry").hits[0].id == "late"
        copy.backup(old)
        old.close()
        copy.close()
        assert "late" not in [hit.id for hit in kb.search("late ferry", recipe="multihop").hits]
        assert kb.rank_words("late", analyzer="nlp", top_k=3) == []
        kb.add([Document("early", "The early ferry.")])  # in the row that the late one had
        assert kb.search("late or early ferry").hits[0].id == "early"
