"""What a knowledge base is filled with."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hopweave.hit import Vector
from hopweave.metadata.titles import indexed_heading, title_of


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
        """The title by the metadata (`hopweave.metadata.titles.title_of`), or an empty string."""
        return title_of(self.metadata)

    @property
    def searchable(self) -> str:
        """What text and vector indexes see: heading or title, context prefix, and text."""
        return searchable(self.indexed_heading, self.text)

    @property
    def indexed_heading(self) -> str:
        """What indexes see before the text: heading or title, and context prefix."""
        return indexed_heading(self.heading, self.metadata)


def searchable(heading: str, text: str) -> str:
    r"""What indexes see of a text under a heading; neither is repeated if the other holds it.

    >>> searchable("MV Skua", "A ferry."), searchable("MV Skua", "MV Skua is a ferry."), searchable("A: x. B", "x.")
    ('MV Skua\nA ferry.', 'MV Skua is a ferry.', 'A: x. B')
    """
    if not heading or text.startswith(heading):
        return text
    return heading if text.strip() in heading else f"{heading}\n{text}"
