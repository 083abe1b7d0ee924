"""Pages from EPUB: the chapters of a book in reading order."""

import posixpath
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote

from hopweave.document import Document
from hopweave.errors import UnreadableInput
from hopweave.markup.html import read_html
from hopweave.markup.page import Block, Link, Page
from hopweave.readers.pages import MAX_BYTES, Reading, page_documents

MAX_ENTRIES = 10_000
"""A book with more files is refused."""


def read_epub(file: Path, name: str, reading: Reading) -> Iterator[Document]:
    """The passages of a book; links between its chapters lead to their anchors. Nothing is unpacked to disk."""
    try:
        with zipfile.ZipFile(file) as book:
            page = _page(_Book(book, file))
    except (zipfile.BadZipFile, KeyError, NotImplementedError, RuntimeError, EOFError) as error:
        raise UnreadableInput(f"{file}: is no readable EPUB: {error}") from error
    yield from page_documents(page, name, reading, file)


class _Book:
    def __init__(self, book: zipfile.ZipFile, file: Path) -> None:
        self._book, self._file, self._left = book, file, MAX_BYTES
        if len(book.infolist()) > MAX_ENTRIES:
            raise UnreadableInput(f"{file}: has more than {MAX_ENTRIES} entries")

    def read(self, path: str) -> str:
        """A file of the book, as long as what has been read is not too much: sizes that are stated may be wrong."""
        with self._book.open(path) as entry:
            data = entry.read(self._left + 1)
        self._left -= len(data)
        if self._left < 0:
            raise UnreadableInput(f"{self._file}: unpacks to more than {MAX_BYTES >> 20} MB")
        return data.decode("utf-8", "replace")


def _page(book: _Book) -> Page:
    from selectolax.lexbor import LexborHTMLParser

    root = LexborHTMLParser(book.read("META-INF/container.xml")).css_first("rootfile")
    path = (root.attributes.get("full-path") if root is not None else "") or "content.opf"
    package = LexborHTMLParser(book.read(path))
    items = {one.attributes.get("id"): one.attributes.get("href") or "" for one in package.css("item")}
    chapters = [items.get(one.attributes.get("idref"), "") for one in package.css("itemref")]
    title = package.css_first(r"dc\:title")
    blocks: list[Block] = []
    for chapter in filter(None, chapters):
        place = posixpath.normpath(posixpath.join(posixpath.dirname(path), unquote(chapter)))
        mark = _mark(place)
        found = read_html(book.read(place)).blocks
        links = [tuple(_within(link, place) for link in block.links) for block in found]
        moved = [replace(block, links=some) for block, some in zip(found, links, strict=True)]
        if moved:
            moved[0] = replace(moved[0], anchors=(*moved[0].anchors, mark))
        blocks += moved
    return Page(tuple(blocks), " ".join(title.text().split()) if title is not None else "")


def _mark(place: str) -> str:
    return f"chapter-{place}"


def _within(link: Link, place: str) -> Link:
    if "://" in link.target or link.target.startswith("mailto:") or not link.target:
        return link
    target = posixpath.normpath(posixpath.join(posixpath.dirname(place), unquote(link.target)))
    return Link(link.text, "", link.anchor or _mark(target))
