import numpy as np
import pytest

from hopweave.document import Document
from hopweave.graph.build.builders.mentions import MentionsBuilder
from hopweave.graph.build.builders.parts import PartsBuilder
from hopweave.graph.documents import documents_in_parts
from hopweave.graph.link.linker import Linker
from hopweave.knowledge_base.store import KnowledgeBase
from hopweave.query import Query
from hopweave.sources.pagerank import PageRank

SHIP = [
    Document("s0", "Skua is a ferry.", {"title": "MV Skua", "source_id": "ship", "split_id": 0}),
    Document("s1", "Skua sails to Harris.", {"title": "MV Skua", "source_id": "ship", "split_id": 1}),
    Document("s2", "Skua was built in Leith.", {"title": "MV Skua", "source_id": "ship", "split_id": 2}),
]
ISLE = Document("isle", "Harris is an island.", {"title": "Harris"})


@pytest.mark.parametrize(
    ("metadata", "whole", "edges"),
    [
        ({"source_id": "ship", "split_id": 3}, ["ship"], [("address:ship#2", "passage:d")]),  # Haystack
        ({"ref_doc_id": "ship", "next_id": "s4"}, ["ship"], [("passage:d", "passage:s4")]),  # LlamaIndex
        ({"source": "ship.md", "part": 2}, ["ship.md"], [("address:ship.md#1", "passage:d")]),  # Markdown
        ({"source": "all.jsonl"}, [], []),  # a file with many documents
        ({"source_id": " ", "split_id": True}, [], []),
        ({}, [], []),
    ],
)
def test_what_splitters_leave_in_the_metadata(metadata, whole, edges):
    found = PartsBuilder().contribute(Document("d", "text", metadata))
    assert [mention.name for mention in found.mentions] == whole
    assert [(edge.source, edge.target, edge.type) for edge in found.edges] == [(*ends, "followed_by") for ends in edges]


def subjects(text, metadata):
    found = PartsBuilder().contribute(Document("d", text, metadata))
    assert {mention.name.casefold() for mention in found.mentions if mention.is_about} == {
        edge.target.removeprefix("entity:") for edge in found.edges if edge.type == "subject"
    }
    return [(edge.source, edge.target) for edge in found.edges if edge.type == "subject"]


@pytest.mark.parametrize(
    ("text", "metadata", "found"),
    [
        ("MV Skua is a ferry.", {"source_id": "S 1", "split_id": 0}, [("document:s 1", "entity:mv skua")]),
        ("MV Skua is a ferry.", {"source_id": "s", "split_id": 1}, []),  # the second part
        ("MV Skua is a ferry.", {"ref_doc_id": "s", "part": 1}, [("document:s", "entity:mv skua")]),
        ("MV Skua is a ferry.", {"ref_doc_id": "s"}, []),
        ("MV Skua is a ferry.", {"source_id": "s", "split_id": 0, "title": "Ships"}, []),  # it has a title
        ("MV Skua is a ferry.", {"split_id": 0}, []),  # no document
        ("Skua, built in May, 1974, is a ferry.", {"source_id": "s", "split_id": 0}, [("document:s", "entity:skua")]),
        ("# Harris\nA text.\n# Lunn", {"source_id": "s", "split_id": 0}, [("document:s", "entity:harris")]),
        ("She sails.", {"source_id": "s", "split_id": 0}, []),
    ],
)
def test_what_a_document_without_a_title_is_about(text, metadata, found):
    assert subjects(text, metadata) == found


def test_a_question_leads_to_the_parts_of_a_document_that_do_not_name_what_it_is_about():
    skua = [
        Document("s0", "MV Skua is a ferry.", {"source_id": "s", "split_id": 0}),
        Document("s1", "She sails to Harris.", {"source_id": "s", "split_id": 1}),
        Document("s2", "The engine was made in Leith.", {"source_id": "s", "split_id": 2}),
    ]
    question = "Where was the engine of the MV Skua made?"

    def about(kb):
        (link,) = (link for link in Linker().link(question, kb.graph).links if link.name == "MV Skua")
        return sorted(node.document_id for node in kb.graph.nodes(np.array(link.about)))

    with KnowledgeBase.open(embedder=None) as kb:
        kb.add([skua[2], ISLE, skua[0], skua[1]])
        assert about(kb) == ["s0", "s1", "s2"]
        assert Linker().link(question, kb.graph).confidence == 1.0
        few = Linker(max_about=2).link(question, kb.graph).links[0]
        assert [node.document_id for node in kb.graph.nodes(np.array(few.about))] == ["s0"]  # not some of the parts
        kb.delete(["s1"])
        assert about(kb) == ["s0", "s2"]
        kb.add([Document("s0", "SS Tern is a ferry. MV Skua, too.", {"source_id": "s", "split_id": 0})])
        assert about(kb) == []


@pytest.fixture
def fleet():
    with KnowledgeBase.open(embedder=None) as kb:
        kb.add([*SHIP, ISLE])
        yield kb


def test_parts_are_linked_by_default_to_their_document_and_to_each_other(fleet):
    graph = fleet.graph
    numbers = graph.find([f"passage:{one}" for one in ("s0", "s1", "isle")])
    passages = sorted(numbers.values())
    found = dict(zip(passages, documents_in_parts(graph, np.array(passages)), strict=True))
    assert found[numbers["passage:s0"]] == found[numbers["passage:s1"]] != numbers["passage:s0"]
    assert found[numbers["passage:isle"]] == numbers["passage:isle"]
    edges = graph.neighbours(np.array([numbers["passage:s0"]]))
    followed_by = edges.targets[edges.types == list(graph.edge_types).index("followed_by")]
    assert followed_by.tolist() == [numbers["passage:s1"]]


def test_a_name_that_parts_of_one_document_are_about_is_not_ambiguous(fleet):
    with KnowledgeBase.open(embedder=None, builders=[MentionsBuilder()]) as apart:
        apart.add([*SHIP, ISLE])
        sure, unsure = (Linker().link("Who built the MV Skua?", kb.graph).confidence for kb in (fleet, apart))
    assert (sure, unsure) == (1.0, pytest.approx(3**-0.5))


def test_further_parts_of_a_document_come_after_other_documents(fleet):
    asked = Query("Which island does the MV Skua sail to?")
    spread = [hit.id for hit in PageRank(seeds_from=(), same_document_decay=0.01).search(asked, fleet)]
    together = [hit.id for hit in PageRank(seeds_from=(), same_document_decay=1.0).search(asked, fleet)]
    assert spread.index("isle") == 1
    assert together.index("isle") > 1
    assert sorted(spread) == sorted(together)
