from dataclasses import replace

import numpy as np
import pytest

from hopweave.document import Document
from hopweave.errors import MissingCapability
from hopweave.graph.build.builders.mentions import MentionsBuilder
from hopweave.graph.build.resolve import resolve
from hopweave.graph.external_documents import ExternalDocuments
from hopweave.graph.pagerank import PageRank
from hopweave.hit import Hit
from hopweave.knowledge_base.store import KnowledgeBase
from hopweave.query import Query
from hopweave.text.bm25 import BM25
from hopweave.text.full_text import FullText
from hopweave.vector.vector_search import VectorSearch

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
        assert there.capabilities == kb.capabilities
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
