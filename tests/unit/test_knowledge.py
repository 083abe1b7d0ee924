import numpy as np
import pytest

from hopweave import KnowledgeBase, Pipeline, Query
from hopweave.document import Document
from hopweave.errors import MissingCapability
from hopweave.graph.documents import graph_of, passage_numbers
from hopweave.graph.model import Node
from hopweave.hit import Hit
from hopweave.knowledge import Capability, Knowledge, require
from hopweave.testing.graphs import graph_from_edges


class Shelf(Knowledge):
    version = 1

    def get(self, ids, *, tenant=None):
        return {key: Hit(key) for key in ids}


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda there: there.rank_text({}, analyzer="nlp", top_k=1), "rank_text needs words"),
        (lambda there: there.rank_words("x", analyzer="nlp", top_k=1), "rank_words needs words"),
        (lambda there: there.rank_full_text("x", top_k=1), "rank_full_text needs full_text"),
        (lambda there: there.rank_vectors(np.ones(2), top_k=1), "rank_vectors needs vectors"),
        (lambda there: there.embed("x"), "embed needs embedder"),
        (lambda there: there.embed_texts(["x"]), "embed_texts needs text_embedder"),
        (lambda there: there.graph, "graph needs graph"),
        (lambda there: there.graph_for({}), "graph needs graph"),
        (lambda there: there.visible({}), "visible needs tenants"),
        (lambda there: there.communities(["x"]), "communities needs communities"),
    ],
)
def test_what_a_place_cannot_do_raises(ask, message):
    with pytest.raises(MissingCapability, match=f"^{message}, which Shelf does not have; it has no capabilities$"):
        ask(Shelf())


def test_a_place_that_says_nothing_else():
    there = Shelf()
    assert there.vectors(["x"]) == {}
    assert there.passing({"field": "meta.owner", "operator": "==", "value": "museum"}, bool, 1) is None
    assert there.has_all
    assert there.versions_documents


@pytest.mark.parametrize(("versions_documents", "seen"), [(True, ["d"]), (False, [])])
def test_what_a_tenant_sees_is_kept_for_a_version_if_that_is_one_of_the_documents(versions_documents, seen):
    class Desk(Shelf):
        capabilities = frozenset({Capability.GRAPH, Capability.TENANTS})
        graph = graph_from_edges([Node.passage("d")], [])
        owned = ("d",)

        def visible(self, tenant, ids=None):
            return self.owned

    desk = Desk()
    desk.versions_documents = versions_documents
    assert list(passage_numbers(graph_of(desk, "test", {"owner": "museum"}), ["d"])) == ["d"]
    desk.owned = ()
    assert list(passage_numbers(graph_of(desk, "test", {"owner": "museum"}), ["d"])) == seen


def test_an_error_names_component_need_and_place():
    with pytest.raises(MissingCapability, match=r"^pagerank needs graph, which Shelf does not have"):
        require(Shelf(), Capability.GRAPH, "pagerank")


def test_a_tenant_is_refused_where_tenants_are_not_kept_apart():
    with pytest.raises(MissingCapability, match=r"^a query with a tenant needs tenants, which Shelf does not have"):
        Pipeline("hybrid", Shelf()).run(Query("x", tenant={"owner": "museum"}))


def test_a_knowledge_base_declares_an_embedder_only_if_it_has_one():
    with KnowledgeBase.open() as kb, KnowledgeBase.open(embedder=None) as bare:
        assert kb.capabilities - bare.capabilities == {Capability.EMBEDDER}
        assert {Capability.GRAPH, Capability.WORDS, Capability.TENANTS} <= bare.capabilities


def test_asking_does_not_read_the_graph(monkeypatch):
    with KnowledgeBase.open(embedder=None) as kb:
        kb.add([Document("skua", "The Skua is a ferry.")])
        monkeypatch.setattr(KnowledgeBase, "graph", property(lambda _: pytest.fail("the graph was read")))
        assert Capability.GRAPH in kb.capabilities
        require(kb, Capability.GRAPH, "pagerank")
