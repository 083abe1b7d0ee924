"""What every graph store refuses before it writes anything."""

import pytest

from hopweave.document import Document
from hopweave.graph_store.store import GraphStore


@pytest.fixture
def store(tmp_path):
    with GraphStore.open(tmp_path / "graph.db") as opened:
        opened.add([Document("1", "MV Skua sails to Harris."), Document("2", "MV Tern sails to Harris.")])
        yield opened


def test_a_single_id_in_place_of_a_list_is_an_error(store):
    for ask in (store.delete, lambda ids: store.visible({}, ids)):
        with pytest.raises(
            TypeError, match=r"ids: must be a list of ids, but got '12'; for a single one, write \['12'\]"
        ):
            ask("12")
    with pytest.raises(TypeError, match=r"source: must be a string, but got \['a.md'\]"):
        store.delete(source=["a.md"])
    assert store.ids() == ["1", "2"]


@pytest.mark.parametrize("documents", [Document("a", "one"), "a", [Document("a", "one"), "b"]])
def test_a_single_document_in_place_of_a_list_is_an_error(store, documents):
    for write in (store.add, store.build, lambda documents: store.replace("a.md", documents)):
        with pytest.raises(TypeError, match="documents: must be"):
            write(documents)
    assert store.ids() == ["1", "2"]


def test_a_write_that_changes_nothing_makes_no_version(store):
    version = store.version
    store.delete(["unknown"])
    store.delete(source="unknown.md")
    store.delete(where={"year": 1974})
    store.replace("none", [])
    store.add([Document("1", "MV Skua sails to Harris.")])
    assert store.version == version
    store.delete(["1"])
    assert store.version > version
