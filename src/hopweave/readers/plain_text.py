"""Documents from plain text files, one per passage."""

from collections.abc import Iterator
from pathlib import Path

from hopweave.document import Document
from hopweave.readers.passages import passages
from hopweave.readers.validation import OnBad, storable


def read_text_file(file: Path, name: str, _: OnBad, max_characters: int) -> Iterator[Document]:
    """One document per passage of at most about `max_characters`."""
    parts = passages(file.read_text(encoding="utf-8-sig"), max_characters)
    for number, part in enumerate(parts, start=1):
        key, extra = (name, {}) if len(parts) == 1 else (f"{name}#{number}", {"part": number})
        yield storable(Document(key, part, {"source": name, "title": file.stem, **extra}), file)
