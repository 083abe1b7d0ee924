"""Documents: the passages that a knowledge base holds, and what they are called."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from hopweave.hit import Vector


@dataclass(frozen=True, slots=True, eq=False)
class Document:
    r"""A passage to be found: an id, its text, metadata and, if there is one already, its vector.

    A title in the metadata is searched along with the text, or a `heading` instead of it. So is a `context_prefix` in
    the metadata, such as a sentence that places the passage in its document; it is not part of the text.
    `source` names what the document is a part of, such as a file; `KnowledgeBase.replace` exchanges all documents of a
    source.

    >>> Document("skua", "A ferry built in 1974.", {"title": "MV Skua"}).searchable
    'MV Skua\nA ferry built in 1974.'
    >>> Document("skua", "A ferry.", {"title": "MV Skua"}, heading="title: MV Skua\nowner: harbour").searchable
    'title: MV Skua\nowner: harbour\nA ferry.'
    """

    id: str
    text: str
    metadata: Mapping[str, Any] = field(default_factory=dict)
    vector: Vector | None = None
    source: str = field(default="", repr=False)
    heading: str = field(default="", repr=False)

    @property
    def title(self) -> str:
        """The title by the metadata (`hopweave.document.title_of`), or an empty string."""
        return title_of(self.metadata)

    @property
    def searchable(self) -> str:
        """The indexed text: heading or title, context prefix, and text."""
        return searchable(self.indexed_heading, self.text)

    @property
    def indexed_heading(self) -> str:
        """The part indexed before the text: heading or title, and context prefix."""
        return indexed_heading(self.heading, self.metadata)


def checked_ids(ids: Iterable[str], name: str = "ids") -> list[str]:
    """The ids as a list. A single string is an error, as it would be taken for a list of its characters.

    >>> checked_ids(("a", "b"))
    ['a', 'b']
    >>> checked_ids("12")
    Traceback (most recent call last):
        ...
    TypeError: ids: must be a list of ids, but got '12'; for a single one, write ['12']
    """
    if isinstance(ids, str):
        raise TypeError(f"{name}: must be a list of ids, but got {ids!r}; for a single one, write [{ids!r}]")
    if not isinstance(ids, Iterable):
        raise TypeError(f"{name}: must be a list of ids, but got {ids!r}")
    listed = list(ids)
    for number, one in enumerate(listed):
        if not isinstance(one, str):
            raise TypeError(f"{name}: must be strings, but number {number} is {one!r}")
    return listed


def checked_documents(documents: Iterable[Document]) -> Iterator[Document]:
    """The documents, each checked to be one when it is read; a single one in place of a list is an error at once.

    >>> checked_documents(Document("a", "A ferry."))
    Traceback (most recent call last):
        ...
    TypeError: documents: must be a list of Documents, but got a Document
    """
    if isinstance(documents, Document | str) or not isinstance(documents, Iterable):
        raise TypeError(f"documents: must be a list of Documents, but got a {type(documents).__name__}")
    return _each_checked(documents)


def _each_checked(documents: Iterable[Document]) -> Iterator[Document]:
    for number, document in enumerate(documents):
        if not isinstance(document, Document):
            raise TypeError(f"documents: must be Documents, but number {number} is a {type(document).__name__}")
        yield document


def searchable(heading: str, text: str) -> str:
    r"""Join heading and text for the indexes; neither is repeated if the other contains it.

    >>> searchable("MV Skua", "A ferry."), searchable("MV Skua", "MV Skua is a ferry."), searchable("A: x. B", "x.")
    ('MV Skua\nA ferry.', 'MV Skua is a ferry.', 'A: x. B')
    """
    if not heading or text.startswith(heading):
        return text
    return heading if text.strip() in heading else f"{heading}\n{text}"


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
    """Return the context that places a passage in its document, for indexes and rerankers only.

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
