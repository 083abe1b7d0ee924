"""Documents from CSV files, one per row."""

import csv
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from hopweave.document import Document
from hopweave.readers.fields import TEXT_KEYS, document_from_fields
from hopweave.readers.pages import Reading
from hopweave.readers.validation import unreadable

_SEPARATORS = ",;\t|"
_TITLES = ("title", "name", "subject", "summary")


def read_csv(file: Path, name: str, reading: Reading) -> Iterator[Document]:
    """One document per row; columns as in `document_from_fields`. Rows that cannot be read are passed to `on_bad`.

    Of a table without a column for the text, the text of a row is its columns and their values.
    """
    with file.open(encoding="utf-8-sig", newline="", errors="surrogateescape") as lines:
        first = lines.readline()
        lines.seek(0)
        separator = max(_SEPARATORS, key=first.count)
        rows = csv.DictReader(lines, delimiter=separator)
        while True:
            try:
                fields = next(rows, None)
                if fields is None:
                    return
                if None in fields:
                    raise ValueError(f"has more than the {len(rows.fieldnames or ())} columns of its header")
                filled = {key: value for key, value in fields.items() if value not in (None, "")}
                if filled or any(key in fields for key in TEXT_KEYS):
                    key = f"{name}:{rows.line_num}"
                    yield document_from_fields(_with_text(filled, fields), key, f"{file} line {rows.line_num}")
            except (ValueError, TypeError, OverflowError, RecursionError, csv.Error) as error:
                reading.on_bad(unreadable(f"{file} line {rows.reader.line_num}", error))


def _with_text(filled: dict[str, Any], fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a row with a text, and a title, made of its columns if the table has none."""
    if any(key in fields for key in TEXT_KEYS):
        return filled
    names = {column.strip().lower(): column for column in filled}
    title = next((filled[names[one]] for one in _TITLES if one in names), None)
    text = "\n".join(f"{column.strip()}: {value}" for column, value in filled.items())
    return {**({"title": title} if title else {}), **filled, "text": text}
