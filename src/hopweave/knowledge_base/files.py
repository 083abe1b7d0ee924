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
from hopweave.errors import KnowledgeBaseError, UnreadableInput
from hopweave.knowledge_base.entry import Entry

_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.*?)\n---[ \t]*(?:\n|\Z)", re.DOTALL)
_HEADING = re.compile(r"#{1,6}[ \t]+(\S.*)")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_LINK = re.compile(r"\[[^\[\]\n]{0,500}\]\(([^()\s]{1,2000})\)")
_PARAGRAPH = re.compile(r"\n[ \t]*\n")

_TEXT_KEYS = ("text", "content")
_METADATA_KEYS = ("metadata", "meta")
_VECTOR_KEYS = ("vector", "embedding")

Bad = Callable[[UnreadableInput], object]


def read_documents(path: str | Path, *, on_bad: Bad | None = None, most_characters: int = 2000) -> Iterator[Document]:
    r"""Documents from a folder of Markdown and text, or from a Markdown, text, JSON Lines or CSV file.

    Markdown is cut at headings, and long sections at paragraphs, into passages of at most about `most_characters`.
    Hidden folders and files are passed over. What cannot be read raises `UnreadableInput` with file and line; with
    `on_bad` it is reported there and skipped.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "skua.md").write_text("# MV Skua\n\nA ferry. See [Hallow](hallow.md).")
    ...     [(d.id, d.title, d.metadata["links"]) for d in read_documents(folder)]
    [('skua.md', 'MV Skua', ['hallow.md'])]
    """
    bad = on_bad or _raise
    if not Path(path).exists():
        bad(UnreadableInput(f"{path}: does not exist"))
        return
    for file, name in _files(Path(path)):
        reader = _READERS.get(file.suffix.lower())
        try:
            if reader is None:
                raise UnreadableInput(f"{file}: unknown kind of file; allowed are {', '.join(_READERS)} and folders")
            yield from reader(file, name, bad, most_characters)
        except UnreadableInput as error:
            bad(error)
        except (OSError, UnicodeDecodeError) as error:
            bad(UnreadableInput(f"{file}: cannot be read: {error}"))


def _files(path: Path) -> Iterator[tuple[Path, str]]:
    if not path.is_dir():
        yield path, path.name
        return
    for file in sorted(path.rglob("*")):
        name = file.relative_to(path)
        if file.suffix.lower() in _READERS and file.is_file() and not any(part.startswith(".") for part in name.parts):
            yield file, name.as_posix()


def _raise(error: UnreadableInput) -> None:
    raise error


def _read_markdown(file: Path, name: str, _: Bad, most_characters: int) -> Iterator[Document]:
    text = file.read_text(encoding="utf-8-sig")
    metadata: dict[str, Any] = {"source": name}
    if front := _FRONT_MATTER.match(text):
        try:
            fields = yaml.safe_load(front[1])
        except yaml.YAMLError as error:
            raise UnreadableInput(f"{file}: its front matter is not YAML: {error}") from error
        metadata.update(fields if isinstance(fields, dict) else {})
        text = text[front.end() :]
    sections = _sections(text)
    metadata.setdefault("title", next((heading for heading, _ in sections if heading), file.stem))
    parts = [(heading, part) for heading, section in sections for part in _parts(section, most_characters)]
    for number, (heading, part) in enumerate(parts, start=1):
        extra = {"heading": heading, "part": number} if len(parts) > 1 else {}
        links = list(dict.fromkeys(_LINK.findall(part)))
        key = name if len(parts) == 1 else f"{name}#{number}"
        yield _storable(Document(key, part, {**metadata, **extra, **({"links": links} if links else {})}), file)


def _read_text(file: Path, name: str, _: Bad, most_characters: int) -> Iterator[Document]:
    parts = _parts(file.read_text(encoding="utf-8-sig"), most_characters)
    for number, part in enumerate(parts, start=1):
        key, extra = (name, {}) if len(parts) == 1 else (f"{name}#{number}", {"part": number})
        yield _storable(Document(key, part, {"source": name, "title": file.stem, **extra}), file)


def _read_json_lines(file: Path, name: str, on_bad: Bad, _: int) -> Iterator[Document]:
    with file.open(encoding="utf-8-sig", errors="surrogateescape") as lines:  # a broken line must not spoil the others
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                fields = json.loads(line.rstrip("\n"))
                if not isinstance(fields, dict):
                    raise ValueError("is not a JSON object")
                yield _from_fields(fields, f"{name}:{number}", f"{file} line {number}")
            except (ValueError, TypeError, OverflowError, RecursionError) as error:
                on_bad(_unreadable(f"{file} line {number}", error))


def _read_csv(file: Path, name: str, on_bad: Bad, _: int) -> Iterator[Document]:
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
                yield _from_fields(filled, f"{name}:{rows.line_num}", f"{file} line {rows.line_num}")
            except (ValueError, TypeError, OverflowError, RecursionError, csv.Error) as error:
                on_bad(_unreadable(f"{file} line {rows.reader.line_num}", error))


def _from_fields(fields: Mapping[str, Any], fallback_id: str, place: str) -> Document:
    rest = dict(fields)
    text = next((rest.pop(key) for key in _TEXT_KEYS if key in rest), None)
    if not isinstance(text, str):
        raise ValueError(f"needs a string under {' or '.join(_TEXT_KEYS)}, but got {text!r}")
    key = rest.pop("id", None)
    if not isinstance(key, str | int | None) or isinstance(key, bool):
        raise ValueError(f"its id must be a string or a whole number, but got {key!r}")
    vector = next((rest.pop(key) for key in _VECTOR_KEYS if rest.get(key) is not None), None)
    if isinstance(vector, str):  # in CSV
        vector = json.loads(vector)
    metadata: dict[str, Any] = {}
    for name in _METADATA_KEYS:
        if isinstance(rest.get(name), dict):
            metadata.update(rest.pop(name))
    array = None if vector is None else np.asarray(vector, np.float32)
    return _storable(Document(fallback_id if key is None else str(key), text, {**metadata, **rest}, array), place)


def _storable(document: Document, place: object) -> Document:
    try:
        Entry.of(document)
    except KnowledgeBaseError as error:
        raise _unreadable(place, error) from error
    return document


def _unreadable(place: object, error: Exception) -> UnreadableInput:
    if isinstance(error, UnreadableInput):
        return error
    if isinstance(error, json.JSONDecodeError):  # its own words count lines too, from 1
        return UnreadableInput(f"{place}: is not JSON: {error.msg} at column {error.colno}")
    return UnreadableInput(f"{place}: {error}")


def _sections(text: str) -> list[tuple[str, str]]:
    """Headings and the text below them; what stands before the first heading has none."""
    sections: list[tuple[str, list[str]]] = [("", [])]
    fence = ""
    for line in text.split("\n"):
        mark = _FENCE.match(line)
        heading = None if fence else _HEADING.match(line)
        if mark and not fence:
            fence = mark[1]
        elif mark and mark[1].startswith(fence) and not line.strip().strip(fence[0]):
            fence = ""
        if heading:
            sections.append((_without_closing_marks(heading[1].rstrip()), []))
        sections[-1][1].append(line)
    whole = ((heading, "\n".join(lines).strip()) for heading, lines in sections)
    return [(heading, section) for heading, section in whole if section]


def _without_closing_marks(heading: str) -> str:
    words, _, last = heading.rpartition(" ")
    return words.rstrip() if words and not last.strip("#") else heading


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
