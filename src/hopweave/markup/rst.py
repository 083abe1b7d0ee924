"""Pages from reStructuredText by docutils, without file insertion or raw text."""

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar

from hopweave.concurrency.once import once
from hopweave.markup.hidden import titled
from hopweave.markup.html import fenced, table
from hopweave.markup.page import Block, Link, Page, anchors_of

if TYPE_CHECKING:
    from docutils import nodes

_DIRECTIVE = re.compile(r"^[ \t]*\.\. +(?:\|[^|\n]+\| +)?([\w][\w:.+-]*?) ?::(?:[ \t]|$)", re.MULTILINE)
_HEADER = re.compile(r"\A\s*(?=[\w-]+:)(?:[A-Za-z][\w-]*:[^\n]*\n(?:[ \t][^\n]*\n)*)+(?=\s*\n|\Z)")
_HEADER_FIELD = re.compile(r"^([A-Za-z][\w-]*):[ \t]*([^\n]*(?:\n[ \t]+[^\n]*)*)", re.MULTILINE)
_PATH_ROLES = frozenset({"doc", "download"})
_NAMED_ROLES = {"ref": "ref", "numref": "ref", "term": "term", "pep": "pep"}
_CODE_ROLES = frozenset({"code", "file", "program", "option", "samp", "command", "envvar", "kbd", "math", "literal"})
_OF_PYTHON = re.compile(
    r"(?:[\w+.-]+:)?(?:py|c|cpp|js|rst|std)?:?(?:func|class|mod|meth|data|exc|attr|const|macro|type|obj|member|any)$"
)
_UNSEEN = frozenset(
    {"comment", "substitution_definition", "system_message", "raw", "pending", "docinfo", "meta", "problematic"}
)
_CODE = frozenset({"literal_block", "doctest_block", "math_block"})
_LISTS = frozenset({"bullet_list", "enumerated_list", "definition_list", "field_list", "option_list"})
_PARAGRAPHS = frozenset(
    {"paragraph", "footnote", "citation", "line_block", "rubric", "caption", "attribution", "term", "subtitle"}
)
_SETTINGS = {
    "file_insertion_enabled": False,
    "raw_enabled": False,
    "report_level": 5,
    "halt_level": 5,
    "line_length_limit": 1_000_000,
    "_disable_config": True,
    "syntax_highlight": "none",
    "warning_stream": False,
    "doctitle_xform": False,
    "input_encoding": "unicode",
    "output_encoding": "unicode",
    "tab_width": 4,
}


def read_rst(text: str) -> Page:
    r"""The page of a reStructuredText document; a header as PEPs have is its front matter.

    >>> page = read_rst("Ferries\n=======\n\nSee :pep:`8` and ``skua``::\n\n    # code\n")
    >>> [(block.kind, block.text) for block in page.blocks]
    [('heading', '# Ferries'), ('paragraph', 'See PEP 8 and `skua`:'), ('code', '```\n# code\n```')]
    >>> page.links
    [Link(text='PEP 8', target='pep:8', anchor='')]
    """
    from docutils.utils import new_document

    front: dict[str, Any] = {}
    if header := _HEADER.match(text):
        front = {name.lower(): " ".join(value.split()) for name, value in _HEADER_FIELD.findall(header.group())}
        text = text[header.end() :]
    _register_directives(text)
    document = new_document("text", _settings())
    _parser().parse(text, document)
    reading = _Reading(document)
    blocks = (*_header_block(front), *reading.blocks(document, 0))
    title = next((block.plain for block in blocks if block.kind == "heading"), "")
    if "pep" in front and front.get("title"):
        front["title"] = front["title"].replace("``", "")
        title = f"PEP {front['pep']} – {front['title']}"
    return Page(blocks, title, front)


def _header_block(front: dict[str, Any]) -> Iterator[Block]:
    """What a header says to a reader: status, successor and the like are often nowhere else."""
    said = "\n".join(f"{name.capitalize()}: {value}" for name, value in front.items() if value)
    if said:
        yield Block("paragraph", said, said, said)


@once()
def _settings() -> Any:
    from docutils.frontend import get_default_settings
    from docutils.parsers.rst import Parser

    settings = get_default_settings(Parser)
    for name, value in _SETTINGS.items():
        setattr(settings, name, value)
    return settings


