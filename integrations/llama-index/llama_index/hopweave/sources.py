"""Which document a node comes from, under a name that stays the same when files are read again."""

import re
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path
from typing import Any

from llama_index.core.schema import BaseNode, Document

_RANDOM = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
_PART_OF_FILE = re.compile(r"(?P<path>.+)#(?P<version>[0-9a-f]{16})\.[0-9a-f]{16}", re.DOTALL)
_FILE_FIELDS = ("file_size", "last_modified_date", "creation_date")


def source_of(node: BaseNode) -> str:
    """
    The name of the document that a node comes from.

    It is `ref_doc_id`. Readers give documents random ids unless they are told otherwise, as by
    `SimpleDirectoryReader(filename_as_id=True)`; of such a document with a `file_path`, the name is made of this path,
    the state of the file, and the content, so that a document which is read again is known.

    Args:
        node: A node, or a document.

    Returns:
        The name; nothing for a node without a document.

    """
    about = node.source_node
    if about is None and isinstance(node, Document):
        about = node.as_related_node_info()
    if about is None:
        return ""
    path = node.metadata.get("file_path")
    if not path or not about.hash or not _RANDOM.fullmatch(about.node_id):
        return node.ref_doc_id or ""
    if not any(name in node.metadata for name in _FILE_FIELDS):  # not from a reader of files
        return node.ref_doc_id or ""
    return f"{path}#{_version(str(path), node.metadata)}.{_short(about.hash)}"


def outdated(known: Iterable[str], sources: Iterable[str]) -> list[str]:
    """
    Of sources that are known, those of files that have changed since.

    Args:
        known: All names.
        sources: The names of what was read now.

    Returns:
        The names of parts of the same files in an earlier state.

    """
    versions: dict[str, set[str]] = {}
    for path, version in filter(None, map(_file_and_version, sources)):
        versions.setdefault(path, set()).add(version)
    if not versions:
        return []
    parts = ((name, _file_and_version(name)) for name in known)
    return [name for name, part in parts if part and part[0] in versions and part[1] not in versions[part[0]]]


def is_part_of_file(source: str) -> bool:
    """
    Whether a name was made of the path of a file.

    Args:
        source: The name.

    Returns:
        Whether it is one that `source_of` gives documents with random ids.

    """
    return _PART_OF_FILE.fullmatch(source) is not None


def _file_and_version(source: str) -> tuple[str, str] | None:
    found = _PART_OF_FILE.fullmatch(source)
    return (found["path"], found["version"]) if found else None


def _version(path: str, metadata: dict[str, Any]) -> str:
    """The state of a file: readers say the day alone."""
    try:
        stat = Path(path).stat()
        return _short(f"{stat.st_mtime_ns} {stat.st_size}")
    except (OSError, ValueError):  # it is elsewhere
        return _short(repr([metadata.get(name) for name in _FILE_FIELDS]))


def _short(text: str) -> str:
    return sha256(text.encode(errors="surrogatepass")).hexdigest()[:16]
