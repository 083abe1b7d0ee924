import time

import pytest

from hopweave.document import Document
from hopweave.graph.build.builders.links import LinksBuilder, links_in
from hopweave.graph.build.resolve import resolve


@pytest.mark.parametrize(
    ("text", "links"),
    [
        ("", []),
        ("[a](b.md) [c](<d.md>) [e](b.md)", ["b.md", "d.md"]),
        ("![image](pic.png)", []),
        ("[a]: b.md\n\ntext [a]", ["b.md"]),
        ("<https://example.org/x>", ["https://example.org/x"]),
        ('<a class="x" href="b.html">b</a>', ["b.html"]),
        ("[[Harris|the island]] and [[Lewis#North]]", ["Harris", "Lewis"]),
        ("[mail](mailto:a@example.org) [up](#top)", []),
        ("[a](b.md 'title')", ["b.md"]),
    ],
)
def test_links_in(text, links):
    assert links_in(text) == links


def test_metadata_and_text():
    document = Document("d", "[x](x.md)", {"links": ["id-1", "https://example.org"], "path": "docs/d.md", "title": "D"})
    found = LinksBuilder(weight=0.5).contribute(document)
    assert [(edge.target, edge.weight) for edge in found.edges] == [
        ("address:id-1", 0.5),
        ("address:https://example.org", 0.5),
        ("address:docs/x.md", 0.5),
    ]
    assert found.addresses == ("D", "docs/d.md")


def test_no_links():
    assert LinksBuilder().contribute(Document("d", "text")).edges == ()


@pytest.mark.parametrize("text", ["[" * 100_000, "[a](" * 25_000, "<a " * 33_000, "[[a" * 33_000, "[a]:" * 25_000])
def test_hostile_text_takes_linear_time(text):
    started = time.process_time()
    links_in(text)
    assert time.process_time() - started < 2


def test_a_link_without_an_anchor_leads_to_the_first_part_of_a_document():
    parts = [Document(f"b{n}", "Text.", {"path": "docs/b.md", "split_id": n}) for n in range(3)]
    start = Document("a", "[b](b.md)", {"path": "docs/a.md"})
    edges = resolve(LinksBuilder().contribute(one) for one in (*parts, start)).edges()
    assert [(edge.source, edge.target) for edge in edges] == [("passage:a", "passage:b0")]


def test_paths_that_a_converter_left_out_are_said_once(caplog):
    for key in ("a", "b"):
        LinksBuilder().contribute(Document(key, "[c](../c.md)", {"file_path": f"{key}.md"}))
    said = [record.levelname for record in caplog.records if "store_full_path=True" in record.getMessage()]
    assert said == ["WARNING"]