def _parser() -> Any:
    from docutils.parsers.rst import Parser
    from docutils.parsers.rst.states import Inliner

    inliner = Inliner()
    inliner.interpreted = _role  # a subclass would lose the patterns that docutils takes from the class itself
    return Parser(inliner=inliner)


def _role(rawsource: str, text: str, role: str, _: int) -> Any:
    """A role of any name: those of Sphinx, of PEPs and of extensions."""
    from docutils import nodes

    said, target = titled(text.replace("\x00", ""))
    address = ""
    if role in _PATH_ROLES or role in _NAMED_ROLES:
        address = target if role in _PATH_ROLES else f"{_NAMED_ROLES[role]}:{target}"
    if role == "pep":
        said = said or f"PEP {target.partition('#')[0].lstrip('0')}"
    is_code = role in _CODE_ROLES or _OF_PYTHON.match(role) is not None
    made = (nodes.literal if is_code else nodes.inline)(rawsource, said or target.lstrip("~!"))
    if address:
        made["link"] = address
    return [made], []


def _register_directives(text: str) -> None:
    """Make directives that docutils does not know containers of what they hold."""
    from docutils import nodes
    from docutils.parsers.rst import Directive, directives
    from docutils.parsers.rst.languages import en

    class Container(Directive):  # type: ignore[misc]
        optional_arguments = 1
        final_argument_whitespace = True
        has_content = True
        option_spec: ClassVar = defaultdict(lambda: str, name=str)  # options of any name

        def run(self) -> list[Any]:
            node = nodes.admonition()
            if self.arguments and self.name not in ("toctree", "include", "literalinclude", "index", "contents"):
                inline, _ = self.state.inline_text(self.arguments[0], self.lineno)
                node += nodes.paragraph(self.arguments[0], "", *inline)
            if self.name == "toctree":
                return [
                    nodes.paragraph(
                        "", "", *(_entry(nodes, line) for line in self.content if line.strip() and line[0] != ":")
                    )
                ]
            if self.name.startswith(
                ("code", "sourcecode", "prompt", "testcode", "doctest", "productionlist", "graphviz", "mermaid")
            ):
                return [nodes.literal_block("\n".join(self.content), "\n".join(self.content))]
            self.state.nested_parse(self.content, self.content_offset, node)
            return [node] if node.children else []

    for name in {found.lower() for found in _DIRECTIVE.findall(text)}:
        if name not in en.directives and name not in directives._directives:
            directives.register_directive(name, Container)


def _entry(nodes: Any, line: str) -> Any:
    said, target = titled(line)
    entry = nodes.inline(line, said)
    entry["link"] = target
    return entry


