import pytest

from hopweave.document import Document
from hopweave.graph.build.builders.metadata import MetadataBuilder
from hopweave.graph.build.resolve import resolve


def edges(*documents, **parameters):
    build = MetadataBuilder(**parameters).contribute
    return [(edge.source, edge.type, edge.target) for edge in resolve(map(build, documents)).edges()]


def test_nothing_to_say():
    assert edges() == []
    assert edges(Document("a", ""), Document("b", "", {"size": 3})) == []


def test_parents_and_children_say_the_same():
    up = edges(Document("book", ""), Document("page", "", {"parent_id": "book"}))
    down = edges(Document("book", "", {"children": ["page"]}), Document("page", ""))
    assert up == down == [("passage:page", "part_of", "passage:book")]


def test_references_by_id_title_and_path():
    documents = [
        Document("a", "", {"depends_on": ["b", "The C", "docs/d.md"]}),
        Document("b", ""),
        Document("c", "", {"title": "The C"}),
        Document("d", "", {"path": "docs/d.md"}),
    ]
    assert edges(*documents) == [("passage:a", "depends_on", f"passage:{id_}") for id_ in "bcd"]


def test_shared_values_connect():
    found = edges(Document("a", "", {"author": "Ann Lee"}), Document("b", "", {"author": ["ann lee", "Bob"]}))
    assert found == [
        ("passage:a", "author", "author:ann lee"),
        ("passage:b", "author", "author:ann lee"),
        ("passage:b", "author", "author:bob"),
    ]


def test_fields_are_parameters():
    documents = [Document("a", "", {"see": "b", "crew": "x"}), Document("b", "", {"crew": "x"})]
    found = edges(*documents, references={"see": "cites"}, shared=["crew"])
    assert ("passage:a", "cites", "passage:b") in found
    assert ("passage:b", "crew", "crew:x") in found


def test_the_same_reference_twice_counts_once():
    build = MetadataBuilder().contribute
    assert len(build(Document("a", "", {"related": ["b", "b"]})).edges) == 1


def test_bad_parameters():
    with pytest.raises(ValueError):
        MetadataBuilder(weight=0)
