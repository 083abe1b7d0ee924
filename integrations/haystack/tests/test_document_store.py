"""Haystack's own published suites, every mixin of them, and what they leave out."""

import pytest
from haystack import Document, Pipeline
from haystack.components.writers import DocumentWriter
from haystack.dataclasses import ByteStream, SparseEmbedding
from haystack.document_stores.errors import DuplicateDocumentError
from haystack.document_stores.types import DuplicatePolicy
from haystack.testing import document_store as sync_suite
from haystack.testing import document_store_async as async_suite

from haystack_integrations.components.retrievers.hopweave import RecipeRetriever
from haystack_integrations.document_stores.hopweave import HopweaveDocumentStore


@pytest.fixture
def document_store():
    store = HopweaveDocumentStore()
    yield store
    store.close()


def _mixins(module):
    """Every class of a suite that has tests of its own: what a newer Haystack adds is run without being asked for."""
    return [
        kind
        for name, kind in vars(module).items()
        if isinstance(kind, type) and kind.__module__ == module.__name__ and name.endswith("Test")
    ]


class TestPublishedSuite(*_mixins(sync_suite)):
    def test_write_documents(self, document_store):
        document = Document(content="test doc")
        assert document_store.write_documents([document]) == 1
        with pytest.raises(DuplicateDocumentError):
            document_store.write_documents([document])


class TestPublishedAsyncSuite(*_mixins(async_suite)):
    @pytest.mark.asyncio
    async def test_write_documents_async(self, document_store):
        document = Document(content="test doc")
        assert await document_store.write_documents_async([document]) == 1
        with pytest.raises(DuplicateDocumentError):
            await document_store.write_documents_async([document])


def test_the_suites_are_all_there():
    assert len(_mixins(sync_suite)) >= 12
    assert len(_mixins(async_suite)) >= 12


def test_a_document_comes_back_as_it_went_in(document_store):
    documents = [
        Document(id="none", meta={"empty": None}),
        Document(id="blob", blob=ByteStream(b"\x00\xff", mime_type="image/png")),
        Document(id="sparse", content="x", sparse_embedding=SparseEmbedding(indices=[1, 5], values=[0.5, 0.25])),
        Document(id="fine", content="y", embedding=[0.1, 1 / 3]),
        Document(id="nested", content="", meta={"a": {"b": [1, 2.5, True, "ö"]}}),
    ]
    document_store.write_documents(documents)
    assert document_store.filter_documents() == documents


def test_what_is_written_is_found_by_a_recipe(tmp_path):
    path = str(tmp_path / "kb.db")
    store = HopweaveDocumentStore(path, embedder="static")
    pipeline = Pipeline()
    pipeline.add_component("writer", DocumentWriter(store, policy=DuplicatePolicy.OVERWRITE))
    again = Pipeline.loads(pipeline.dumps())
    again.run({"writer": {"documents": [Document(id="gate", content="The tide gate opens at six.")]}})
    found = RecipeRetriever(knowledge_base=path).run(query="When does the gate open?")["documents"]
    assert [document.id for document in found] == ["gate"]


def test_an_existing_file_keeps_its_own_settings(tmp_path):
    path = str(tmp_path / "kb.db")
    HopweaveDocumentStore(path, embedder="static").count_documents()
    store = HopweaveDocumentStore(path)
    store.write_documents([Document(id="gate", content="The tide gate opens at six.")])
    assert len(store.filter_documents()[0].embedding) == 256


def test_an_unknown_embedder_is_named():
    with pytest.raises(ValueError, match=r"embedder: 'magic' is not allowed; allowed are .*static"):
        HopweaveDocumentStore(embedder="magic").count_documents()


def test_a_failed_write_leaves_nothing(document_store):
    document_store.write_documents([Document(id="b", content="old")])
    with pytest.raises(DuplicateDocumentError, match="already there: 'b'"):
        document_store.write_documents([Document(id="a", content="new"), Document(id="b", content="new")])
    assert [document.content for document in document_store.filter_documents()] == ["old"]


def test_overwrite_keeps_the_last_of_those_with_the_same_id(document_store):
    written = [Document(id="a", content="one"), Document(id="a", content="two")]
    assert document_store.write_documents(written, policy=DuplicatePolicy.OVERWRITE) == 2
    assert [document.content for document in document_store.filter_documents()] == ["two"]
    with pytest.raises(DuplicateDocumentError, match="comes twice: 'b'"):
        document_store.write_documents([Document(id="b", content="one"), Document(id="b", content="two")])
    with pytest.raises(TypeError, match="ids: must be a list of ids, but got 'a'"):
        document_store.delete_documents("a")
