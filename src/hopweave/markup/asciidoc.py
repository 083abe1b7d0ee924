"""Pages from AsciiDoc: headings, paragraphs, lists, tables, code, and the references of Antora."""

import re
from collections.abc import Iterator
from typing import Any

from hopweave.markup.html import fenced, table
from hopweave.markup.page import Block, Link, Page, anchors_of

_HEADING = re.compile(r"(={1,6}|#{1,6})[ \t]++(\S.*)")
_ATTRIBUTE = re.compile(r":(!?[\w][\w-]*!?):(?:[ \t]+(.*))?$")
_BLOCK_ANCHOR = re.compile(r"\[\[([^\[\],]+)(?:,[^\]]*)?\]\]$|\[#([^\].,%]++)[^\]]*+\]$")
_BLOCK_ATTRIBUTES = re.compile(r"\[[^\[\]]*\]$")
_DELIMITER = re.compile(r"(-{4,}|\.{4,}|={4,}|\*{4,}|_{4,}|\+{4,}|/{4,}|--|```\w*|\|===|,===|!===)$")
_ITEM = re.compile(r"[ \t]*(?:[*]{1,5}|-|\.{1,5}|\d+\.|<\d+>)[ \t]+(.*)")
_TERM = re.compile(r"(\S.*?)(?:::{1,3}|;;)(?:[ \t]+(.*))?$")
_ADMONITION = re.compile(r"(?:NOTE|TIP|IMPORTANT|WARNING|CAUTION):[ \t]+")
_MACRO = re.compile(r"(?:image|video|audio|include|ifdef|ifndef|ifeval|endif|toc|icon)::[^\s\[]*+\[[^\]]*+\]$")
_INLINE = re.compile(
    r"(?P<code>`\+?(?P<said>[^`\n]+?)\+?`)"
    r"|(?P<kind>xref|link|mailto|https?|image|kbd|btn|menu|footnote|anchor|pass|stem):(?P<target>[^\s\[\]]*)\[(?P<text>[^\]]*)\]"
    r"|<<(?P<ref>[^<>,]+)(?:,(?P<ref_text>[^<>]+))?>>"
    r"|\[\[(?P<place>[^\[\],]+)(?:,[^\]]*)?\]\]|\[#(?P<place2>[\w-]+)\]"
    r"|(?P<url>https?://[^\s<>\[\]\"'`]+(?<![.,;:!?)]))"
    r"|\{(?P<name>[\w-]+)\}"
    r"|(?P<mark>(?<![\w*_#])(?:\*{1,2}|_{1,2}|#{1,2})(?=[^\s*_#])|(?<=[^\s*_#])(?:\*{1,2}|_{1,2}|#{1,2})(?![\w*_#]))"
)
_FRONT = {
    **{name: name for name in ("author", "date", "description", "keywords")},
    "revdate": "date",
    "page-aliases": "aliases",
}
_VERBATIM = ("----", "....", "```")
_CELL = re.compile(r"(?:\d{1,4}[*+])?(?:[.\d]{1,9}\+)?[<^>.]{0,4}[aehlmsdv]?\|")


def read_asciidoc(text: str) -> Page:
    r"""The page of an AsciiDoc document; attributes of its header are its front matter.

    >>> page = read_asciidoc("= Ferries\n:author: Falk\n\n[#skua]\n== MV Skua\n\nTo xref:harris.adoc#port[Harris].")
    >>> page.title, page.front, [(block.text, block.anchors[:1]) for block in page.blocks]
    ('Ferries', {'author': 'Falk'}, [('# Ferries', ('ferries',)), ('## MV Skua', ('skua',)), ('To Harris.', ())])
    >>> page.links
    [Link(text='Harris', target='harris.adoc', anchor='port')]
    """
    reading = _Reading(text.split("\n"))
    blocks = tuple(reading.blocks())
    title = next((block.plain for block in blocks if block.kind == "heading" and block.level == 1), "")
    return Page(blocks, title, reading.front)


