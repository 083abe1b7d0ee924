"""What a document is called."""

import pytest

from hopweave.document import Document, title_of


@pytest.mark.parametrize(
    ("metadata", "title"),
    [
        ({}, ""),
        ({"title": "MV Skua", "document_title": "Ships", "file_name": "a.md"}, "MV Skua"),
        ({"title": " ", "document_title": "Ships"}, "Ships"),
        ({"title": 5, "file_name": "skua.md"}, "skua"),
        ({"file_path": "C:\\ships\\skua.v2.md"}, "skua.v2"),
        ({"file_path": "/srv/ships/skua"}, "skua"),
        ({"file_name": None, "file_path": ["a"]}, ""),
    ],
)
def test_the_first_field_that_says_something(metadata, title):
    assert title_of(metadata) == title
    assert Document("d", "text", metadata).title == title
