"""Documents from CSV files, one per row."""

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path

from hopweave.document import Document
from hopweave.errors import UnreadableInput
from hopweave.readers.fields import TEXT_KEYS, document_from_fields, shown
from hopweave.readers.pages import Reading
from hopweave.readers.validation import unreadable

_SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "vertical bars"}


def read_csv(file: Path, name: str, reading: Reading) -> Iterator[Document]:
    """One document per row; columns as in `document_from_fields`. Rows that cannot be read are passed to `on_bad`.

    A table without a column for the text is refused as a whole.
    """
    with file.open(encoding="utf-8-sig", newline="", errors="surrogateescape") as lines:
        rows = csv.DictReader(lines)
        _check_header(file, rows)
        while True:
            try:
                fields = next(rows, None)
                if fields is None:
                    return
                if None in fields:
                    raise ValueError(f"has more than the {len(rows.fieldnames or ())} columns of its header")
                filled = {key: value for key, value in fields.items() if value not in (None, "")}
                yield document_from_fields(filled, f"{name}:{rows.line_num}", f"{file} line {rows.line_num}")
            except (ValueError, TypeError, OverflowError, RecursionError, csv.Error) as error:
                reading.on_bad(unreadable(f"{file} line {rows.reader.line_num}", error))


def _check_header(file: Path, rows: "csv.DictReader[str]") -> None:
    try:
        columns = rows.fieldnames or ()
    except csv.Error as error:
        raise unreadable(f"{file} line 1", error) from error
    if not columns or any(key in columns for key in TEXT_KEYS):
        return
    needed, found = " or ".join(TEXT_KEYS), shown(columns)
    raise UnreadableInput(f"{file}: needs a column {needed}, but its first line names {found}; {_advice(columns)}")


def _advice(columns: Sequence[str]) -> str:
    separator = next((name for mark, name in _SEPARATORS.items() if len(columns) == 1 and mark in columns[0]), "")
    if separator:
        return f"is it separated by {separator}? columns must be separated by commas"
    if any(column.strip().lower() in TEXT_KEYS for column in columns):
        return "names of columns are in lower case and have no spaces around them"
    return "the first line must hold the names of the columns"
