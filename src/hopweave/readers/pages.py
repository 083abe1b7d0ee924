"""Documents from files of text with markup: pages, cut into passages."""

import logging
import re
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from hopweave.document import CONTEXT_PREFIX, Document
from hopweave.errors import UnreadableInput
from hopweave.graph.build.builders.addresses import ADDRESSES
from hopweave.markup.page import Page
from hopweave.readers.limited_yaml import limited_yaml
from hopweave.readers.passages import Passage, passages
from hopweave.readers.tree import Tree, header_links, reply_links
from hopweave.readers.validation import OnBad, storable

logger = logging.getLogger(__name__)

MAX_BYTES = 32 << 20
"""Larger files of text with markup are refused."""

_FRONT_MATTER = re.compile(r"\A(---|\+\+\+)[ \t]*\n(?:(.*?)\n)??\1[ \t]*(?:\n|\Z)", re.DOTALL)
_BYTE_ORDER_MARKS = (b"\xff\xfe\0\0", b"\0\0\xfe\xff", b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf")
_DETECTED = [
    *("cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "cp1255", "cp1256", "koi8_r", "cp437"),
    *("shift_jis", "cp932", "euc_jp", "gb18030", "big5", "euc_kr", "cp949"),
]
_ENCODINGS = ("utf-32", "utf-32", "utf-16", "utf-16", "utf-8-sig")


@dataclass
class Reading:
    """How files are read: who is told of what is wrong, how long passages are, and where links lead."""

    on_bad: OnBad
    max_characters: int = 2000
    on_bad_file: OnBad | None = None
    """Is told of whole files that cannot be read, in place of `on_bad`."""
    tree: Tree = field(default_factory=lambda: Tree([]))
    note: Callable[[str], object] = logger.warning
    """Is told what the user should know of files that were read."""


def page_documents(page: Page, name: str, reading: Reading, place: object) -> Iterator[Document]:
    """One document per passage of a page, with what links may call it and where its own links lead."""
    tree, stem = reading.tree, Path(name).stem
    front = {key: value for key, value in page.front.items() if value is not None}
    title = str(front.get("title") or page.title or stem)
    page = replace(page, title=title)
    metadata: dict[str, Any] = {
        "source": name,
        **front,
        "title": title if "pep" in front else front.get("title") or title,
    }
    parts = passages(page, title, reading.max_characters)
    if not parts and isinstance(front.get("description"), str):  # links lead to such a page all the same
        parts = [Passage([front["description"]])]
    whole = tree.addresses(name, page)
    called = [one for one in dict.fromkeys(whole) if one and one != tree.prefix + name]
    keys = [f"{name}#{part.name}" if part.name else name for part in parts]
    for number, (key, part) in enumerate(zip(keys, parts, strict=True)):
        links = [*header_links(front), *reply_links(front), *part.links] if not number else part.links
        extra: dict[str, Any] = {}
        if len(parts) > 1:
            extra["source_id"] = name
            if number + 1 < len(parts):
                extra["next_id"] = keys[number + 1]
        if part.heading_path:
            extra["heading"], extra["heading_path"] = part.heading_path[-1], list(part.heading_path)
        if part.above:
            extra[CONTEXT_PREFIX] = " > ".join(part.above)
        if found := tree.add_links(dict.fromkeys(links), name):
            extra["links"] = found
        named = [
            anchor if anchor.startswith("ref:") else f"{one}#{anchor}" for anchor in part.anchors for one in called
        ]
        claims = [*(whole if not number else ()), *named]
        extra[ADDRESSES] = tree.claim(claims)
        yield storable(Document(key, part.text, {**metadata, **extra}), place)


def page_reader(parse: Callable[[str], Page]) -> Callable[[Path, str, Reading], Iterator[Document]]:
    """A reader of files from a function that makes a page of a text; front matter is taken off before."""

    def read(file: Path, name: str, reading: Reading) -> Iterator[Document]:
        text, front, problem = read_front_matter(read_text(file, reading))
        if problem:
            reading.note(f"{file}: its front matter is not usable and left out: {problem}")
        try:
            page = parse(text)
        except (RecursionError, ValueError, AssertionError) as error:
            raise UnreadableInput(f"{file}: cannot be parsed: {error or type(error).__name__}") from error
        yield from page_documents(replace(page, front={**page.front, **front}), name, reading, file)

    return read


def read_text(file: Path, reading: Reading) -> str:
    """The text of a file in UTF-8, or what its byte order mark says, or else in the encoding that fits best."""
    size = file.stat().st_size
    if size > MAX_BYTES:
        raise UnreadableInput(f"{file}: has {size >> 20} MB, but files of its kind may have {MAX_BYTES >> 20}")
    data = file.read_bytes()
    for mark, encoding in zip(_BYTE_ORDER_MARKS, _ENCODINGS, strict=True):
        if data.startswith(mark):
            return _universal(data.decode(encoding))
    if b"\0" in data:
        raise UnreadableInput(f"{file}: is binary, not text")
    try:
        return _universal(data.decode("utf-8"))
    except UnicodeDecodeError:
        return _universal(_detected(data, file, reading))


def _universal(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _detected(data: bytes, file: Path, reading: Reading) -> str:
    from charset_normalizer import from_bytes

    best = from_bytes(data[: 1 << 20], cp_isolation=_DETECTED).best()
    if best is None:
        raise UnreadableInput(f"{file}: is neither UTF-8 nor text in another encoding that is known")
    try:
        text = data.decode(best.encoding)
    except UnicodeDecodeError as error:
        raise UnreadableInput(f"{file}: is not UTF-8, and {best.encoding} only in part") from error
    reading.note(f"{file}: read as {best.encoding}, as it is not UTF-8")
    return text


def read_front_matter(text: str) -> tuple[str, dict[str, Any], str]:
    r"""The text without front matter, its fields, and what is wrong with it.

    Front matter is a YAML mapping between two lines `---` or TOML between two lines `+++` at the beginning; anything
    else there is text.

    >>> read_front_matter("---\ntitle: Skua\n---\nA ferry."), read_front_matter("---\nA rule.\n---\n")[0]
    (('A ferry.', {'title': 'Skua'}, ''), '---\nA rule.\n---\n')
    """
    front = _FRONT_MATTER.match(text)
    if front is None:
        return text, {}, ""
    try:
        fields = tomllib.loads(front[2] or "") if front[1] == "+++" else limited_yaml(front[2] or "")
    except (UnreadableInput, tomllib.TOMLDecodeError) as error:
        return text[front.end() :], {}, str(error)
    if isinstance(fields, dict):
        return text[front.end() :], {str(key): value for key, value in fields.items()}, ""
    return (text, {}, "") if (front[2] or "").strip() else (text[front.end() :], {}, "")
