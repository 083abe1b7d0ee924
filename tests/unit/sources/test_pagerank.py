"""The PageRank source: from what a question names to the passages it leads to."""

import json

import numpy as np
import pytest
from pydantic import ValidationError

from hopweave import Document, Hit, KnowledgeBase, Pipeline, Query
from hopweave.errors import MissingCapability
from hopweave.graph.build.builders.mentions import MentionsBuilder
from hopweave.graph.build.entity_resolution import EntityResolution
from hopweave.graph.build.resolve import resolve
from hopweave.graph.external_documents import ExternalDocuments
from hopweave.query import Plan
from hopweave.sources.pagerank import PageRank
from hopweave.stages.similarity.vector_finder import VectorFinder

ISLES = [
    Document("skua", "MV Skua is a ferry. She was drawn by Ingrid Falk.", {"title": "MV Skua", "owner": "line"}),
    Document("falk", "Ingrid Falk was born in Lunn and drew ships.", {"title": "Ingrid Falk", "owner": "line"}),
    Document("lunn", "Lunn is a village of net makers.", {"title": "Lunn", "owner": "parish"}),
    Document("tern", "MV Tern is a tug. She was drawn by Odd Berg.", {"title": "MV Tern", "owner": "line"}),
    Document("berg", "Odd Berg was born in Hallow.", {"title": "Odd Berg", "owner": "line"}),
    Document("hallow", "Hallow is a town with a cannery.", {"title": "Hallow", "owner": "line"}),
]
ALONE = PageRank(seeds_from=(), word_source=None)


@pytest.fixture(scope="module")
def kb():
    with KnowledgeBase.open() as kb:
        kb.add(ISLES)
        yield kb


def ids(hits):
    return [hit.id for hit in hits]


def test_reaches_the_third_passage_along_names_the_question_does_not_say(kb):
    found = ids(ALONE.search(Query("Where does the designer of MV Skua come from?"), kb))
    assert set(found[:3]) == {"skua", "falk", "lunn"}
    assert "berg" not in found[:3]


def test_scores_are_square_roots_of_shares_and_the_receipt_tells_them(kb):
    hits = ALONE.search(Query("MV Skua"), kb)
    shares = [hit.receipts[-1].details["share"] for hit in hits]
    assert hits[0].score == 1
    np.testing.assert_allclose([hit.score for hit in hits], [(share / shares[0]) ** 0.5 for share in shares])
    assert sum(shares) < 1, "entities have their share of the visits as well"
    details = hits[0].receipts[-1].details
    assert (details["seeds"], details["rank"], details["finished"]) == (["MV Skua"], 1, True)
    json.dumps(details)


def test_the_receipt_tells_which_names_were_not_linked_word_for_word(kb):
    details = [
        ALONE.search(Query(text), kb)[0].receipts[-1].details for text in ("Is MV Skuas old?", "Is MV Skua old?")
    ]
    assert details[0]["inexact"] == {"MV Skuas": "MV Skua"}
    assert "inexact" not in details[1]


@pytest.mark.parametrize("text", ["", "   ", "what is it about?", "zeppelin"])
def test_without_anything_to_start_from_there_are_no_hits(kb, text):
    assert ALONE.search(Query(text), kb) == []


def test_upstream_passages_are_seeds_when_nothing_is_named(kb):
    source = PageRank(seeds_from=("text",))
    upstream = {"text": [Hit("falk", 2.0), Hit("tern", 1.0)]}
    assert ids(source.search(Query("who drew it?"), kb, upstream))[0] == "falk"
    assert source.search(Query("who drew it?"), kb, {}) == []


def test_node_bias_prefers_the_neighbour_that_is_relevant_to_the_rest_of_the_question():
    documents = [
        Document("a", "Anna Lind met Bo Dahl and Carl Ek.", {"title": "Anna Lind"}),
        Document("b", "Bo Dahl sold fish.", {"title": "Bo Dahl"}),
        Document("c", "Carl Ek wrote operas.", {"title": "Carl Ek"}),
    ]
    with KnowledgeBase.open(embedder=None) as kb:
        kb.add(documents)
        upstream = {"text": [Hit("a", 3.0), Hit("c", 1.0), Hit("b", 1.0)]}
        question = Query("Which opera composer did Anna Lind meet?")
        biased = ids(PageRank(seeds_from=("text",)).search(question, kb, upstream))
        plain = PageRank(seeds_from=("text",), relevance_exponent=0.0).search(question, kb, upstream)
    assert biased.index("c") < biased.index("b")
    shares = {hit.id: hit.score for hit in plain}
    assert shares["b"] == pytest.approx(shares["c"], rel=0.05)


