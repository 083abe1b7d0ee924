"""Documents from files and folders, by the reader for each suffix."""

import json
import logging
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

from hopweave.concurrency.once import once
from hopweave.document import Document
from hopweave.errors import UnreadableInput
from hopweave.markup.data import data_page
from hopweave.markup.page import Page, paragraphs
from hopweave.readers.csv_rows import read_csv
from hopweave.readers.epub import read_epub
from hopweave.readers.json_lines import read_json_lines
from hopweave.readers.limited_yaml import limited_yaml
from hopweave.readers.mail import mail_reader
from hopweave.readers.pages import Reading, page_documents, page_reader
from hopweave.readers.tree import Tree
from hopweave.readers.validation import OnBad, storable

logger = logging.getLogger(__name__)


Reader = Callable[[Path, str, Reading], Iterator[Document]]


def _lazily(module: str, name: str) -> Callable[[str], Page]:
    """A parser whose libraries load when it is first used."""

    def parse(text: str) -> Page:
        page: Page = getattr(import_module(f"hopweave.markup.{module}"), name)(text)
        return page

    return parse


_MARKDOWN, _RST, _HTML = (_lazily(name, f"read_{name}") for name in ("markdown", "rst", "html"))
_PARSERS: dict[str, Callable[[str], Page]] = {
    **dict.fromkeys((".md", ".markdown", ".mdx", ".mkd"), _MARKDOWN),
    **dict.fromkeys((".rst", ".rest"), _RST),
    **dict.fromkeys((".adoc", ".asciidoc", ".asc"), _lazily("asciidoc", "read_asciidoc")),
    **dict.fromkeys((".html", ".htm", ".xhtml"), _HTML),
    ".ipynb": _lazily("notebook", "read_notebook"),
    **dict.fromkeys((".txt", ".text"), paragraphs),
    ".json": lambda text: data_page(json.loads(text)),
    **dict.fromkeys((".yaml", ".yml"), lambda text: data_page(limited_yaml(text))),
}
"""For each suffix of text, what makes a page of it."""

_READERS: dict[str, Reader] = {
    **{suffix: page_reader(parse) for suffix, parse in _PARSERS.items()},
    **dict.fromkeys((".jsonl", ".ndjson"), read_json_lines),
    **dict.fromkeys((".csv", ".tsv"), read_csv),
    **dict.fromkeys((".eml", ".mbox"), mail_reader(_PARSERS)),
    ".epub": read_epub,
}
"""The reader for each suffix."""

ENTRY_POINTS = "hopweave.readers"
"""The group in which a package offers readers: a suffix, and a function as for `register_reader`."""


def register_reader(suffix: str, function: Callable[[Path], Page | str | Iterable[Document]]) -> None:
    r"""Read files with this suffix by a function of the user's.

    It gets the path of a file and returns its text in Markdown, a `Page`, or documents. A package offers such a
    function by an entry point `".suffix" = "module:function"` in the group `hopweave.readers`.

    >>> register_reader(".log", lambda file: "# Log\n\n" + file.read_text())
    >>> ".log" in suffixes()
    True
    """
    if not suffix.startswith(".") or suffix != suffix.lower():
        raise ValueError(f"suffix: must begin with a dot and be in small letters, but got {suffix!r}")
    _READERS[suffix] = _made_by(function)


def _made_by(function: Callable[[Path], Page | str | Iterable[Document]]) -> Reader:
    def read(file: Path, name: str, reading: Reading) -> Iterator[Document]:
        try:
            made = function(file)
            made = _MARKDOWN(made) if isinstance(made, str) else made
            made = made if isinstance(made, Page) else list(made)
        except (UnreadableInput, OSError):
            raise
        except Exception as error:  # whatever a function of the user's may raise
            raise UnreadableInput(f"{file}: its reader failed: {type(error).__name__}: {error}") from error
        found = page_documents(made, name, reading, file) if isinstance(made, Page) else made
        yield from (storable(document, file) for document in found)

    return read


@once()
def _offered() -> dict[str, EntryPoint]:
    return {one.name: one for one in entry_points(group=ENTRY_POINTS)}


def suffixes() -> list[str]:
    """The suffixes of files that are read."""
    return [*_READERS, *(suffix for suffix in _offered() if suffix not in _READERS)]


def _reader(file: Path) -> Reader | None:
    suffix = file.suffix.lower()
    if suffix not in _READERS and suffix in _offered():
        register_reader(suffix, _offered()[suffix].load())
    return _READERS.get(suffix)


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
    r"""Documents from a folder, or from a file.

    Texts are cut at headings, and long sections at paragraphs, into passages of at most about `max_characters`.
    The `source` of a document is its file. Of a folder, files of all kinds that there is a reader for (`suffixes`) are
    read; hidden folders and files are skipped. What cannot be read raises `UnreadableInput` with file and line;
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
    yield from _read(listing.files, on_bad, max_characters, site_url)


def read_files(
    files: Iterable[str | Path],
    *,
    root: str | Path | None = None,
    on_bad: OnBad | None = None,
    max_characters: int = 2000,
    site_url: str = "",
) -> Iterator[Document]:
    """Documents from some files, as `read_documents` gives them for the folder `root`.

    Without a root it is the folder that holds them all.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     files = [Path(folder, "skua.md"), Path(folder, "tern.txt")]
    ...     _ = [file.write_text("A ferry.") for file in files]
    ...     [document.id for document in read_files(files)]
    ['skua.md', 'tern.txt']
    """
    paths = [Path(os.path.abspath(file)) for file in files]
    if not paths:
        return
    top = Path(os.path.abspath(root)) if root else Path(os.path.commonpath([path.parent for path in paths]))
    if outside := next((path for path in paths if not path.is_relative_to(top)), None):
        raise ValueError(f"root: must hold all files, but {outside} is not in {top}")
    yield from _read(
        [(path, path.relative_to(top).as_posix()) for path in paths], on_bad or _raise, max_characters, site_url
    )


def _read(files: list[tuple[Path, str]], on_bad: OnBad, max_characters: int, site_url: str) -> Iterator[Document]:
    tree = Tree((name for _, name in files), site_url=site_url)
    tree.infer_sites(file for file, _ in files)
    for file, name in files:
        yield from read_file(file, name, Reading(on_bad, max_characters, tree=tree))


def read_file(file: Path, source: str, reading: Reading) -> Iterator[Document]:
    """Documents from one file, whose `source` and ids have this name."""
    on_bad, reader = reading.on_bad, _reader(file)
    try:
        if reader is None:
            raise UnreadableInput(f"{file}: unknown kind of file; allowed are {', '.join(suffixes())} and folders")
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
    root, listing, read = os.path.realpath(path), Listing(), frozenset(suffixes())

    def unreadable(error: OSError) -> None:
        name = os.path.relpath(error.filename, path)
        listing.unreadable[name] = UnreadableInput(f"{error.filename}: cannot be read: {error.strerror}")

    for file in sorted(_entries(Path(path), follow_links, unreadable)):
        name, known = file.relative_to(path).as_posix(), file.suffix.lower() in read
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
