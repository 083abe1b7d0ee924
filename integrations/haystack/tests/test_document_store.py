"""Haystack's own published suites, every mixin of them, and what they leave out."""

from datetime import UTC, datetime

import pytest
from haystack import Document, Pipeline
from haystack.components.writers import DocumentWriter
from haystack.dataclasses import ByteStream, SparseEmbedding
from haystack.document_stores.errors import DuplicateDocumentError
from haystack.document_stores.in_memory import InMemoryDocumentStore
from haystack.document_stores.types import DuplicatePolicy
from haystack.testing import document_store as sync_suite
from haystack.testing import document_store_async as async_suite
from hypothesis import given, settings
from hypothesis import strategies as st

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


DATES = ["2024-06-01", "2024-06-01T00:00:00", "2024-06-01T00:00:00Z", "2024-06-01 00:00"]


@pytest.mark.parametrize(
    "filters",
    [
        {"field": "meta.d", "operator": "==", "value": "2024-06-01"},
        {"field": "meta.d", "operator": "in", "value": ["2023-01-01", "2024-06-01T00:00"]},
        {"field": "meta.d", "operator": "==", "value": datetime(2024, 6, 1, tzinfo=UTC)},
        {
            "operator": "AND",
            "conditions": [
                {"field": "meta.d", "operator": "==", "value": "2024-06-01"},
                {"field": "meta.of", "operator": "==", "value": "june"},
            ],
        },
    ],
)
def test_iso_dates_are_equal_in_whatever_way_they_are_written(document_store, filters):
    values = [*DATES, datetime(2024, 6, 1, tzinfo=UTC), "2024-06-02"]
    document_store.write_documents(
        [Document(id=str(number), content="x", meta={"d": one, "of": "june"}) for number, one in enumerate(values)]
    )
    assert [one.id for one in document_store.filter_documents(filters)] == ["0", "1", "2", "3", "4"]
    assert document_store.count_documents_by_filter(filters) == 5
    assert document_store.delete_by_filter(filters) == 5
    assert [one.id for one in document_store.filter_documents()] == ["5"]


def test_an_id_that_is_a_date_is_found_by_another_spelling(document_store):
    document_store.write_documents([Document(id="2024-06-01T00:00", content="x"), Document(id="other", content="x")])
    filters = {"field": "id", "operator": "==", "value": "2024-06-01"}
    assert [one.id for one in document_store.filter_documents(filters)] == ["2024-06-01T00:00"]


@pytest.mark.parametrize(
    ("value", "found"), [(1, "abc"), (1.0, "abc"), (True, "abc"), (0, "de"), (False, "de"), ("1", "f")]
)
def test_numbers_and_truth_values_are_equal_as_in_haystack(document_store, value, found):
    held = {"a": 1, "b": 1.0, "c": True, "d": 0, "e": False, "f": "1", "g": [1]}
    documents = [Document(id=key, content="x", meta={"n": one}) for key, one in held.items()]
    document_store.write_documents(documents)
    theirs = InMemoryDocumentStore()
    theirs.write_documents(documents)
    for filters in (
        {"field": "meta.n", "operator": "==", "value": value},
        {"field": "meta.n", "operator": "in", "value": [value, "none"]},
    ):
        assert [one.id for one in document_store.filter_documents(filters)] == list(found)
        assert [one.id for one in theirs.filter_documents(filters)] == list(found)


VALUES = st.one_of(
    st.sampled_from(DATES),
    st.sampled_from([None, True, False, 0, 1, 0.0, 1.0, -0.0, "", "0", "1", "true", "null", "a\0b", "a\nb", '"', "\\"]),
    st.sampled_from([2**53, 2**53 + 1, 2.0**53, 2**63, 2.0**63, 2**70, 0.1 + 0.2, 1e300, 5e-324]),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=4),
)
STORED = VALUES | st.lists(VALUES, max_size=2) | st.fixed_dictionaries({"b": VALUES})
FIELDS = st.sampled_from(["a", "a b", "ü", 'a"b', "a\\b", "a\nb", "_haystack", "field", "operator"])
COMPARISON = st.one_of(
    st.fixed_dictionaries({"field": FIELDS.map("meta.{}".format), "operator": st.just("=="), "value": STORED}),
    st.fixed_dictionaries(
        {"field": FIELDS.map("meta.{}".format), "operator": st.just("in"), "value": st.lists(VALUES, max_size=3)}
    ),
)
FILTERS = COMPARISON | st.fixed_dictionaries(
    {"operator": st.sampled_from(["AND", "OR", "NOT"]), "conditions": st.lists(COMPARISON, max_size=3)}
)


@pytest.mark.parametrize("names", [("field", "operator"), ("a", "conditions"), ("value", "a")])
def test_any_field_and_any_length_can_be_filtered_by(document_store, names):
    meta = dict.fromkeys(names, "x" * 2000)
    document_store.write_documents([Document(id="one", content="x", meta=meta), Document(id="other", content="x")])
    conditions = [{"field": f"meta.{name}", "operator": "==", "value": "x" * 2000} for name in names]
    found = document_store.filter_documents({"operator": "AND", "conditions": conditions})
    assert [one.id for one in found] == ["one"]


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.lists(st.dictionaries(FIELDS, STORED, max_size=2), min_size=1, max_size=5), st.data())
def test_filters_find_what_they_find_in_the_store_of_haystack(metas, data):
    documents = [Document(id=str(number), content="x", meta=meta) for number, meta in enumerate(metas)]
    known = [(name, value) for meta in metas for name, value in meta.items()]
    among = [{"field": f"meta.{name}", "operator": "==", "value": value} for name, value in known]
    among += [{"field": f"meta.{name}", "operator": "in", "value": ["none", value]} for name, value in known]
    filters = data.draw(st.sampled_from(among) | FILTERS if among else FILTERS)
    theirs, ours = InMemoryDocumentStore(), HopweaveDocumentStore(builders=[])
    theirs.write_documents(documents)
    ours.write_documents(documents)
    found = {one.id for one in ours.filter_documents(filters)}
    ours.close()
    assert found == {one.id for one in theirs.filter_documents(filters)}
