import asyncio
import logging
from dataclasses import replace

import numpy as np
import pytest

from hopweave.document import Document
from hopweave.errors import MissingCapability
from hopweave.graph.build.builders.mentions import MentionsBuilder
from hopweave.graph.build.resolve import resolve
from hopweave.graph.documents import graph_of, passage_numbers
from hopweave.graph.external_documents import ExternalDocuments
from hopweave.graph.model import Node
from hopweave.hit import Hit
from hopweave.knowledge import Capability
from hopweave.knowledge_base.store import KnowledgeBase
from hopweave.pipeline import Pipeline
from hopweave.query import Query
from hopweave.recipe import Recipe
from hopweave.sources.bm25 import BM25
from hopweave.sources.full_text import FullText
from hopweave.sources.pagerank import PageRank
from hopweave.sources.vector_search import VectorSearch
from hopweave.testing.graphs import graph_from_edges

EAST = np.array([1, 0], np.float32)
DOCUMENTS = [
    Document("skua", "MV Skua was designed by Ingrid Falk.", {"title": "MV Skua", "owner": "harbour"}),
    Document("falk", "Ingrid Falk was born in Lunn.", {"title": "Ingrid Falk", "owner": "museum"}, EAST),
]


@pytest.fixture
def elsewhere():
    build = MentionsBuilder().contribute
    shelf = {one.id: Hit(one.id, text=one.text, metadata=one.metadata, vector=one.vector) for one in DOCUMENTS}
    graph = resolve([build(one) for one in DOCUMENTS]).graph(version=7)
    return ExternalDocuments(graph, lambda ids: [shelf[key] for key in ids if key in shelf])


def test_fetches_what_is_there(elsewhere):
    assert list(elsewhere.get(["falk", "nobody", "skua"])) == ["falk", "skua"]
    assert elsewhere.get([]) == {}
    assert list(elsewhere.get(["falk", "skua"], tenant={"owner": "harbour"})) == ["skua"]
    assert list(elsewhere.vectors(["falk", "skua"])) == ["falk"]
    assert elsewhere.version == 7


def test_a_tenant_sees_its_own(elsewhere):
    assert elsewhere.visible({"owner": "museum"}) == {"falk"}
    assert elsewhere.visible({"owner": "museum"}, ["skua", "lost"]) == set()
    assert elsewhere.visible({}) == {"falk", "skua"}


def test_documents_may_change_hands_without_a_new_version():
    shelf = {"d": Hit("d", metadata={"owner": "museum"})}
    there = ExternalDocuments(graph_from_edges([Node.passage("d")], []), lambda ids: [shelf[key] for key in ids])
    for owner, seen in (("museum", ["d"]), ("harbour", [])):
        shelf["d"] = Hit("d", metadata={"owner": owner})
        assert list(passage_numbers(graph_of(there, "test", {"owner": "museum"}), ["d"])) == seen


def test_words_and_vectors_are_not_here(elsewhere):
    has = "which ExternalDocuments does not have; it has graph, tenants"
    for source, needed in ((BM25(), "words"), (FullText(), "full_text"), (VectorSearch(), "vectors")):
        with pytest.raises(MissingCapability, match=f"^{source.kind} needs {needed}, {has}$"):
            source.search(Query("x"), elsewhere)


def test_an_index_searches_what_the_store_hands_out(tmp_path):
    with KnowledgeBase.open(tmp_path / "kb.db") as kb:
        kb.add(replace(one, vector=None) for one in DOCUMENTS)
        shelf = {"falk": Hit("falk", text="As the store has it.", metadata={"owner": "museum"})}
        there = ExternalDocuments(None, lambda ids: [shelf[key] for key in ids if key in shelf], index=kb)
        assert there.capabilities == kb.capabilities - {Capability.ONE_VERSION}
        for source in (BM25(), FullText(), VectorSearch(), PageRank(seeds_from=(), word_source=None)):
            found = source.search(Query("Ingrid Falk"), there)
            assert [(hit.id, hit.text) for hit in found] == [("falk", "As the store has it.")]
            assert source.search(Query("Ingrid Falk", tenant={"owner": "harbour"}), there) == []
        version = there.version
        kb.delete(["falk"])
        assert there.version > version
        assert BM25().search(Query("Ingrid Falk"), there) == []


