"""Malformed filters, tenants, `top_k` and documents: the error names what is wrong; nothing else comes out."""

from datetime import date

import pytest

from hopweave.document import Document
from hopweave.errors import HopweaveError, KnowledgeBaseError
from hopweave.knowledge_base.store import KnowledgeBase
from hopweave.query import Query
from hopweave.recipe import recipe_names
from hopweave.stages.filter.metadata_filter import MetadataFilter

DEEP = "x"
for _ in range(100_000):
    DEEP = [DEEP]
FILTERS = {
    "text": ("type=notice", "filters: must be a mapping"),
    "list": ([("type", "notice")], "filters: must be a mapping"),
    "number": (7, "filters: must be a mapping"),
    "field is a number": ({1: "a"}, "filters: a metadata field must be a non-empty string, but got 1"),
    "field is None": ({None: "a"}, "filters: a metadata field must be a non-empty string"),
    "field is empty": ({"": "a"}, "filters: a metadata field must be a non-empty string"),
    "operator is a number": ({"type": {1: "a"}}, "filters.type: unknown operator 1"),
    "unknown operator": ({"type": {"$eq": "a"}}, r"filters.type: unknown operator '\$eq'"),
    "in without a list": ({"type": {"in": "ab"}}, "filters.type: operator 'in' takes a list of values"),
    "surrogate in a value": ({"type": "\ud800"}, "filters.'type': is not valid Unicode"),
    "surrogate in a field": ({"a\udfff": "x"}, "is not valid Unicode"),
    "surrogate in a list": ({"type": ["a", "\ud800"]}, "is not valid Unicode"),
    "nested deeply": ({"type": DEEP}, "filters.type: is nested too deeply"),
}
ODD = {
    "None": {"type": None},
    "empty list": {"type": []},
    "empty condition": {"type": {}},
    "mapping": {"type": {"eq": {"a": 1}}},
    "NaN": {"year": {"gt": float("nan")}},
    "text against number": {"year": {"gt": "soon"}},
    "large number": {"year": {"lt": 10**400}},
    "date": {"date": {"gte": date(2026, 1, 1)}},
    "bytes": {"type": b"a"},
    "set": {"type": {"a", "b"}},
    "dots": {"a.b..c.": 1},
    "NUL": {"type": "a\x00"},
    "quotes": {'ty"pe': "'; DROP TABLE documents; --"},
}


@pytest.fixture(scope="module")
def kb():
    with KnowledgeBase.open() as kb:
        kb.add(
            [
                Document("a", "The Skua is a ferry.", {"type": "notice", "year": 1974, "tags": ["x", {"deep": 1}]}),
                Document("b", "The Tern is a ferry.", {"type": ["log", 3], "date": "2026-02-01", "year": "soon"}),
            ]
        )
        yield kb


@pytest.mark.parametrize(("filters", "complaint"), FILTERS.values(), ids=FILTERS.keys())
def test_malformed_filters_are_named(kb, filters, complaint):
    with pytest.raises(ValueError, match=complaint):
        kb.search("ferry", filters=filters)
    with pytest.raises(ValueError, match=r"where|filters"):
        kb.delete(where=filters)
    assert kb.count() == 2


@pytest.mark.parametrize("recipe", recipe_names())
@pytest.mark.parametrize("filters", ODD.values(), ids=ODD.keys())
def test_odd_filters_filter(kb, filters, recipe):
    """They match what they match; an answer to them holds nothing else."""
    admits = Query("", filters=filters).admits()
    assert all(admits(hit) for hit in kb.search("ferry", recipe=recipe, filters=filters).hits)


def test_the_stage_names_malformed_filters_too(kb):
    with pytest.raises(ValueError, match="unknown operator 'after'"):
        MetadataFilter(where={"date": {"after": 1}}).apply(kb.search("ferry").hits, Query("ferry"))


@pytest.mark.parametrize("top_k", ["5", 0, -1, 2.5, True, float("nan"), [3]])
def test_a_malformed_top_k_is_named(kb, top_k):
    with pytest.raises(ValueError, match="top_k: must be a whole number of at least 1, but got"):
        kb.search("ferry", top_k=top_k)


def test_an_enormous_top_k_is_fine(kb):
    assert len(kb.search("ferry", top_k=10**9).hits) == 2


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ({"text": None}, "query: must be a string, but got None"),
        ({"text": b"ferry"}, "query: must be a string"),
        ({"text": "x", "now": "2026-01-01"}, "now: must be a datetime, but got '2026-01-01'"),
        ({"text": "x", "tenant": "acme"}, "tenant: must be a mapping of metadata fields to values, but got 'acme'"),
    ],
)
def test_a_malformed_query_is_named(fields, complaint):
    with pytest.raises(TypeError, match=complaint):
        Query(**fields)


@pytest.mark.parametrize("tenant", [{1: "a"}, {'a"b': "x"}, {"a": {"b": 1}}, {"a": None}], ids=repr)
def test_a_malformed_tenant_is_named(kb, tenant):
    with pytest.raises((ValueError, HopweaveError), match="tenant field"):
        kb.search("ferry", tenant=tenant)


@pytest.mark.parametrize(
    "metadata",
    [["a"], "a", {"a": object()}, {"a": float("nan")}, {"a": "\ud800"}, {1: "a", "b": 2}, {"a": DEEP}, {("a",): 1}],
    ids=["list", "text", "object", "NaN", "surrogate", "mixed keys", "deep", "tuple as key"],
)
def test_malformed_metadata_names_the_document(kb, metadata):
    with pytest.raises(KnowledgeBaseError, match="document 'bad' cannot be stored"):
        kb.add([Document("bad", "text", metadata)])
    assert kb.count() == 2