def test_entities_that_cooccur_with_forms_of_the_questions_words_are_boosted():
    documents = [
        Document("a", "Anna Lind met Bo Dahl and Carl Ek.", {"title": "Anna Lind"}),
        Document("b", "Bo Dahl sold fish.", {"title": "Bo Dahl"}),
        Document("c", "Carl Ek lived in town.", {"title": "Carl Ek"}),
        Document("d", "A bust of composer Carl Ek. A bust of smith Bo Dahl.", {"title": "Park"}),
    ]
    question, upstream = Query("Which composers did Anna Lind meet?"), {"text": [Hit("a", 1.0)]}
    with KnowledgeBase.open(embedder=None) as kb:
        kb.add(documents)
        source = PageRank(seeds_from=("text",), word_source=None)
        hits = source.search(question, kb, upstream)
        boosted = {hit.id: hit.score for hit in hits}
        plain = {hit.id: hit.score for hit in source.changed(cooccurrence_boost=0).search(question, kb, upstream)}
    assert plain["b"] == pytest.approx(plain["c"], rel=0.01)
    assert boosted["c"] > 1.3 * boosted["b"]
    boosted_by = {hit.id: hit.receipts[-1].details.get("boosted_by") for hit in hits}
    assert (boosted_by["c"], boosted_by["b"]) == (["Carl Ek"], None)


class LookedUp:
    """A graph that looks flags of nodes up, as one on a server does."""

    def __init__(self, graph):
        self._graph = graph

    def __getattr__(self, name):
        return getattr(self._graph, name)

    def nodes_of_kind(self, kind):
        return Flags(self._graph.nodes_of_kind(kind))

    def targets_of_type(self, edge_type):
        return Flags(self._graph.targets_of_type(edge_type))


class Flags:
    def __init__(self, flags):
        self._flags = flags

    def __getitem__(self, nodes):
        return self._flags[nodes]


@pytest.mark.parametrize("port", [lambda graph: graph, LookedUp], ids=["in memory", "looked up"])
def test_a_boost_below_that_of_topics_is_in_the_receipt_and_one_of_topics_alone_is_not(port):
    documents = [
        Document("a", "Anna Lind met Bo Dahl and Carl Ek.", {"title": "Anna Lind"}),
        Document("b", "Bo Dahl sold fish.", {"title": "Bo Dahl"}),
        Document("c", "Carl Ek mended nets.", {"title": "Nets"}),
        *(Document(f"c{number}", "Later Carl Ek rested.", {"title": f"Rest {number}"}) for number in range(3)),
        Document("d", "A bust of composer Carl Ek.", {"title": "Park"}),
    ]
    question, upstream = Query("Which composers did Anna Lind meet?"), {"text": [Hit("a", 1.0)]}
    everywhere = EntityResolution(searched_kinds=("entity",))
    graph = resolve(map(MentionsBuilder().contribute, documents), everywhere).graph()
    nodes, closeness = graph.cooccurring(["composers"])
    # in one of six passages with the name: 1 / (1 + 6), so a boost of 1 + 5/7, which is less than that of topics, 2
    assert (nodes.tolist(), closeness.tolist()) == ([graph.find(["entity:carl ek"])["entity:carl ek"]], [1 / 7])
    place = ExternalDocuments(port(graph), lambda ids: map(Hit, ids))
    hits = PageRank(seeds_from=("text",), word_source=None).search(question, place, upstream)
    boosted_by = {hit.id: hit.receipts[-1].details.get("boosted_by") for hit in hits}
    assert (boosted_by["c"], boosted_by["b"]) == (["Carl Ek"], None)


def test_entities_that_a_passage_is_about_are_boosted():
    documents = [
        Document("a", "Anna Lind met Bo Dahl and Carl Ek.", {"title": "Anna Lind"}),
        Document("b", "Bo Dahl sold fish.", {"title": "Bo Dahl"}),
        Document("c", "There Carl Ek mended nets.", {"title": "Nets"}),
    ]
    question, upstream = Query("Whom did Anna Lind meet?"), {"text": [Hit("a", 1.0)]}
    ratios = []
    with KnowledgeBase.open(embedder=None) as kb:
        kb.add(documents)
        for boost in (1.0, 2.0):
            source = PageRank(seeds_from=("text",), word_source=None, topic_boost=boost)
            score = {hit.id: hit.score for hit in source.search(question, kb, upstream)}
            ratios.append(score["b"] / score["c"])
    assert ratios[1] > 1.2 * ratios[0]


