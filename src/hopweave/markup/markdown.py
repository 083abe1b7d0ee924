"""Pages from Markdown: CommonMark with tables, wiki links, and the invisible markup of site generators."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hopweave.concurrency.once import once
from hopweave.markup.hidden import MARK, Visible
from hopweave.markup.page import Block, Link, Page, anchors_of, plain_page

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_KINDS = {"bullet_list_open": "list", "ordered_list_open": "list", "table_open": "table", "blockquote_open": "quote"}
_LONG_LIST = 800  # characters: the items of a longer list are blocks of their own
_WIKI = re.compile(r"\[\[([^\[\]|#\n]{0,300})(#[^\[\]|\n]{1,300})?(?:\|([^\[\]\n]{1,300}))?\]\]")
_URL = re.compile(r"(?<![\w/])https?://[^\s<>\"'`\])}|]{3,1000}(?<![.,;:!?*_])")
_MARKED = re.compile(
    r"^ {0,3}#{1,6}[ \t]|^ {0,3}(?:```|~~~)|\]\([^()\s]{2,}(?:\)|\s+[\"'])"
    r"|\[\[[^\[\]\n]+\]\]|\{\{[<%]|<a\s|<https?:|^ {0,3}\[[^\]\n]+\]:",
    re.MULTILINE,
)


@once(max_entries=16)  # several builders ask for the page of one passage in turn
def read_text(text: str, is_markdown: bool = False) -> Page:
    r"""The page of a passage; text that shows no Markdown is one paragraph, unless it is known to be Markdown.

    >>> read_text("# Ferries\n\nSee [Skua](skua.md#crew) or `skua`.").links
    [Link(text='Skua', target='skua.md', anchor='crew')]
    >>> read_text("A ferry.").blocks[0].kind
    'paragraph'
    """
    return read_markdown(text) if is_markdown or _MARKED.search(text) else plain_page(text)


def read_markdown(text: str) -> Page:
    r"""The page of a Markdown text without front matter.

    >>> page = read_markdown("# MV Skua {#skua}\n\n```sh\n# a comment\n```\n\nShe sails.")
    >>> [(block.kind, block.plain, block.anchors) for block in page.blocks]
    [('heading', 'MV Skua', ('skua', 'mv-skua')), ('code', '', ()), ('paragraph', 'She sails.', ())]
    """
    shown = Visible(text)
    reading = _Reading(shown)
    blocks = tuple(reading.blocks(_parser().parse(shown.text)))
    return Page(blocks, next((block.plain for block in blocks if block.kind == "heading"), ""))


@once()
def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"maxNesting": 40}).enable(["table", "strikethrough"])
    parser.inline.ruler.before("link", "wiki", _wiki)
    parser.validateLink = lambda url: True  # type: ignore[method-assign]  # noqa: ARG005
    return parser


def _wiki(state: Any, silent: bool) -> bool:
    if state.src[state.pos : state.pos + 2] != "[[" or not (found := _WIKI.match(state.src, state.pos)):
        return False
    title, anchor, said = found.groups()
    if not (title or anchor):
        return False
    if not silent:
        state.push("link_open", "a", 1).attrs = {"href": f"{'title:' if title else ''}{title.strip()}{anchor or ''}"}
        state.push("text", "", 0).content = said or title or anchor[1:]
        state.push("link_close", "a", -1)
    state.pos = found.end()
    return True


class _Reading:
    """Blocks from the tokens of one text."""

    def __init__(self, shown: Visible) -> None:
        self._shown = shown
        self._lines = shown.text.split("\n")

    def blocks(self, tokens: "Sequence[Token]") -> Iterator[Block]:
        place = 0
        while place < len(tokens):
            end = place + 1
            if tokens[place].nesting == 1:
                level = tokens[place].level
                while tokens[end].level != level or tokens[end].nesting != -1:
                    end += 1
                end += 1
            inner = tokens[place:end]
            long = inner[0].type in ("bullet_list_open", "ordered_list_open") and len(self._text(inner[0])) > _LONG_LIST
            yield from self._items(inner[1:-1]) if long else self._block(inner)
            place = end

    def _items(self, tokens: "Sequence[Token]") -> Iterator[Block]:
        start = 0
        for place, token in enumerate(tokens):
            if token.type == "list_item_close" and token.level == tokens[0].level:
                yield from self._block(tokens[start : place + 1], "list")
                start = place + 1

    def _text(self, token: "Token") -> str:
        first, last = token.map or (0, 0)
        lines = self._lines[first:last]
        while lines and not lines[-1].strip():
            lines.pop()
        return self._shown.plain("\n".join(lines))

    def _block(self, tokens: "Sequence[Token]", kind: str = "") -> Iterator[Block]:
        first = tokens[0]
        text = self._text(first)
        if first.type in ("fence", "code_block"):
            yield Block("code", text)
        elif first.type == "html_block":
            from hopweave.markup.html import read_fragment

            for block in read_fragment(first.content):
                said = _Said(self._shown)
                said.text(block.plain)
                yield replace(
                    block,
                    text=self._shown.plain(block.text),
                    plain=self._shown.plain(block.plain),
                    prose=self._shown.plain(block.prose),
                    links=(*block.links, *said.links),
                    anchors=(*said.places, *block.anchors),
                )
        elif first.type == "hr":
            yield Block("paragraph", text)
        else:
            said = self._said(tokens)
            plain, prose = said.both
            if first.type == "heading_open":
                anchors = tuple(dict.fromkeys((*said.places, *anchors_of(plain))))
                yield Block("heading", text, plain, prose, tuple(said.links), int(first.tag[1]), anchors)
            elif text.strip() or said.links or said.places:
                kind = kind or _KINDS.get(first.type, "paragraph")
                yield Block(kind, text, plain, prose, tuple(said.links), anchors=tuple(said.places))

    def _said(self, tokens: "Sequence[Token]") -> "_Said":
        said = _Said(self._shown)
        for token in tokens:
            if token.type == "inline":
                said.inline(token.children or ())
                said.line_break()
            elif token.type == "html_block":
                from hopweave.markup.html import read_fragment

                for block in read_fragment(token.content):
                    said.text(block.plain + "\n")
                    said.links += block.links
        return said


class _Said:
    """Collects what inline tokens say."""

    def __init__(self, shown: Visible) -> None:
        self._shown = shown
        self._plain: list[str] = []
        self._prose: list[str] = []
        self._open: list[tuple[Link, int]] = []
        self.links: list[Link] = []
        self.places: list[str] = []

    @property
    def both(self) -> tuple[str, str]:
        """The plain text and the prose."""
        plain, prose = (
            "\n".join(map(str.strip, "".join(one).split("\n"))).strip() for one in (self._plain, self._prose)
        )
        return plain, prose

    def line_break(self) -> None:
        self._add("\n")

    def inline(self, tokens: "Sequence[Token]") -> None:
        for token in tokens:
            if token.type == "text":
                self.text(token.content, urls=not self._open)
            elif token.type == "softbreak":
                self._add(" ")
            elif token.type == "hardbreak":
                self._add("\n")
            elif token.type == "code_inline":
                self._plain.append(token.content)
                self._prose.append("\n")
            elif token.type == "link_open":
                self._begin(Link.to(str(token.attrs.get("href", ""))))
            elif token.type == "link_close":
                self._end()
            elif token.type == "image":
                self.inline(token.children or ())

    def text(self, content: str, *, urls: bool = True) -> None:
        """Text that may hold marks of links and places, and bare URLs."""
        last = 0
        for mark in MARK.finditer(content):
            self._words(content[last : mark.start()], urls)
            last = mark.end()
            if not mark[1]:
                self._end()
            elif int(mark[1]) < len(self._shown.links):
                found = self._shown.links[int(mark[1])]
                if isinstance(found, Link):
                    self._begin(found)
                else:
                    self.places.append(found)
        self._words(content[last:], urls)

    def _words(self, content: str, urls: bool) -> None:
        if urls and "://" in content and not self._open:
            self.links += [Link.to(url) for url in _URL.findall(content)]
        self._add(content)

    def _add(self, text: str) -> None:
        self._plain.append(text)
        self._prose.append(text)

    def _begin(self, link: Link) -> None:
        self._open.append((link, len(self._plain)))

    def _end(self) -> None:
        if self._open:
            link, start = self._open.pop()
            self.links.append(Link(" ".join("".join(self._plain[start:]).split()), link.target, link.anchor))
