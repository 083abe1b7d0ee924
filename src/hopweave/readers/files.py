"""Documents from files and folders, by the reader for each suffix."""

import logging
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path

from hopweave.document import Document
from hopweave.errors import UnreadableInput
from hopweave.markup.page import Page, paragraphs
from hopweave.readers.csv_rows import read_csv
from hopweave.readers.json_lines import read_json_lines
from hopweave.readers.pages import Reading, page_reader
from hopweave.readers.tree import Tree
from hopweave.readers.validation import OnBad

logger = logging.getLogger(__name__)


def _lazily(module: str, name: str) -> Callable[[str], Page]:
    """A parser whose libraries load when it is first used."""

    def parse(text: str) -> Page:
        page: Page = getattr(import_module(f"hopweave.markup.{module}"), name)(text)
        return page

    return parse


_MARKDOWN = page_reader(_lazily("markdown", "read_markdown"))
_RST = page_reader(_lazily("rst", "read_rst"))
_HTML = page_reader(_lazily("html", "read_html"))
_ASCIIDOC = page_reader(_lazily("asciidoc", "read_asciidoc"))
_NOTEBOOK = page_reader(_lazily("notebook", "read_notebook"))
_TEXT = page_reader(paragraphs)

_READERS: dict[str, Callable[[Path, str, Reading], Iterator[Document]]] = {
    **dict.fromkeys((".md", ".markdown", ".mdx", ".mkd"), _MARKDOWN),
    **dict.fromkeys((".rst", ".rest"), _RST),
    **dict.fromkeys((".html", ".htm", ".xhtml"), _HTML),
    **dict.fromkeys((".adoc", ".asciidoc", ".asc"), _ASCIIDOC),
    ".ipynb": _NOTEBOOK,
    **dict.fromkeys((".txt", ".text"), _TEXT),
    ".jsonl": read_json_lines,
    ".ndjson": read_json_lines,
    **dict.fromkeys((".csv", ".tsv"), read_csv),
}
"""The reader for each suffix."""


@dataclass(frozen=True, slots=True)
class Listing:
    """The files at a path that can be read, each with its path relative to it, and what is there besides."""

    files: list[tuple[Path, str]] = field(default_factory=list)
    unreadable: dict[str, UnreadableInput] = field(default_factory=dict)
    """Folders and files that one may not look at, by relative path."""
    links: dict[str, str] = field(default_factory=dict)
    """Why links are not read, by relative path: they lead out of the folder, or to nothing."""
    other_kinds: list[str] = field(default_factory=list)
    """Files of kinds that there is no reader for."""


def read_documents(
    path: str | Path,
    *,
    on_bad: OnBad | None = None,
    max_characters: int = 2000,
    follow_links: bool = False,
    site_url: str = "",
) -> Iterator[Document]:
    r"""Documents from a folder of Markdown and text, or from a Markdown, text, JSON Lines or CSV file.

    Markdown is cut at headings, and long sections at paragraphs, into passages of at most about `max_characters`.
    The `source` of a document is its file. Of a folder, files that end in .md, .markdown, .txt, .jsonl, .ndjson or .csv
    are read; hidden folders and files are skipped. What cannot be read raises `UnreadableInput` with file and line;
    with `on_bad`, the error is passed to it and reading continues. Symbolic links that lead out of the folder are
    skipped with a warning, unless `follow_links`, and so are those that lead to nothing.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "skua.md").write_text("# MV Skua\n\nA ferry. See [Hallow](hallow.md).")
    ...     [(d.id, d.title, d.metadata["links"]) for d in read_documents(folder)]
    [('skua.md', 'MV Skua', ['/hallow'])]
    """
    on_bad = on_bad or _raise
    if not Path(path).exists():
        on_bad(UnreadableInput(f"{path}: does not exist"))
        return
    listing = list_files(path, follow_links=follow_links)
    for name, reason in listing.links.items():
        logger.warning("%r %s and is skipped", str(Path(path, name)), reason)
    for error in listing.unreadable.values():
        on_bad(error)
    tree = Tree((name for _, name in listing.files), site_url=site_url)
    tree.infer_sites(file for file, _ in listing.files)
    for file, name in listing.files:
        yield from read_file(file, name, Reading(on_bad, max_characters, tree=tree))


def read_file(file: Path, source: str, reading: Reading) -> Iterator[Document]:
    """Documents from one file, whose `source` and ids have this name."""
    on_bad, reader = reading.on_bad, _READERS.get(file.suffix.lower())
    try:
        if reader is None:
            raise UnreadableInput(f"{file}: unknown kind of file; allowed are {', '.join(_READERS)} and folders")
        for document in reader(file, source, reading):
            yield replace(document, source=source)
    except UnreadableInput as error:
        (reading.on_bad_file or on_bad)(error)
    except (OSError, UnicodeDecodeError) as error:
        (reading.on_bad_file or on_bad)(UnreadableInput(f"{file}: cannot be read: {error}"))


def estimated_documents(files: Iterable[Path]) -> int:
    """About how many documents files have, at a glance: lines of JSON Lines and CSV, and sizes of texts."""
    return sum(_estimated(file) for file in files if file.is_file() and os.access(file, os.R_OK))


def _estimated(file: Path) -> int:
    if file.suffix.lower() not in (".jsonl", ".ndjson", ".csv"):
        return 1 + file.stat().st_size // 2000
    with file.open("rb") as lines:
        return sum(block.count(b"\n") for block in iter(lambda: lines.read(1 << 20), b"")) or 1


def list_files(path: str | Path, *, follow_links: bool = False) -> Listing:
    """What there is to read at a path, in the order of names. Nothing is opened."""
    if not Path(path).is_dir():
        return Listing([(Path(path), Path(path).name)])
    root, listing = os.path.realpath(path), Listing()

    def unreadable(error: OSError) -> None:
        name = os.path.relpath(error.filename, path)
        listing.unreadable[name] = UnreadableInput(f"{error.filename}: cannot be read: {error.strerror}")

    for file in sorted(_entries(Path(path), follow_links, unreadable)):
        name, known = file.relative_to(path).as_posix(), file.suffix.lower() in _READERS
        try:
            if reason := _why_not_followed(file, root, follow_links):
                if known or not file.suffix or file.is_dir():
                    listing.links[name] = reason
            elif not stat.S_ISREG(os.stat(file).st_mode):
                continue
            elif known:
                listing.files.append((file, name))
            else:
                listing.other_kinds.append(name)
        except OSError as error:
            unreadable(error)
    return listing


def _why_not_followed(file: Path, root: str, follow_links: bool) -> str:
    """What a link does for which it is not followed; nothing if it is, or is no link."""
    if not file.is_symlink():
        return ""
    if not follow_links and not Path(os.path.realpath(file)).is_relative_to(root):
        return "is a link that leads out of the folder"
    return "" if os.path.exists(file) else "is a link that leads to nothing"


def _entries(path: Path, follow_links: bool, on_error: Callable[[OSError], None]) -> Iterator[Path]:
    """All files below a folder, and links to folders if they are not followed."""
    visited: set[str] = set()
    for folder, folders, files in os.walk(path, followlinks=follow_links, onerror=on_error):
        if (real := os.path.realpath(folder)) in visited:
            folders.clear()  # a link has led back
            continue
        visited.add(real)
        folders[:] = [name for name in folders if not name.startswith(".")]
        links = () if follow_links else [name for name in folders if os.path.islink(os.path.join(folder, name))]
        yield from (Path(folder, name) for name in (*files, *links) if not name.startswith("."))


def _raise(error: UnreadableInput) -> None:
    raise error
