"""What a document is called, by its metadata."""

from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

_TITLES = ("title", "document_title")
_FILES = ("file_name", "file_path")


def title_of(metadata: Mapping[str, Any]) -> str:
    """The title: what `title` or `document_title` says, else the name of the file without its ending, else nothing.

    >>> title_of({"document_title": "MV Skua", "file_name": "skua.md"}), title_of({"file_path": "ships/skua.md"})
    ('MV Skua', 'skua')
    """
    return stated_title(metadata) or PurePosixPath(file_of(metadata).replace("\\", "/")).stem


def stated_title(metadata: Mapping[str, Any]) -> str:
    """The title that the metadata states, or an empty string.

    >>> stated_title({"title": "MV Skua"}), stated_title({"file_name": "skua.md"})
    ('MV Skua', '')
    """
    return _first_text(metadata, _TITLES)


def file_of(metadata: Mapping[str, Any]) -> str:
    """The name or else the path of the file that the document comes from, or an empty string.

    >>> file_of({"file_name": "skua.md", "file_path": "ships/skua.md"})
    'skua.md'
    """
    return _first_text(metadata, _FILES)


CONTEXT_PREFIX = "context_prefix"
"""The metadata field with text that is searched and embedded before a document's own, and not shown."""


def context_prefix(metadata: Mapping[str, Any]) -> str:
    """What places a passage in its document, for indexes and rerankers only.

    >>> context_prefix({"context_prefix": "From the harbour rules, section 3."})
    'From the harbour rules, section 3.'
    """
    return _first_text(metadata, (CONTEXT_PREFIX,))


def indexed_heading(heading: str, metadata: Mapping[str, Any]) -> str:
    r"""What indexes see before the text: the heading given or else the title, and the context prefix.

    >>> indexed_heading("", {"title": "MV Skua", "context_prefix": "A ship of the isles."})
    'MV Skua\nA ship of the isles.'
    """
    first, prefix = heading or title_of(metadata), context_prefix(metadata)
    if not prefix or prefix in first:
        return first
    return f"{first}\n{prefix}" if first else prefix


def _first_text(metadata: Mapping[str, Any], fields: tuple[str, ...]) -> str:
    values = (metadata.get(name) for name in fields)
    return next((value for value in values if isinstance(value, str) and value.strip()), "")
