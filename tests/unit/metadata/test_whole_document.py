"""Whose part a passage is, by what readers, splitters, parsers and chats leave behind."""

import pytest

from hopweave.metadata.whole_document import whole_document


@pytest.mark.parametrize(
    ("id_", "metadata", "expected"),
    [
        ("x", {"source_id": "a", "ref_doc_id": "b"}, "source_id a"),
        ("x", {"ref_doc_id": "b", "title": "A / B"}, "ref_doc_id b"),
        ("x", {"session": 7}, "session 7"),
        ("x", {"source": "a.md", "split_id": 0}, "source a.md"),
        ("x", {"source": "dump.jsonl"}, ""),
        ("x", {"source": "a.md", "part": True}, ""),
        ("x", {"source_id": " "}, ""),
        ("x", {"title": "Act > Part"}, "title Act"),
        ("x", {"title": "AC/DC"}, ""),
        ("x", {"title": "/ etc"}, ""),
        ("drg-183-9", {}, "id drg-183"),
        ("conv-50:D26:2", {}, "id conv-50:D26"),
        ("docs/a.md#2", {}, ""),
        ("mq2-181", {}, ""),
        ("news-2024-05-11", {}, ""),
        ("19843244", {}, ""),
    ],
)
def test_the_whole_of_a_passage(id_, metadata, expected):
    assert whole_document(id_, metadata) == expected


def test_long_ids_take_linear_time():
    assert whole_document("-1" * 20_000 + "x", {}) == ""
