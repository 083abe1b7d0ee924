"""Which file a path leads to, and what is in it."""

import os
import pickle
from pathlib import Path

import pytest

from hopweave import Document, GraphStore, KnowledgeBase
from hopweave.cli import main
from hopweave.errors import KnowledgeBaseError
from hopweave.graph_store.location import GraphLocation
from hopweave.knowledge_base.file_path import FilePath, check_path
from hopweave.knowledge_base.shared import open_shared
from hopweave.knowledge_base.train_embedder import load_embedder

URL = "postgresql://anna:s3cret@db.example/kb"
SKUA = Document("skua", "MV Skua sails to Harris.", {"title": "MV Skua"})


@pytest.fixture
def graph_file(tmp_path):
    with GraphStore.open(tmp_path / "graph.db") as store:
        store.add([SKUA])
    return tmp_path / "graph.db"


@pytest.fixture
def kb_file(tmp_path):
    with KnowledgeBase.open(tmp_path / "kb.db") as kb:
        kb.add([SKUA])
    return tmp_path / "kb.db"


@pytest.mark.parametrize("opening", [KnowledgeBase.open, open_shared, load_embedder, FilePath, check_path])
@pytest.mark.parametrize("url", [URL, "postgres://anna:s3cret@db/kb", "https://anna:s3cret@db.example/kb"])
def test_a_url_is_refused_without_being_shown(opening, url, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match="must be the path of a file, not a URL; the URL of a graph is given as graph"):
        opening(url)
    with pytest.raises(ValueError, match="must be the path of a file") as refused:
        opening(Path(url))
    assert "s3cret" not in str(refused.value)
    assert list(tmp_path.iterdir()) == []


def test_what_is_no_path_is_named_by_its_type():
    with pytest.raises(ValueError, match="knowledge_base: must be the path of a file, but got a dict"):
        FilePath({"token": "s3cret"})


@pytest.mark.parametrize("path", ["kb.db", "a/b.db", "C:/kb.db", "a:b.db", "~/kb.db"])
def test_paths_are_not_taken_for_urls(path):
    check_path(path)


@pytest.mark.parametrize("opening", [KnowledgeBase.open, open_shared])
@pytest.mark.parametrize("read_only", [True, False])
def test_a_file_with_a_graph_alone_is_no_knowledge_base(opening, read_only, graph_file):
    with pytest.raises(
        KnowledgeBaseError, match=r"graph\.db: holds a graph alone, not the documents; give it as graph"
    ):
        opening(graph_file, read_only=read_only)
    with opening(graph_file, read_only=read_only, allow_graph=True) as kb:
        assert kb.check() == []


def test_a_graph_that_somebody_may_open_is_still_refused_to_others(graph_file):
    with open_shared(graph_file, allow_graph=True), pytest.raises(KnowledgeBaseError, match="holds a graph alone"):
        open_shared(graph_file)


@pytest.mark.parametrize("read_only", [True, False])
def test_a_knowledge_base_is_no_graph(read_only, kb_file):
    for opening in (GraphStore.open, lambda path, **_: GraphLocation(path).open()):
        with pytest.raises(
            KnowledgeBaseError, match=r"kb\.db: is a knowledge base, not a graph; give it as knowledge_"
        ):
            opening(kb_file, read_only=read_only)


def test_a_knowledge_base_has_an_analyzer(tmp_path):
    with pytest.raises(ValueError, match="analyzers: at least one is needed"):
        KnowledgeBase.open(tmp_path / "kb.db", analyzers=[])


@pytest.mark.parametrize("read_only", [True, False])
def test_an_open_file_stays_the_same_when_the_current_folder_changes(read_only, kb_file, tmp_path, monkeypatch):
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    with KnowledgeBase.open("kb.db", read_only=read_only) as kb, open_shared("kb.db", read_only=read_only) as shared:
        os.chdir("elsewhere")
        copies = pickle.loads(pickle.dumps([kb, shared]))
        for one in (kb, shared, *copies):
            assert [hit.id for hit in one.search("Skua").hits] == ["skua"]
            assert str(kb.path) == "kb.db"
        if not read_only:
            kb.add([Document("tern", "A tug.")])
            kb.compact()
        assert kb.info()["bytes"]["kb.db"] > 0
        for one in copies:
            one.close()
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_graph_stays_the_same_when_the_current_folder_changes(graph_file, tmp_path, monkeypatch):
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    location = GraphLocation("graph.db")
    assert location.open().count() == 1
    os.chdir("elsewhere")
    assert location.open().count() == 1
    location.close()
    assert location.open().count() == 1
    assert repr(location) == "GraphLocation('graph.db')"
    location.close()
    with pytest.raises(KnowledgeBaseError, match=r"graph\.db: does not exist"):
        GraphLocation("graph.db").open()


def test_a_file_is_not_restored_from_itself_wherever_the_current_folder_is(kb_file, tmp_path, monkeypatch):
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    with KnowledgeBase.open("kb.db") as kb:
        os.chdir("elsewhere")
        with pytest.raises(KnowledgeBaseError, match=r"is kb\.db itself, not a file to restore it from"):
            kb.restore(kb_file)


def test_the_command_line_restores_a_graph_too(graph_file, tmp_path):
    with GraphStore.open(tmp_path / "later.db") as store:
        store.add([SKUA, Document("tern", "MV Tern sails to Harris.", {"title": "MV Tern"})])
    assert main(["restore", str(tmp_path / "later.db"), "--kb", str(graph_file)]) == 0
    with GraphStore.open(graph_file) as store:
        assert store.ids() == ["skua", "tern"]


def test_a_path_leads_to_the_file_that_it_led_to_at_first(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = FilePath("kb.db")
    assert path.absolute() == tmp_path / "kb.db"
    monkeypatch.chdir("/")
    assert (path.absolute(), path.written) == (tmp_path / "kb.db", "kb.db")
