"""Pages from HTML: the article in reading order, then navigation and footers."""

import re
from typing import TYPE_CHECKING, Any

from hopweave.markup.page import Block, Link, Page, anchors_of

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

MAX_LEVELS = 1000
"""HTML with elements nested more deeply is refused: the time that parsing takes grows with the square of it."""

_NESTING = re.compile(r"<(/?)(div|span|section|table|ul|ol|dl|blockquote|font|b|i|a|em|strong)\b[^<>]*>", re.IGNORECASE)

_HIDDEN = frozenset({"script", "style", "template", "noscript", "head", "svg", "iframe", "object", "select", "button"})
_ASIDE = frozenset({"nav", "footer", "aside"})
_BLOCKS = frozenset(
    [
        "p",
        "div",
        "section",
        "article",
        "main",
        "header",
        "footer",
        "nav",
        "aside",
        "li",
        "dd",
        "dt",
        "dl",
        "ul",
        "ol",
        "blockquote",
        "figure",
        "figcaption",
        "pre",
        "table",
        "tr",
        "form",
        "fieldset",
        "details",
        "summary",
        "address",
        "body",
        "html",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "hr",
        "caption",
        "center",
    ]
)
_KINDS = {"li": "list", "dd": "list", "dt": "list", "ul": "list", "ol": "list", "blockquote": "quote"}
_HEADINGS = {f"h{level}": level for level in range(1, 7)}


def read_html(text: str) -> Page:
    """The page of an HTML document.

    >>> page = read_html("<title>Skua</title><nav>Home</nav><h1 id=s>MV Skua</h1><p>To <a href=h.html#p>Harris</a>")
    >>> page.title, [(block.kind, block.text) for block in page.blocks]
    ('MV Skua', [('heading', '# MV Skua'), ('paragraph', 'To Harris'), ('paragraph', 'Home')])
    >>> page.links
    [Link(text='Harris', target='h.html', anchor='p')]
    """
    from selectolax.lexbor import LexborHTMLParser

    _check_levels(text)
    tree = LexborHTMLParser(text)
    reading = _Reading()
    if tree.body is not None:
        reading.read(tree.body)
    blocks = (*reading.blocks, *reading.aside)
    title = next((block.plain for block in blocks if block.kind == "heading" and block.level == 1), "")
    named = tree.css_first("title")
    front = {}
    for meta in tree.css("meta[name][content]"):
        name, content = meta.attributes.get("name") or "", meta.attributes.get("content")
        if name.lower() in ("author", "description", "date", "keywords"):
            front[name.lower()] = content
    canonical = tree.css_first("link[rel=canonical]")
    if canonical is not None and canonical.attributes.get("href"):
        front["url"] = canonical.attributes["href"]
    return Page(blocks, title or (" ".join(named.text().split()) if named else ""), front)


def _check_levels(text: str) -> None:
    levels = 0
    for tag in _NESTING.finditer(text):
        levels = max(levels - 1, 0) if tag[1] else levels + 1
        if levels > MAX_LEVELS:
            raise ValueError(f"HTML elements are nested more than {MAX_LEVELS} levels deep")


def read_fragment(text: str) -> tuple[Block, ...]:
    """The blocks of HTML inside another document."""
    return read_html(text).blocks if text.strip() else ()


