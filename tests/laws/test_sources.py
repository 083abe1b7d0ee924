"""Every registered source: known documents only, each once, best first, within limits, the same again."""

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hopweave.catalogue  # noqa: F401 - registers them
from hopweave.component import Source, registered
from hopweave.query import Query
from hopweave.sources.bm25 import BM25
from hopweave.sources.vector_search import VectorSearch

from .conftest import NOW, check_hits, frozen, intents, questions

every_source = pytest.mark.parametrize(
    "component", [pytest.param(component, id=kind) for kind, component in registered(Source).items()]
)
tenants = st.sampled_from([None, {"owner": "ann"}, {"owner": "nobody"}])
UPSTREAM = {"text": BM25(), "vector": VectorSearch()}


def search(source, query, library):
    upstream = {name: UPSTREAM.get(name, BM25()).search(query, library) for name in source.needs}
    before = frozen(upstream)
    found = source.search(query, library, upstream)
    assert upstream == before
    assert asyncio.run(source.search_async(query, library, upstream)) == found, "another result in async"
    return found


@every_source
@settings(max_examples=40)
@given(text=questions, intent=intents, tenant=tenants, top_k=st.sampled_from([1, 2, 3, 50]))
def test_laws(component, library, text, intent, tenant, top_k):
    source, query = component(top_k=top_k), Query(text, None, NOW, tenant=tenant, intent=intent)
    asked, version = frozen(query), library.version
    found = search(source, query, library)

    assert query == asked
    assert library.version == version, "something was written"
    assert search(component(top_k=top_k), asked, library) == found, "another result the second time"

    ids = [hit.id for hit in found]
    assert len(ids) == len(set(ids)) <= top_k
    assert set(ids) <= library.get(list("abcdefgh"), tenant=tenant).keys(), (
        "a document was invented, or seen by a stranger"
    )
    documents = library.get(ids)
    assert [(hit.text, hit.metadata) for hit in found] == [
        (documents[key].text, documents[key].metadata) for key in ids
    ]
    order = [hit.score for hit in found]
    assert order == sorted(order, reverse=True), "not best first"
    assert all(hit.scale is not None and hit.receipts[-1].after == hit.score for hit in found)
    check_hits(found)


@every_source
@pytest.mark.parametrize("text", ["", "  ", "\n"])
def test_an_empty_question_finds_nothing(component, library, text):
    assert search(component(), Query(text), library) == []


# Sources whose scores are relative to the hits they look at, so that looking at more may change the order.
RELATIVE = {"keyword"}


@pytest.mark.parametrize("kind", sorted(registered(Source).keys() - RELATIVE))
@settings(max_examples=20)
@given(text=questions, top_k=st.integers(1, 7))
def test_asking_for_fewer_gives_the_beginning_of_asking_for_more(kind, library, text, top_k):
    component, query = registered(Source)[kind], Query(text, None, NOW)
    few, many = (search(component(top_k=count), query, library) for count in (top_k, 8))
    assert [hit.id for hit in few] == [hit.id for hit in many][: len(few)]