class _Reading:
    """Goes through the lines once."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self._place = 0
        self._anchors: list[str] = []
        self._language = ""
        self._wrapped: list[str] = []
        self._is_header = True
        self.attributes: dict[str, str] = {}
        self.front: dict[str, Any] = {}

    def blocks(self) -> Iterator[Block]:
        while self._place < len(self._lines):
            line = self._lines[self._place].rstrip()
            self._place += 1
            if delimiter := _DELIMITER.match(line):
                yield from self._wrapped_block()
                yield from self._delimited(delimiter[1])
            elif not line or line == "+" or line.startswith("//") or _MACRO.match(line):
                yield from self._wrapped_block()
                self._is_header = self._is_header and not (not line and self.front)
            elif found := _ATTRIBUTE.match(line):
                self._attribute(found[1], found[2] or "")
            elif not self._wrapped and (found := _HEADING.match(line)):
                said, _, end = found[2].rstrip().rpartition(" ")  # the marks may stand behind the heading as well
                yield self._made("heading", said.rstrip() if end == found[1] else found[2], len(found[1]))
            elif not self._wrapped and (found := _BLOCK_ANCHOR.match(line)):
                self._anchors.append(found[1] or found[2])
            elif not self._wrapped and _BLOCK_ATTRIBUTES.match(line):
                parts = line[1:-1].split(",")
                self._language = parts[1].strip() if parts[0] == "source" and len(parts) > 1 else ""
            elif not self._wrapped and re.match(r"\.[^\s.]", line):
                yield self._made("paragraph", line[1:])
            elif (_ITEM.match(line) or _TERM.match(line)) and not _is_sentence(line):
                yield from self._wrapped_block()
                self._wrapped.append(line)
            else:
                self._wrapped.append(line)
        yield from self._wrapped_block()

    def _attribute(self, name: str, value: str) -> None:
        name = name.strip("!")
        self.attributes[name] = value
        if self._is_header and value and name in _FRONT:
            key = _FRONT[name]
            self.front[key] = [one.strip() for one in value.split(",")] if key == "aliases" else value

    def _wrapped_block(self) -> Iterator[Block]:
        if self._wrapped:
            text = " ".join(line.strip() for line in self._wrapped)
            self._wrapped = []
            if item := _ITEM.match(text):
                yield self._made("list", item[1], mark="- ")
            elif (term := _TERM.match(text)) and not _is_sentence(text):
                yield self._made("list", f"{term[1]}: {term[2] or ''}".strip(), mark="- ")
            else:
                kind = "admonition" if _ADMONITION.match(text) else "paragraph"
                yield self._made(kind, _ADMONITION.sub("", text, count=1))

    def _delimited(self, mark: str) -> Iterator[Block]:
        if mark.startswith("|===") or mark in (",===", "!==="):
            yield from self._table(self._until(mark))
        elif mark.startswith(_VERBATIM):
            language, self._language = self._language or mark[3:].strip("`-."), ""
            anchors, self._anchors = tuple(self._anchors), []
            lines = self._until("```" if mark.startswith("```") else mark)
            yield Block("code", fenced("\n".join(lines), language), anchors=anchors)
        elif mark.startswith(("////", "++++")):
            self._until(mark)
        # others only wrap what is in them

    def _until(self, mark: str) -> list[str]:
        start = self._place
        while self._place < len(self._lines) and self._lines[self._place].rstrip() != mark:
            self._place += 1
        self._place += 1
        return self._lines[start : self._place - 1]

    def _table(self, lines: list[str]) -> Iterator[Block]:
        rows: list[list[str]] = []
        for line in lines:
            cells = [cell.strip() for cell in _CELL.split(line)]
            if line.lstrip().startswith("|") or len(cells) > 1:
                rows.append(cells[1:])
            elif rows and line.strip():
                rows[-1][-1] = f"{rows[-1][-1]} {line.strip()}"
        width = max(map(len, rows), default=0)
        if width and any(len(row) == 1 for row in rows) and len(rows[0]) > 1:  # one cell a line below the header
            width, flat = len(rows[0]), [cell for row in rows for cell in row]
            rows = [flat[start : start + width] for start in range(0, len(flat), width)]
        said = [[self._said(cell) for cell in row] for row in rows]
        if said:
            plain = "\n".join(one.plain for row in said for one in row)
            prose = "\n".join(one.prose for row in said for one in row)
            links = tuple(link for row in said for one in row for link in one.links)
            text = table([[one.text for one in row] for row in said])
            anchors, self._anchors = tuple(self._anchors), []
            yield Block("table", text, plain, prose, links, anchors=anchors)

    def _made(self, kind: str, text: str, level: int = 0, mark: str = "") -> Block:
        said = self._said(text)
        anchors = (*self._anchors, *said.anchors)
        self._anchors = []
        if level:
            named = anchors_of(said.plain)
            anchors = (*anchors, *named, *(f"_{one}" for one in named))
            mark = f"{'#' * level} "
        return Block(kind, mark + said.text, said.plain, said.prose, said.links, level, anchors)

    def _said(self, text: str) -> Block:
        links: list[Link] = []
        places: list[str] = []

        def shown(match: re.Match[str], code: str) -> str:
            if match["code"]:
                return code.replace("\0", match["said"])
            if match["kind"] and match["kind"] not in ("xref", "link", "http", "https"):
                return match["text"].partition(",")[0] if match["kind"] not in ("anchor", "footnote") else ""
            if match["ref"] or match["kind"] or match["url"]:
                return self._link(match, links)
            if match["place"] or match["place2"]:
                places.append(match["place"] or match["place2"])
                return ""
            return self.attributes.get(match["name"], match.group()) if match["name"] else ""

        prose = _INLINE.sub(lambda match: shown(match, "\n"), text)
        links.clear()
        places.clear()
        plain = _INLINE.sub(lambda match: shown(match, "\0"), text)
        links.clear()
        places.clear()
        seen = _INLINE.sub(lambda match: shown(match, "`\0`"), text)
        return Block("paragraph", seen, plain, prose, tuple(links), anchors=tuple(places))

    def _link(self, match: re.Match[str], links: list[Link]) -> str:
        if match["url"]:
            links.append(Link.to(match["url"], match["url"]))
            return match["url"]
        if match["ref"]:
            target = match["ref"] if "#" in match["ref"] or match["ref"].endswith(".adoc") else f"#{match['ref']}"
            said = match["ref_text"] or ""
        else:
            target = match["target"] if match["kind"] in ("xref", "link") else f"{match['kind']}:{match['target']}"
            said = match["text"].rstrip("^").partition(",")[0] if "=" in match["text"] else match["text"].rstrip("^")
            target = target if match["kind"] != "xref" or "#" in target or "." in target else f"#{target}"
        target = re.sub(r"\{([\w-]+)\}", lambda name: self.attributes.get(name[1], name.group()), target)
        links.append(Link.to(f"xref:{target}" if match["kind"] == "xref" and ":" in target else target, said))
        return said.strip() or target.partition("#")[2] or target


def _is_sentence(line: str) -> bool:
    """Whether a line with two colons is text and no term of a list."""
    return not _ITEM.match(line) and re.search(r"::\w", line) is not None
