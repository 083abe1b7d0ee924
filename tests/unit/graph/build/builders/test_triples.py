from math import log

import pytest

from hopweave.document import Document
from hopweave.errors import UnreadableInput
from hopweave.graph.build.builders.triples import TriplesBuilder, relation_type, triples_contribution
from hopweave.graph.build.resolve import resolve


@pytest.mark.parametrize(
    ("relation", "expected"),
    [
        ("is part of", "is_part_of"),
        ("  Has-Limitation!", "has_limitation"),
        ("depends_on", "depends_on"),
        ("является", "является"),
        ("?", "?"),
    ],
)
def test_relation_type(relation, expected):
    assert relation_type(relation) == expected


@pytest.mark.parametrize(
    "triple",
    [
        ["Skua", "sails to", "Harris"],
        ("Skua", "sails to", "Harris"),
        {"subject": "Skua", "predicate": "sails to", "object": "Harris"},
        {"head": "Skua", "relation": "sails to", "tail": "Harris"},
        {"source": "Skua", "type": "sails to", "target": "Harris"},
    ],
)
def test_all_forms_of_a_triple(triple):
    found = TriplesBuilder().contribute(Document("d", "", {"triples": [triple]}))
    assert [(edge.source, edge.type, edge.target, edge.label) for edge in found.edges] == [
        ("entity:skua", "sails_to", "entity:harris", "sails to")
    ]
    assert [mention.name for mention in found.mentions] == ["Skua", "Harris"]


def test_no_triples():
    for metadata in ({}, {"triples": None}, {"triples": []}):
        assert TriplesBuilder().contribute(Document("d", "", metadata)).edges == ()


def test_a_triple_twice_counts_once_per_document():
    triple = ["Skua", "sails to", "Harris"]
    resolved = resolve([triples_contribution("a", [triple, triple]), triples_contribution("b", [triple])])
    weights = {(edge.source, edge.type): edge.weight for edge in resolved.edges()}
    assert weights["entity:skua", "sails_to"] == pytest.approx((1 + 1) / log(2 + 2) ** 2)
    assert weights["passage:a", "mentions"] == pytest.approx(1 / log(2 + 2))


def test_further_entities():
    found = TriplesBuilder().contribute(Document("d", "", {"entities": ["Harris"]}))
    assert [mention.name for mention in found.mentions] == ["Harris"]


@pytest.mark.parametrize(
    "bad", [["a", "b"], ["a", "b", "c", "d"], ["a", "", "c"], ["a", 1, "c"], "abc", None, {"subject": "a"}]
)
def test_what_is_no_triple(bad):
    good = ["a", "b", "c"]
    document = Document("d", "", {"triples": [good, bad]})
    with pytest.raises(UnreadableInput, match="document 'd', triple 1"):
        TriplesBuilder().contribute(document)
    assert len(TriplesBuilder(skip_malformed=True).contribute(document).edges) == 1


def test_non_latin_names_stay_distinct():
    found = triples_contribution("d", [["北京", "不是", "東京"]])
    assert {edge.source for edge in found.edges} | {edge.target for edge in found.edges} == {
        "entity:北京",
        "entity:東京",
    }