def test_without_graph_and_index_there_are_documents_alone():
    alone = ExternalDocuments(None, lambda ids: [Hit(key) for key in ids])
    assert list(alone.get(["a"])) == ["a"]
    with pytest.raises(MissingCapability, match="pagerank needs graph, which ExternalDocuments does not have"):
        PageRank(seeds_from=(), word_source=None).search(Query("?"), alone)


FERRIES = [
    Document(f"ferry-{n:03}", f"MV Skua sails to Hallow on day {n}.", {"title": f"Day {n}", "day": n})
    for n in range(400)
]


def shelf_of(documents):
    shelf = {one.id: Hit(one.id, text=one.text, metadata=one.metadata) for one in documents}
    return lambda ids: [shelf[key] for key in ids if key in shelf]


def test_what_the_store_does_not_have_is_refilled_and_the_receipt_says_so(caplog):
    graph = resolve([MentionsBuilder().contribute(one) for one in FERRIES[:60]]).graph()
    source = PageRank(seeds_from=(), word_source=None, top_k=5)
    walk = Pipeline(Recipe.of_source(source), ExternalDocuments(graph, shelf_of(FERRIES)))
    everything = [hit.id for hit in walk.run("MV Skua", top_k=60).hits]
    assert len(everything) == 60
    gone = {*everything[:4], everything[7]}
    walk.knowledge = ExternalDocuments(graph, shelf_of(one for one in FERRIES if one.id not in gone))
    for result in (walk.run("MV Skua"), asyncio.run(walk.run_async("MV Skua"))):
        assert [hit.id for hit in result.hits] == [key for key in everything if key not in gone][:5]
        assert result.missing == {"pagerank": 5}
        assert result.as_dict()["missing"] == {"pagerank": 5}
        assert {hit.receipts[0].details["missing"] for hit in result.hits} == {5}
    assert not caplog.records
    walk.knowledge = ExternalDocuments(graph, lambda ids: [])
    with caplog.at_level(logging.WARNING):
        assert walk.run("MV Skua").hits == ()
    assert "source 'pagerank': none of the 60 documents that it ranked is in their store" in caplog.text


@pytest.mark.parametrize("filters", [{"day": 399}, lambda hit: hit.metadata["day"] == 399], ids=["fields", "function"])
def test_filters_that_few_documents_pass(filters):
    with KnowledgeBase.open() as kb:
        kb.add(FERRIES)
        there = ExternalDocuments(None, shelf_of(FERRIES), index=kb)
        question = Query("MV Skua sails to Hallow", filters=filters)
        assert [hit.id for hit in Pipeline("hybrid", there).run(question).hits] == ["ferry-399"]
        everything_gone = ExternalDocuments(None, lambda ids: [], index=kb)
        assert Pipeline("hybrid", everything_gone).run(question).hits == ()


class Slow(ExternalDocuments):
    """A place that fails if anything is asked of it by the thread of the event loop."""

    @property
    def graph(self):
        assert_no_loop()
        return super().graph

    @property
    def version(self):
        assert_no_loop()
        return super().version


def assert_no_loop():
    with pytest.raises(RuntimeError):
        asyncio.get_running_loop()


def test_asynchronous_runs_ask_a_graph_beside_the_event_loop():
    graph = resolve([MentionsBuilder().contribute(one) for one in FERRIES[:9]]).graph()
    recipe = Recipe.from_yaml("""
        name: planned
        plan: {simple_characters: 1, complex_characters: 2}
        sources: {graph: {kind: pagerank, seeds_from: [], word_source: null}}
        paths: {min_hits: 2}
        neighbourhood: {}
    """)
    pipeline = Pipeline(recipe, Slow(graph, shelf_of(FERRIES)))
    assert asyncio.run(pipeline.run_async("Where does MV Skua sail?")).hits
    assert asyncio.run(pipeline.find_async("Where does MV Skua sail?")).hits
