"""Documents from JSON Lines files, one per line."""

import json
from collections.abc import Iterator
from pathlib import Path

from hopweave.document import Document
from hopweave.errors import UnreadableInput
from hopweave.readers.fields import document_from_fields
from hopweave.readers.pages import Reading
from hopweave.readers.validation import unreadable


def read_json_lines(file: Path, name: str, reading: Reading) -> Iterator[Document]:
    """One document per line; keys as in `document_from_fields`. Lines that cannot be read are passed to `on_bad`.

    A file that holds one JSON array is refused as a whole.
    """
    with file.open(encoding="utf-8-sig", errors="surrogateescape") as lines:  # an undecodable line is reported alone
        first = True
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            if first:
                _check_first(file, line.strip())
                first = False
            try:
                fields = json.loads(line.rstrip("\n"))
                if not isinstance(fields, dict):
                    raise ValueError("is not a JSON object")
                yield document_from_fields(fields, f"{name}:{number}", f"{file} line {number}")
            except (ValueError, TypeError, OverflowError, RecursionError) as error:
                reading.on_bad(unreadable(f"{file} line {number}", error))


def _check_first(file: Path, line: str) -> None:
    """Refuse a file whose first line shows that it is not made of lines."""
    whole = {"{": ("an object over several lines", "."), "[": ("one JSON array", ".[]")}.get(line)
    if line.startswith("[{"):
        whole = ("one JSON array", ".[]")
    if whole:
        raise UnreadableInput(
            f"{file}: holds {whole[0]}, but JSON Lines are one object on each line; "
            f"to convert it: jq -c '{whole[1]}' FILE > NEW.jsonl"
        )
