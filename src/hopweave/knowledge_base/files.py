"""Documents from files: Markdown and text, JSON Lines, CSV."""

import csv
import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from hopweave.document import Document
from hopweave.errors import UnreadableInput

_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.*?)\n---[ \t]*(?:\n|\Z)", re.DOTALL)
_HEADING = re.compile(r"^#{1,6}[ \t]+(.+?)[ \t#]*$", re.MULTILINE)
_LINK = re.compile(r"\[[^\[\]\n]{0,500}\]\(([^()\s]{1,2000})\)")
_PARAGRAPH = re.compile(r"\n[ \t]*\n")

_TEXT_KEYS = ("text", "content")
_METADATA_KEYS = ("metadata", "meta")
_VECTOR_KEYS = ("vector", "embedding")

Bad = Callable[[UnreadableInput], object]


def read_documents(path: str | Path, *, on_bad: Bad | None = None, most_characters: int = 2000) -> Iterator[Document]:
    r"""Documents from a folder of Markdown and text, or from a Markdown, text, JSON Lines or CSV file.

    Markdown is cut at headings, and long sections at paragraphs, into passages of at most about `most_characters`.
    What cannot be read raises `UnreadableInput` with file and line; with `on_bad` it is reported there and skipped.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "skua.md").write_text("# MV Skua\n\nA ferry. See [Hallow](hallow.md).")
    ...     [(d.id, d.title, d.metadata["links"]) for d in read_documents(folder)]
    [('skua.md', 'MV Skua', ['hallow.md'])]
    """
    path = Path(path)
    if not path.exists():
        raise UnreadableInput(f"{path}: does not exist")
    for file, name in _files(path):
        reader = _READERS.get(file.suffix.lower())
        if reader is None:
            raise UnreadableInput(f"{file}: unknown kind of file; allowed are {', '.join(_READERS)} and folders")
        documents = reader(file, name, on_bad or _raise, most_characters)
        while True:
            try:
                document = next(documents, None)
            except (OSError, UnicodeDecodeError) as error:
                (on_bad or _raise)(UnreadableInput(f"{file}: cannot be read: {error}"))
                break
            if document is None:
                break
            yield document


def _files(path: Path) -> Iterator[tuple[Path, str]]:
    if path.is_dir():
        for file in sorted(path.rglob("*")):
            if file.is_file() and file.suffix.lower() in _READERS:
                yield file, file.relative_to(path).as_posix()
    else:
        yield path, path.name


def _raise(error: UnreadableInput) -> None:
    raise error


def _read_markdown(file: Path, name: str, on_bad: Bad, most_characters: int) -> Iterator[Document]:
    text = file.read_text(encoding="utf-8-sig")
    metadata: dict[str, Any] = {"source": name}
    if front := _FRONT_MATTER.match(text):
        try:
            fields = yaml.safe_load(front[1])
        except yaml.YAMLError as error:
            on_bad(UnreadableInput(f"{file}: its front matter is not YAML: {error}"))
            return
        metadata.update(fields if isinstance(fields, dict) else {})
        text = text[front.end() :]
    heading = _HEADING.search(text)
    metadata.setdefault("title", heading[1] if heading else file.stem)
    parts = [(heading, part) for heading, section in _sections(text) for part in _parts(section, most_characters)]
    for number, (heading_text, part) in enumerate(parts, start=1):
        extra = {"heading": heading_text, "part": number} if len(parts) > 1 else {}
        links = list(dict.fromkeys(_LINK.findall(part)))
        key = name if len(parts) == 1 else f"{name}#{number}"
        yield Document(key, part, {**metadata, **extra, **({"links": links} if links else {})})


def _read_text(file: Path, name: str, _: Bad, most_characters: int) -> Iterator[Document]:
    parts = _parts(file.read_text(encoding="utf-8-sig"), most_characters)
    for number, part in enumerate(parts, start=1):
        key, extra = (name, {}) if len(parts) == 1 else (f"{name}#{number}", {"part": number})
        yield Document(key, part, {"source": name, "title": file.stem, **extra})


def _read_json_lines(file: Path, name: str, on_bad: Bad, _: int) -> Iterator[Document]:
    with file.open(encoding="utf-8-sig") as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                fields = json.loads(line)
                if not isinstance(fields, dict):
                    raise ValueError("is not a JSON object")
                yield _from_fields(fields, f"{name}:{number}")
            except (ValueError, TypeError) as error:
                on_bad(UnreadableInput(f"{file} line {number}: {error}"))


def _read_csv(file: Path, name: str, on_bad: Bad, _: int) -> Iterator[Document]:
    with file.open(encoding="utf-8-sig", newline="") as lines:
        rows = csv.DictReader(lines)
        while True:
            try:
                fields = next(rows, None)
                if fields is None:
                    return
                if None in fields:
                    raise ValueError(f"has more than the {len(rows.fieldnames or ())} columns of its header")
                filled = {key: value for key, value in fields.items() if value not in (None, "")}
                yield _from_fields(filled, f"{name}:{rows.line_num}")
            except (ValueError, TypeError, csv.Error) as error:
                on_bad(UnreadableInput(f"{file} line {rows.line_num}: {error}"))


def _from_fields(fields: Mapping[str, Any], fallback_id: str) -> Document:
    rest = dict(fields)
    text = next((rest.pop(key) for key in _TEXT_KEYS if key in rest), None)
    if not isinstance(text, str):
        raise ValueError(f"needs a string under {' or '.join(_TEXT_KEYS)}, but got {text!r}")
    key = str(rest.pop("id", fallback_id))
    vector = next((rest.pop(key) for key in _VECTOR_KEYS if rest.get(key) is not None), None)
    metadata: dict[str, Any] = {}
    for name in _METADATA_KEYS:
        if isinstance(rest.get(name), dict):
            metadata.update(rest.pop(name))
    return Document(key, text, {**metadata, **rest}, None if vector is None else np.asarray(vector, np.float32))


def _sections(text: str) -> Iterator[tuple[str, str]]:
    """Headings and the text below them; what stands before the first heading has none."""
    places = [*_HEADING.finditer(text)]
    starts = [0, *(place.start() for place in places), len(text)]
    headings = ["", *(place[1] for place in places)]
    for heading, start, end in zip(headings, starts, starts[1:], strict=False):
        if text[start:end].strip():
            yield heading, text[start:end].strip()


def _parts(text: str, most_characters: int) -> list[str]:
    """Paragraphs gathered into passages that stay below the limit where paragraphs allow it."""
    parts: list[str] = []
    for paragraph in (piece.strip() for piece in _PARAGRAPH.split(text)):
        if not paragraph:
            continue
        if parts and len(parts[-1]) + len(paragraph) + 2 <= most_characters:
            parts[-1] += "\n\n" + paragraph
        else:
            parts.append(paragraph)
    return parts


_READERS: dict[str, Callable[[Path, str, Bad, int], Iterator[Document]]] = {
    ".md": _read_markdown,
    ".markdown": _read_markdown,
    ".txt": _read_text,
    ".jsonl": _read_json_lines,
    ".ndjson": _read_json_lines,
    ".csv": _read_csv,
}