class _Reading:
    """Blocks from the tree of docutils."""

    def __init__(self, document: "nodes.document") -> None:
        self._document = document
        self._waiting: list[str] = []

    def blocks(self, parent: Any, level: int, quoted: bool = False) -> Iterator[Block]:
        for node in parent.children:
            yield from self._block(node, level, quoted)

    def _block(self, node: Any, level: int, quoted: bool) -> Iterator[Block]:
        kind = type(node).__name__
        if kind in _UNSEEN:
            return
        if kind == "section":
            self._waiting += node.get("names", [])[1:]
            yield from self.blocks(node, level + 1)
        elif kind == "title":
            yield self._made("heading", node, level)
        elif kind == "target" and not node.get("refuri"):
            self._waiting += [name for one in node.get("names", []) for name in (one, f"ref:{one}")]
        elif kind in _CODE:
            language = next((one for one in node.get("classes", []) if one != "code"), "")
            yield Block("code", fenced(node.astext(), language), anchors=self._anchors(node))
        elif kind == "table":
            yield from self._table(node)
        elif kind in _LISTS:
            for number, item in enumerate(node.children, 1):
                yield from self._item(item, f"{number}." if kind == "enumerated_list" else "-")
        else:
            yield from self._paragraph(node, level, quoted or kind == "block_quote")

    def _paragraph(self, node: Any, level: int, quoted: bool) -> Iterator[Block]:
        if type(node).__name__ in _PARAGRAPHS:
            made = self._made("quote" if quoted else "paragraph", node)
            if made.text or made.links or made.anchors:
                yield made
        elif getattr(node, "children", ()):
            yield from self.blocks(node, level, quoted)

    def _item(self, item: Any, mark: str) -> Iterator[Block]:
        """An item of a list; code in it stands by itself."""
        parts: list[Any] = []
        for child in item.children:
            if type(child).__name__ in ("literal_block", "doctest_block", "table"):
                if parts:
                    yield self._made("list", parts, mark=mark)
                    parts, mark = [], ""
                yield from self._block(child, 0, False)
            else:
                parts.append(child)
        if parts:
            yield self._made("list", parts, mark=mark)

    def _made(self, kind: str, node: Any, level: int = 0, mark: str = "") -> Block:
        said = _Said(self._document)
        for one in node if isinstance(node, list) else [node]:
            said.add(one)
        text, plain, prose = ("".join(one).strip() for one in (said.text, said.plain, said.prose))
        named = (*self._anchors(None if isinstance(node, list) else node), *said.places)
        anchors = tuple(dict.fromkeys((*named, *(anchors_of(plain) if level else ()))))
        shown = f"{'#' * min(level, 6)} {text}" if level else f"{mark} {text}" if mark else text
        return Block(kind, shown, plain, prose, tuple(said.links), level, anchors)

    def _anchors(self, node: Any) -> tuple[str, ...]:
        found = (*self._waiting, *(node.get("ids", ()) if node is not None else ()))
        self._waiting.clear()
        return found

    def _table(self, node: Any) -> Iterator[Block]:
        from docutils import nodes

        said = _Said(self._document)
        rows = []
        for row in node.findall(nodes.row):
            cells = []
            for entry in row.findall(nodes.entry):
                start = len(said.text)
                said.add(entry)
                cells.append(" ".join("".join(said.text[start:]).split()))
                said.line_break()
            rows.append(cells)
        for title in node.findall(nodes.title):
            yield self._made("paragraph", title)
        if rows := [row for row in rows if row]:
            plain, prose = ("".join(one).strip() for one in (said.plain, said.prose))
            yield Block("table", table(rows), plain, prose, tuple(said.links), anchors=self._anchors(node))


class _Said:
    """Collects what nodes say."""

    def __init__(self, document: Any) -> None:
        self._document = document
        self.text: list[str] = []
        self.plain: list[str] = []
        self.prose: list[str] = []
        self.links: list[Link] = []
        self.places: list[str] = []

    def line_break(self) -> None:
        self._add("\n")

    def add(self, node: Any) -> None:
        kind = type(node).__name__
        if kind in _UNSEEN:
            return
        if kind == "Text":
            self._add(node.astext().replace("\n", " "))
        elif kind in ("literal", "math"):
            said = " ".join(node.astext().split())
            self.text.append(f"`{said}`")
            self.plain.append(said)
            self.prose.append("\n")
        elif kind in ("footnote_reference", "citation_reference", "label"):
            self._add(f"[{node.astext()}]{' ' * (kind == 'label')}")
        elif kind in _CODE:
            self.text.append(f"\n{node.astext()}\n")
        elif kind == "image":
            self._add(str(node.get("alt", "")))
        elif kind == "target" and not node.get("refuri"):
            self.places += [*node.get("names", []), *node.get("ids", [])]
            self._children(node)
        else:
            self._children(node)
            if address := self._address(node):
                self.links.append(Link.to(address, node.astext()))
            if kind in ("paragraph", "term", "list_item", "line", "field_name", "title", "definition"):
                self.line_break()

    def _children(self, node: Any) -> None:
        for child in node.children:
            self.add(child)

    def _address(self, node: Any) -> str:
        if not hasattr(node, "get"):
            return ""
        if found := node.get("link") or (node.get("refuri") if type(node).__name__ == "reference" else ""):
            return str(found)
        if name := node.get("refname"):
            target = self._document.nameids.get(name)
            for one in (self._document.ids.get(target), *self._document.indirect_targets):
                if one is not None and one.get("refuri") and name in one.get("names", ()):
                    return str(one["refuri"])
            return f"#{target or name}"
        return ""

    def _add(self, text: str) -> None:
        self.text.append(text)
        self.plain.append(text)
        self.prose.append(text)
