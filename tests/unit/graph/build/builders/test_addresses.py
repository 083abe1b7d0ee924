import pytest

from hopweave.document import Document
from hopweave.graph.build.builders.addresses import address_of, addresses_of, named_in, path_of


@pytest.mark.parametrize(
    ("path", "base", "address"),
    [
        ("", "", ""),
        ("skua.md", "", "skua.md"),
        ("skua.md", "docs/index.md", "docs/skua.md"),
        ("../ships/skua.md#crew", "docs/ports/harris.md", "docs/ships/skua.md"),
        ("/docs/skua.md", "notes/a.md", "docs/skua.md"),
        ("./a b%20c.md", "docs/i.md", "docs/a b c.md"),
        ("ships\\skua.md", "docs\\index.md", "docs/ships/skua.md"),
        ("#crew", "docs/index.md", ""),
        ("mailto:a@example.org", "", ""),
        ("javascript:void(0)", "", ""),
        ("HTTPS://Example.ORG/Skua/", "docs/index.md", "https://example.org/Skua"),
        ("../b", "https://example.org/x/y/z", "https://example.org/x/b"),
        ("https://example.org/a?x=1#y", "", "https://example.org/a?x=1"),
    ],
)
def test_address_of(path, base, address):
    assert address_of(path, base) == address


def test_path_of_takes_the_first_field_with_something_in_it():
    assert path_of(Document("d", "", {"path": " ", "source": "a.md", "url": "b"}), ("path", "source", "url")) == "a.md"
    assert path_of(Document("d", "", {"path": 7})) == ""


def test_addresses_of():
    document = Document("d", "", {"title": "Skua", "path": "./ships/skua.md", "source": "ships/skua.md", "url": None})
    assert addresses_of(document) == ("Skua", "ships/skua.md")
    assert addresses_of(Document("d", "")) == ()


@pytest.mark.parametrize(
    ("value", "names"),
    [
        (None, []),
        ("", []),
        (" a ", ["a"]),
        (0, ["0"]),
        (True, []),
        (["a", ["b", None]], ["a", "b"]),
        ({"b", "a"}, ["a", "b"]),
        ({"id": "x", "name": "y"}, ["x"]),
        ({"other": "y"}, []),
        (object(), []),
    ],
)
def test_named_in(value, names):
    assert named_in(value) == names