class _Reading:
    """Walks the tree without recursion, however deep it is."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.aside: list[Block] = []
        self._plain: list[str] = []
        self._prose: list[str] = []
        self._links: list[Link] = []
        self._places: list[str] = []
        self._kind = "paragraph"
        self._in_aside = 0

    def read(self, root: "LexborNode") -> None:
        stack: list[tuple[Any, bool]] = [(root, False)]
        while stack:
            node, closing = stack.pop()
            if closing:
                self._close(node)
            elif self._open(node):
                stack.append((node, True))
                stack.extend((child, False) for child in reversed(list(node.iter(include_text=True))))
        self._finish()

    def _open(self, node: "LexborNode") -> bool:
        """Begin an element; whether to go on with what is in it."""
        tag = node.tag or ""
        if tag == "-text":
            self._words(node.text_content or "")
            return False
        if tag in _HIDDEN or tag.startswith(("-", "!")):
            return False
        place = node.attributes.get("id") or (node.attributes.get("name") if tag == "a" else None)
        if tag in _BLOCKS:
            self._finish()
            self._kind = _KINDS.get(tag, "paragraph")
        self._places += [place] if place else []
        self._in_aside += tag in _ASIDE
        if tag == "pre":
            self._code(node)
            return False
        if tag == "table" and self._table(node):
            return False
        return self._inline(node, tag)

    def _inline(self, node: "LexborNode", tag: str) -> bool:
        if tag in ("code", "kbd", "samp", "tt"):
            said = " ".join(node.text().split())
            self._plain.append(f"`{said}`" if said else "")
            self._prose.append("\n")
            return False
        if tag == "br":
            self._words("\n", keep=True)
        elif tag == "img":
            self._words(node.attributes.get("alt") or "")
        elif tag == "a" and node.attributes.get("href"):
            self._links.append(Link.to(node.attributes["href"] or "", node.text()[:300]))
        return True

    def _close(self, node: "LexborNode") -> None:
        tag = node.tag or ""
        if tag in _HEADINGS:
            self._finish(_HEADINGS[tag])
        elif tag in _BLOCKS:
            self._finish()
        if tag in _ASIDE:
            self._in_aside -= 1

    def _words(self, text: str, *, keep: bool = False) -> None:
        text = text if keep else _spaced(text)
        self._plain.append(text)
        self._prose.append(text)

    def _finish(self, level: int = 0) -> None:
        plain, prose = _tidy(self._plain), _tidy(self._prose)
        if plain:
            said = plain.replace("`", "")
            anchors = tuple(dict.fromkeys((*self._places, *(anchors_of(said) if level else ()))))
            text = f"{'#' * level} {plain}" if level else f"- {plain}" if self._kind == "list" else plain
            kind = "heading" if level else self._kind
            self._add(Block(kind, text, said, prose, tuple(self._links), level, anchors))
            self._places.clear()
            self._kind = "paragraph"
        elif self._links:
            self._add(Block("paragraph", "", links=tuple(self._links)))
        self._plain.clear()
        self._prose.clear()
        self._links.clear()

    def _add(self, block: Block) -> None:
        (self.aside if self._in_aside else self.blocks).append(block)

    def _code(self, node: "LexborNode") -> None:
        self._add(Block("code", fenced(node.text().strip("\n")), anchors=tuple(self._places)))
        self._places.clear()

    def _table(self, node: "LexborNode") -> bool:
        """A table of data as rows of cells; one that holds other blocks is there for the layout and read as text."""
        if node.css_first("table table, pre, h1, h2, h3, ul ul") is not None and not node.css_first("th"):
            return False
        rows = [[_one_line(cell.text()) for cell in row.css("td, th")] for row in node.css("tr")]
        if not (rows := [row for row in rows if any(row)]):
            return True
        links = [Link.to(a.attributes["href"] or "", a.text()[:300]) for a in node.css("a[href]")]
        places = [one.attributes["id"] or "" for one in node.css("[id]")]
        plain = "\n".join("\n".join(row) for row in rows)
        self._add(Block("table", table(rows), plain, plain, tuple(links), anchors=(*self._places, *places)))
        self._places.clear()
        return True


def table(rows: list[list[str]]) -> str:
    """Rows of cells as a Markdown table, the first as its header.

    >>> print(table([["ship", "built"], ["Skua", "1974"]]))
    | ship | built |
    | --- | --- |
    | Skua | 1974 |
    """
    width = max(map(len, rows))
    lines = [f"| {' | '.join(cell.replace('|', '/') for cell in [*row, *[''] * (width - len(row))])} |" for row in rows]
    return "\n".join([lines[0], f"|{' --- |' * width}", *lines[1:]])


def fenced(code: str, language: str = "") -> str:
    """Code between fences that it does not hold itself."""
    fence = "```"
    while fence in code:
        fence += "`"
    return f"{fence}{language}\n{code}\n{fence}"


def _spaced(text: str) -> str:
    inner = " ".join(text.split())
    if not inner:
        return " " if text else ""
    return f"{' ' if text[0].isspace() else ''}{inner}{' ' if text[-1].isspace() else ''}"


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _tidy(parts: list[str]) -> str:
    return "\n".join(line for line in (_one_line(line) for line in "".join(parts).split("\n")) if line)
