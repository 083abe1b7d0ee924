"""What a knowledge base is filled with."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hopweave.hit import Vector


@dataclass(frozen=True, slots=True, eq=False)
class Document:
    r"""A passage to be found: an id, its text, metadata and, if there is one already, its vector.

    A title in the metadata is searched along with the text. `source` names what the document is a part of, such as a
    file; `KnowledgeBase.replace` exchanges all documents of a source.

    >>> Document("skua", "A ferry built in 1974.", {"title": "MV Skua"}).searchable
    'MV Skua\nA ferry built in 1974.'
    """

    id: str
    text: str
    metadata: Mapping[str, Any] = field(default_factory=dict)
    vector: Vector | None = None
    source: str = field(default="", repr=False)

    @property
    def title(self) -> str:
        """The title in the metadata, or an empty string."""
        title = self.metadata.get("title")
        return title if isinstance(title, str) else ""

    @property
    def searchable(self) -> str:
        """What text and vector indexes see: title and text."""
        return f"{self.title}\n{self.text}" if self.title and not self.text.startswith(self.title) else self.text
