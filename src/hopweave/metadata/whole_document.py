"""Which document a passage is a part of."""

import re
from collections.abc import Mapping
from typing import Any

from hopweave.document import title_of

DOCUMENT_FIELDS = (
    "source_id",
    "ref_doc_id",
    "document_id",
    "session_id",
    "session",
    "thread_id",
    "conversation_id",
)
"""Metadata fields that name the whole: of Haystack's splitters, of LlamaIndex's parsers, of chats."""
NUMBER_FIELDS = ("split_id", "part")
"""Metadata fields that number the parts of a `source`: of Haystack's splitters, of hopweave's readers."""

_PATH_SEPARATOR = re.compile(r"(?<!\s)\s++[/>›»]\s++")
_NUMBERED = re.compile(r"(?P<whole>.*[-_:#./][^\W\d_]*\d+)[-_:#./]\d+", re.DOTALL)
_DATE = re.compile(r".*\d{4}-\d{2}-\d{2}", re.DOTALL)


def whole_document(id_: str, metadata: Mapping[str, Any]) -> str:
    """What names the document that a passage is a part of; empty for a passage that is a document of its own.

    It is the first that there is of: a field in `DOCUMENT_FIELDS`; the `source` of a numbered part; the root of a
    title that is a path of headings; what comes before the last number of an id that ends in two.

    >>> whole_document("7", {"source_id": "act.md"}), whole_document("a.md#3", {"source": "a.md", "part": 3})
    ('source_id act.md', 'source a.md')
    >>> whole_document("7", {"title": "Commercial Act / Article 814 / Claims"}), whole_document("chat-4:D2:11", {})
    ('title Commercial Act', 'id chat-4:D2')
    >>> whole_document("musique-11", {"title": "MV Skua"}), whole_document("2024-05-11", {})
    ('', '')
    """
    for field in DOCUMENT_FIELDS:
        value = metadata.get(field)
        if (isinstance(value, str) and value.strip()) or (isinstance(value, int) and not isinstance(value, bool)):
            return f"{field} {value}"
    source = metadata.get("source")
    if isinstance(source, str) and source.strip() and any(_is_number(metadata.get(name)) for name in NUMBER_FIELDS):
        return f"source {source}"
    root, *below = _PATH_SEPARATOR.split(title_of(metadata).strip())
    if root and below:
        return f"title {root}"
    numbered = None if _DATE.fullmatch(id_) else _NUMBERED.fullmatch(id_)
    return f"id {numbered['whole']}" if numbered else ""


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
