"""Facts in the graph: they lead where mentions do not, and never take weight from mentions."""

import numpy as np
import pytest

from hopweave import Document, KnowledgeBase, Query
from hopweave.graph.build.builders.builder import contribute_all
from hopweave.graph.build.builders.mentions import MentionsBuilder
from hopweave.graph.build.builders.triples import TriplesBuilder
from hopweave.graph.build.resolve import resolve
from hopweave.graph.link.linker import Linker
from hopweave.graph.model import Contribution, Edge, Mention, Node
from hopweave.sources.pagerank import PageRank

SHIPS = ["Skua", "Tern", "Petrel", "Gannet", "Fulmar", "Curlew", "Plover", "Dunlin"]
OWNERS = ["Falk", "Berg", "Lunn", "Aasen", "Moe", "Dahl", "Vik", "Holm"]


def shares(documents, question, *builders):
    """The share of each passage in the visits of a walk from the names of a question."""
    with KnowledgeBase.open(builders=[MentionsBuilder(), *builders]) as kb:
        kb.add(documents)
        hits = PageRank(seeds_from=(), word_source=None, top_k=40, tolerance=1e-4).search(Query(question), kb)
        return {hit.id: hit.receipts[-1].details["share"] for hit in hits}


def resolved(documents, *builders):
    return resolve(contribute_all([MentionsBuilder(), *builders], documents))


def weights(documents, *builders):
    return {(edge.source, edge.target): edge.weight for edge in resolved(documents, *builders).edges()}


def test_a_chain_that_only_a_triple_connects_is_followed():
    facts = [["MV Skua", "owned by", "Falk Line"]]
    documents = [
        Document("skua", "A ferry with two funnels.", {"title": "MV Skua", "triples": facts}),
        Document("line", "A company with a seat on the quay.", {"title": "Falk Line"}),
        Document("other", "A company with no ships.", {"title": "Berg Line"}),
    ]
    question = "Where has the owner of MV Skua its seat?"
    assert set(shares(documents, question)) == {"skua"}
    assert set(shares(documents, question, TriplesBuilder())) == {"skua", "line"}


def test_facts_tell_which_of_the_names_of_a_register_belong_together():
    """The register mentions all of them alike, and no other passage mentions two."""
    facts = [[f"MV {ship}", "owned by", f"{owner} Line"] for ship, owner in zip(SHIPS, OWNERS, strict=True)]
    documents = [
        Document("register", "All ships and their owners.", {"triples": facts}),
        *(Document(ship, "A ship.", {"title": f"MV {ship}"}) for ship in SHIPS),
        *(Document(owner, "A company.", {"title": f"{owner} Line"}) for owner in OWNERS),
    ]
    for ship, owner in zip(SHIPS, OWNERS, strict=True):
        found = shares(documents, f"Who owns MV {ship}?", TriplesBuilder())
        assert max(OWNERS, key=lambda one: found.get(one, 0.0)) == owner
        others = sorted((share for key, share in found.items() if key in OWNERS), reverse=True)
        assert others[0] > 1.2 * others[1]


def test_names_that_only_one_document_has_do_not_dilute_its_mentions():
    documents = [
        Document("skua", "MV Skua is a ferry to Harris.", {"title": "MV Skua"}),
        Document("isle", "Harris is an island.", {"title": "Harris"}),
    ]
    once = [["MV Skua", "has", f"Engine {number}"] for number in range(20)]
    once += [[f"Engine {number}", "made by", f"Maker {number}"] for number in range(20)]
    described = [Document("skua", documents[0].text, {**documents[0].metadata, "triples": once}), documents[1]]
    question = "Where does MV Skua go?"
    plain, diluted = shares(documents, question), shares(described, question, TriplesBuilder())
    assert diluted["isle"] > 0.8 * plain["isle"]


def test_a_name_in_one_passage_is_no_dead_end_if_another_document_states_a_fact_of_it():
    passages = [
        Contribution("skua", nodes=(Node.passage("skua"),), mentions=(Mention("MV Skua", "about"), Mention("Berg"))),
        Contribution("isle", nodes=(Node.passage("isle"),), mentions=(Mention("Lunn", "about"),)),
    ]
    fact = Edge("entity:berg", "entity:lunn", "born_in")
    weighed = []
    for stating in (None, "skua", "elsewhere"):
        stated = [
            Contribution(one.document_id, one.nodes, (fact,) if one.document_id == stating else (), one.mentions)
            for one in passages
        ]
        apart = [Contribution("elsewhere", edges=(fact,))] if stating == "elsewhere" else []
        edges = resolve([*stated, *apart]).edges()
        weighed.append({(edge.source, edge.target): edge.weight for edge in edges}["passage:skua", "entity:berg"])
    assert weighed == pytest.approx([0.1 / np.log(3), 0.1 / np.log(3), 1 / np.log(3)])


def test_a_triple_takes_no_weight_from_a_mention():
    """The capital at the start of a title proves nothing, so the name is not sure; the triple is, but weighs less."""
    kansas = Document("kansas", "A state.", {"title": "Kansas"})
    election = Document("election", "Held in 2018.", {"title": "Kansas election"})
    stated = Document(
        "election", "Held in 2018.", {"title": "Kansas election", "triples": [["Kansas", "held", "Vote"]]}
    )
    edge = ("passage:election", "entity:kansas")
    assert weights([kansas, stated], TriplesBuilder())[edge] >= weights([kansas, election])[edge]


def test_an_ordinary_word_does_not_become_an_entity_by_a_triple():
    documents = [
        Document(town, f"{town} is a city. The city has a port.", {"title": town, "triples": [[town, "is a", "city"]]})
        for town in ("Lunn", "Hallow", "Tarbert")
    ]
    question = "Which city is near Lunn?"
    for builder, linked in ((TriplesBuilder(), {"Lunn"}), (TriplesBuilder(ordinary_words=True), {"Lunn", "city"})):
        graph = resolved(documents, builder).graph()
        assert {link.name for link in Linker().link(question, graph).links} == linked
