"""Documents from CSV files, one per row."""

import csv
from collections.abc import Iterator
from pathlib import Path

from hopweave.document import Document
from hopweave.readers.fields import document_from_fields
from hopweave.readers.validation import OnBad, unreadable


def read_csv(file: Path, name: str, on_bad: OnBad, _: int) -> Iterator[Document]:
    """One document per row; columns as in `document_from_fields`. Rows that cannot be read are passed to `on_bad`."""
    with file.open(encoding="utf-8-sig", newline="", errors="surrogateescape") as lines:
        rows = csv.DictReader(lines)
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
                on_bad(unreadable(f"{file} line {rows.reader.line_num}", error))