def test_a_graph_that_is_only_a_port_ranks_the_same(plain_port):
    resolved = resolve(map(MentionsBuilder().contribute, ISLES))
    documents = {document.id: Hit(document.id, metadata=document.metadata) for document in ISLES}
    question = Query("Where does the designer of MV Skua come from?", tenant={"owner": "line"})
    source = PageRank(seeds_from=("vector",), word_source=None, cooccurrence_boost=0, tolerance=1e-6)
    upstream = {"vector": [Hit("berg", 2.0), Hit("falk", 1.0)]}
    found = []
    for graph in (resolved.graph(), plain_port(resolved.nodes, resolved.edges())):
        place = ExternalDocuments(graph, lambda ids: [documents[key] for key in ids])
        found.append({hit.id: hit.score for hit in source.search(question, place, upstream)})
    assert found[1] == pytest.approx(found[0], abs=1e-3)
    assert "lunn" not in found[0]
    assert list(found[0])[:2] == list(found[1])[:2]


def test_a_tenant_is_not_walked_across(kb):
    question = Query("Where does the designer of MV Skua come from?", tenant={"owner": "line"})
    found = ids(ALONE.search(question, kb))
    assert "falk" in found
    assert "lunn" not in found
    assert ids(ALONE.search(Query("MV Skua", tenant={"owner": "parish"}), kb)) == []


def test_a_plan_may_set_the_restart(kb):
    near = Query("MV Skua", plan=Plan(("graph",), restart=0.9))
    far = ALONE.search(Query("MV Skua"), kb)
    assert {hit.id: hit.score for hit in ALONE.search(near, kb)}["lunn"] < {hit.id: hit.score for hit in far}["lunn"]


def test_adding_a_document_opens_a_path_and_deleting_it_closes_it():
    with KnowledgeBase.open(embedder=None) as kb:
        kb.add([document for document in ISLES if document.id != "falk"])
        question = Query("Where does the designer of MV Skua come from?")
        before = ids(ALONE.search(question, kb))
        assert "lunn" not in before
        kb.add([ISLES[1]])
        assert set(ids(ALONE.search(question, kb))[:3]) == {"skua", "falk", "lunn"}
        kb.delete(["falk"])
        assert ids(ALONE.search(question, kb)) == before


def test_the_recipe_beats_its_own_text_source_on_a_second_hop(kb):
    question = "What do people make in the home of the designer of MV Skua?"
    assert "lunn" in ids(Pipeline("multihop", kb).run(question, top_k=3).hits)


def test_a_specific_question_may_stay_nearer_than_a_broad_one(kb):
    scores = {}
    for adaptive in (False, True):
        source = ALONE.model_copy(update={"adaptive_restart": adaptive})
        scores[adaptive] = {hit.id: hit.score for hit in source.search(Query("MV Skua"), kb)}
    assert scores[True]["lunn"] < scores[False]["lunn"]


def test_passages_about_what_a_question_names_do_not_make_it_broad():
    about = [Document(f"about {number}", "She sails.", {"title": "MV Skua"}) for number in range(8)]
    with KnowledgeBase.open(embedder=None) as kb:
        kb.add([*about, *ISLES])
        shares = [
            {hit.id: hit.receipts[-1].details["share"] for hit in source.search(Query("MV Skua"), kb)}
            for source in (ALONE.changed(adaptive_restart=True), ALONE.changed(restart=0.5))
        ]
    assert shares[0] == shares[1]


def test_bad_parameters_are_named():
    with pytest.raises(ValidationError, match=r"restart\n.*greater than 0"):
        PageRank(restart=0)
    with pytest.raises(ValidationError, match="No such parameter"):
        PageRank(damping=0.85)


def test_a_place_without_a_graph_is_an_error_that_says_so():
    with pytest.raises(MissingCapability, match="pagerank needs graph, which VectorFinder does not have"):
        ALONE.search(Query("MV Skua"), VectorFinder())
