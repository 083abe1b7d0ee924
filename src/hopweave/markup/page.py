"""The one model of a document: a title, front matter, and blocks with plain text and links."""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

_DROPPED = re.compile(r"[^\w\- ]")
_NOT_WORD = re.compile(r"[\W_]+")
_EMPTY_LINE = re.compile(r"\n[ \t]*\n")
_HYPHENS = re.compile(r"[-_ ]+")


@dataclass(frozen=True, slots=True)
class Link:
    """A link as it is written: the text, the target without its anchor, and the anchor.

    The target is a path or URL, empty for the same document, or `kind:name` of something that a document declares:
    `id:`, `slug:`, `ref:`, `pep:` and `title:`.
    """

    text: str
    target: str
    anchor: str = ""

    @classmethod
    def to(cls, address: str, text: str = "") -> "Link":
        """The link to an address, in which the anchor stands behind a hash.

        >>> Link.to("skua.md#crew", "the crew")
        Link(text='the crew', target='skua.md', anchor='crew')
        """
        target, _, anchor = address.strip().partition("#")
        return cls(" ".join(text.split()), target, anchor)


@dataclass(frozen=True, slots=True)
class Block:
    """A heading, paragraph, list, table, quote or piece of code."""

    kind: str
    text: str
    """As the author wrote it, without invisible markup."""
    plain: str = ""
    """What it says in words; nothing for code."""
    prose: str = ""
    """The same with a line break in place of inline code: the text in which names are looked for."""
    links: tuple[Link, ...] = ()
    level: int = 0
    """Of a heading: 1 for the highest."""
    anchors: tuple[str, ...] = ()
    """By which links may call this place."""


@dataclass(frozen=True, slots=True)
class Page:
    """A document in blocks."""

    blocks: tuple[Block, ...]
    title: str = ""
    front: dict[str, Any] = field(default_factory=dict)

    @property
    def headings(self) -> list[str]:
        """The headings in plain text."""
        return [block.plain for block in self.blocks if block.kind == "heading" and block.plain]

    @property
    def plain(self) -> str:
        """What all blocks say."""
        return _joined(block.plain for block in self.blocks)

    @property
    def prose(self) -> str:
        """What all blocks say without inline code."""
        return _joined(block.prose for block in self.blocks)

    @property
    def body(self) -> str:
        """What the blocks after the first headings say without inline code."""
        first = next((place for place, one in enumerate(self.blocks) if one.kind != "heading"), len(self.blocks))
        return _joined(block.prose for block in self.blocks[first:])

    @property
    def links(self) -> list[Link]:
        """All links, each once."""
        return list(dict.fromkeys(link for block in self.blocks for link in block.links))


def _joined(texts: Iterable[str]) -> str:
    return "\n\n".join(text for text in texts if text)


def plain_page(text: str) -> Page:
    """A text without markup as it is: one paragraph."""
    return Page((Block("paragraph", text, text, text),))


def paragraphs(text: str) -> Page:
    r"""A plain text in paragraphs, which empty lines separate.

    >>> [block.text for block in paragraphs("One.\n\n\nTwo.").blocks]
    ['One.', 'Two.']
    """
    parts = (part.strip() for part in _EMPTY_LINE.split(text))
    return Page(tuple(Block("paragraph", part, part, part) for part in parts if part))


def anchors_of(heading: str) -> tuple[str, ...]:
    """The anchors that renderers make from a heading: by the rules of GitHub, Hugo and mkdocs, and of docutils.

    >>> anchors_of("What's new in 2.0?")
    ('whats-new-in-20', 'what-s-new-in-2-0')
    """
    text = unicodedata.normalize("NFKD", heading).casefold()
    text = "".join(character for character in text if not unicodedata.combining(character))
    found = _DROPPED.sub("", text), _NOT_WORD.sub("-", text)
    return tuple(dict.fromkeys(anchor for anchor in map(same_anchor, found) if anchor))


def same_anchor(anchor: str) -> str:
    """The form in which anchors are compared.

    >>> same_anchor("What%27s_new--in"), same_anchor("user-content-crew")
    ("what's-new-in", 'crew')
    """
    return _HYPHENS.sub("-", unquote(anchor).casefold()).strip("-").removeprefix("user-content-")
