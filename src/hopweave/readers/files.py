"""Documents from files and folders, by the reader for each suffix."""

import logging
import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from hopweave.document import Document
from hopweave.errors import UnreadableInput
from hopweave.readers.csv_rows import read_csv
from hopweave.readers.json_lines import read_json_lines
from hopweave.readers.markdown import read_markdown
from hopweave.readers.plain_text import read_text_file
from hopweave.readers.validation import OnBad

logger = logging.getLogger(__name__)

_READERS: dict[str, Callable[[Path, str, OnBad, int], Iterator[Document]]] = {
    ".md": read_markdown,
    ".markdown": read_markdown,
    ".txt": read_text_file,
    ".jsonl": read_json_lines,
    ".ndjson": read_json_lines,
    ".csv": read_csv,
}
"""The reader for each suffix: a function of file, name, `on_bad` and `max_characters`."""


def read_documents(
    path: str | Path, *, on_bad: OnBad | None = None, max_characters: int = 2000, follow_links: bool = False
) -> Iterator[Document]:
    r"""Documents from a folder of Markdown and text, or from a Markdown, text, JSON Lines or CSV file.

    Markdown is cut at headings, and long sections at paragraphs, into passages of at most about `max_characters`.
    The `source` of a document is its file. Hidden folders and files are skipped. What cannot be read raises
    `UnreadableInput` with file and line; with `on_bad`, the error is passed to it and reading continues. Symbolic links
    that lead out of the folder are skipped with a warning, unless `follow_links`.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "skua.md").write_text("# MV Skua\n\nA ferry. See [Hallow](hallow.md).")
    ...     [(d.id, d.title, d.metadata["links"]) for d in read_documents(folder)]
    [('skua.md', 'MV Skua', ['hallow.md'])]
    """
    on_bad = on_bad or _raise
    if not Path(path).exists():
        on_bad(UnreadableInput(f"{path}: does not exist"))
        return
    for file, name in _files(Path(path), follow_links):
        reader = _READERS.get(file.suffix.lower())
        try:
            if reader is None:
                raise UnreadableInput(f"{file}: unknown kind of file; allowed are {', '.join(_READERS)} and folders")
            for document in reader(file, name, on_bad, max_characters):
                yield replace(document, source=name)
        except UnreadableInput as error:
            on_bad(error)
        except (OSError, UnicodeDecodeError) as error:
            on_bad(UnreadableInput(f"{file}: cannot be read: {error}"))


def estimated_documents(path: str | Path, *, follow_links: bool = False) -> int:
    """About how many documents there are at a path, at a glance: lines of JSON Lines and CSV, and sizes of texts."""
    return sum(_estimated(file) for file, _ in _files(Path(path), follow_links, quiet=True) if file.is_file())


def _estimated(file: Path) -> int:
    if file.suffix.lower() not in (".jsonl", ".ndjson", ".csv"):
        return 1 + file.stat().st_size // 2000
    with file.open("rb") as lines:
        return sum(block.count(b"\n") for block in iter(lambda: lines.read(1 << 20), b"")) or 1


def _files(path: Path, follow_links: bool, *, quiet: bool = False) -> Iterator[tuple[Path, str]]:
    if not path.is_dir():
        yield path, path.name
        return
    root = path.resolve()
    for file in sorted(_entries(path, follow_links)):
        name = file.relative_to(path)
        if any(part.startswith(".") for part in name.parts):
            continue
        if follow_links or not file.is_symlink() or file.resolve().is_relative_to(root):
            if file.suffix.lower() in _READERS and file.is_file():
                yield file, name.as_posix()
        elif not quiet and (file.suffix.lower() in _READERS or file.is_dir()):
            logger.warning("%r is a link that leads out of the folder and is skipped", str(file))


def _entries(path: Path, follow_links: bool) -> Iterator[Path]:
    """All files below a folder, and links to folders if they are not followed."""
    visited: set[str] = set()
    for folder, folders, files in os.walk(path, followlinks=follow_links):
        if (real := os.path.realpath(folder)) in visited:
            folders.clear()  # a link has led back
            continue
        visited.add(real)
        links = () if follow_links else [name for name in folders if os.path.islink(os.path.join(folder, name))]
        yield from (Path(folder, name) for name in (*files, *links))


def _raise(error: UnreadableInput) -> None:
    raise error
