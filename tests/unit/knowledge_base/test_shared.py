import gc
import os
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from hopweave import Document, KnowledgeBase
from hopweave.errors import KnowledgeBaseError
from hopweave.knowledge_base.shared import open_shared


def filled(path, text="The Skua is a ferry. MV Skua sails."):
    with KnowledgeBase.open(path, embedder=None) as kb:
        kb.add([Document("skua", text, {"title": "MV Skua"})])
    return path


@pytest.fixture
def file(tmp_path):
    return filled(tmp_path / "kb.db")


def text(kb):
    return kb.get(["skua"])["skua"].text


def test_one_graph_for_all_who_open_the_same_file(file):
    (file.parent / "folder").mkdir()
    there = [open_shared(file), open_shared(str(file)), open_shared(file.parent / "folder" / ".." / "kb.db")]
    assert len({id(one.graph) for one in there}) == 1
    assert len({id(one._snapshot) for one in there}) == 1
    for one in there:
        one.close()


def test_the_last_to_close_closes_the_file(file):
    one, other = open_shared(file), open_shared(file)
    connections = one._connections
    one.close()
    one.close()
    assert text(other) == "The Skua is a ferry. MV Skua sails."
    for ask in (lambda: one.graph, lambda: one.version, lambda: one.embed("x"), lambda: text(one)):
        with pytest.raises(KnowledgeBaseError, match="has been closed"):
            ask()
    other.close()
    with pytest.raises(KnowledgeBaseError, match="has been closed"), connections.reading():
        pass
    with open_shared(file) as again:
        assert text(again)


def test_what_is_forgotten_is_closed(file):
    connections = open_shared(file)._connections
    gc.collect()
    with pytest.raises(KnowledgeBaseError, match="has been closed"), connections.reading():
        pass


def test_other_options_are_another_opening(file):
    with open_shared(file) as reader, open_shared(file, read_only=False) as writer:
        writer.add([Document("tern", "A ship.")])
        assert reader.count() == 2
        assert reader._connections is not writer._connections
        with pytest.raises(KnowledgeBaseError, match="read-only"):
            reader.add([Document("x", "x")])


def test_a_file_that_was_replaced_is_opened_anew(file, tmp_path):
    with open_shared(file) as old:
        os.replace(filled(tmp_path / "new.db", "The Skua was scrapped."), file)
        with open_shared(file) as new:
            assert text(new) == "The Skua was scrapped."
            with pytest.raises(KnowledgeBaseError, match="was replaced"):
                text(old)


def test_a_file_that_was_deleted_is_not_there(file):
    with open_shared(file) as old:
        file.unlink()
        with pytest.raises(KnowledgeBaseError, match="replaced or deleted"):
            text(old)
        with pytest.raises(KnowledgeBaseError, match="does not exist"):
            open_shared(file)


def test_threads_share_one(file):
    together = Barrier(8)

    def ask(_):
        together.wait(30)
        return open_shared(file)

    with ThreadPoolExecutor(8) as pool:
        there = list(pool.map(ask, range(8)))
    assert len({id(one.graph) for one in there}) == 1
    for one in there:
        one.close()
