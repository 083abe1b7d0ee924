"""Invisible markup in Markdown: shortcodes, components, comments and directives, and what they say to a reader.

It is taken out before the text is parsed. Where it makes a link or names a place, private characters mark these, so
that the parser carries them along to the block they are in.
"""

import re
from collections.abc import Iterator

from hopweave.markup.page import Link

_OPEN, _NUMBER_END, _CLOSE = "\ue000", "\ue001", "\ue002"
MARK = re.compile(f"{_OPEN}(\\d*){_NUMBER_END}|{_CLOSE}")
"""Where a link or a named place begins, with its number, and where a link ends."""

_SAID = ("text", "title", "label", "name", "caption", "header", "heading", "summary", "alt", "file", "description")
_SAID_OF_STATE = ("state", "for_k8s_version", "feature_gate_name")
_PATHS = ("href", "to", "url", "link", "page", "doc", "ref", "relref")
_NAMES = {"term_id": "id", "docid": "id", "slug": "slug", "page_id": "id"}
_REFERENCES = frozenset({"ref", "relref", "xref", "link", "post_url"})
_INLINE = (
    "a|abbr|b|br|big|cite|code|del|dfn|em|font|i|img|ins|kbd|mark|nobr|q|s|samp|small|span|strong|sub|sup|tt|u|var|wbr"
)

_ATTRIBUTE = re.compile(
    r"""(?<![\w@:.-])([\w@:.-]++)\s*+=\s*+"""
    r"""(?:\\?"([^"]*?)\\?"|'([^']*)'|`([^`]*)`|\{\s*+["'`]?([^{}"'`]*+)["'`]?\s*+\}|([^\s"'>{}]+))"""
)
_BARE = re.compile(r"""(?<![=\w])["']([^"'\n]{1,300})["']|(?<=\s)([^\s"'=<>]+)(?=\s|$)""")
_ATTRIBUTES = r"""(?:[^<>"'{}`]|"[^"]{0,2000}"|'[^']{0,2000}'|`[^`]{0,2000}`|\{[^{}]{0,2000}\}){0,200}"""
# code first, so that nothing in it is taken for markup; every repetition is bounded, so the time is linear
_HIDDEN = re.compile(
    r"^(?:(?P<fence>[ \t>]*(?P<ticks>`{3,}+|~{3,}+)[^`\n]*\n(?:.*?\n)??[ \t>]*(?P=ticks)[`~]*[ \t]*$)"
    r"|(?P<module>(?:import\s(?:[^\n]{0,500}\sfrom\s+)?['\"][^'\"\n]+['\"]"
    r"|export\s+(?:const|default|function|let)\s[^\n]*);?[ \t]*$)"
    r"|(?P<container>[ \t]*:{3,}[ \t]*(?:\{?(?P<sort>[\w-]+)\}?)?[ \t]*(?P<said>[^\n]*)$))"
    r"|(?=[`<{])(?:(?P<code>(?<!`)(?P<tick>`{1,4})(?!`)"
    r"(?:[^`\n]|\n(?![ \t]*\n)|(?<!`)(?!(?P=tick)(?!`))`+){1,2000}?(?<!`)(?P=tick)(?!`))"
    r"|(?P<comment><!--.*?(?:-->|\Z))"
    r"|(?P<shortcode>\{\{[<%](?:[^<>%{}]|[<>%](?!\}\})|\{(?!\{)|\}(?!\})){0,3000}[>%]\}\})"
    r"|(?P<expression>\{/\*.{0,5000}?\*/\}|\{%.{0,2000}?%\})"
    rf"|(?P<component></?[A-Z][\w.]*(?=[\s/>]){_ATTRIBUTES}>)"
    rf"|(?P<tag></?(?:{_INLINE})(?=[\s/>]){_ATTRIBUTES}>)"
    r"|(?P<place>\{:?[ \t]*#(?P<id>[\w:.-]+)[^{}\n]{0,200}\}[ \t]*$)"
    r"|(?P<attributes>(?<=[\w)\]`*])\{:?[ \t]*(?:[.#][\w-]+|\w+=\"[^\"\n]{0,200}\")(?:[ \t]+[^{}\n]{1,100})?\})"
    r"|(?P<role>\{(?P<role_name>doc|ref|pep|term|numref)\}`(?P<role_text>[^`\n]{1,300})`))",
    re.MULTILINE | re.DOTALL,
)
_INDENTED = re.compile(
    r"^(?P<indent>[ \t]*)(?:!!!|\?\?\?\+?|===\+?)[ \t]+(?P<head>[^\n]*)\n"
    r"(?P<body>(?:(?P=indent)(?: {4}|\t)[^\n]*(?:\n|\Z)|[ \t]*\n)+)",
    re.MULTILINE,
)
_QUOTED = re.compile(r"[\"“]([^\"“”]*)[\"”]")
_HINTS = re.compile(r"[<{]|:::|^[ \t]*(?:!!!|\?\?\?|===) |^(?:im|ex)port ", re.MULTILINE)


class Visible:
    """A Markdown text without its invisible markup, and the links and places that this made.

    >>> shown = Visible('Each {{< glossary_tooltip text="Pod" term_id="pod" >}} is small. <!-- sic -->')
    >>> shown.plain(shown.text), shown.links
    ('Each Pod is small. ', [Link(text='Pod', target='id:pod', anchor='')])
    """

    def __init__(self, text: str) -> None:
        self.links: list[Link | str] = []
        """Links, and the names of places, by number."""
        self._source = MARK.sub("", text)
        self.text = self._source
        if _HINTS.search(text):
            self._source = _without_indents(self._source)
            self.text = _HIDDEN.sub(self._shown, self._source)

    @staticmethod
    def plain(text: str) -> str:
        """A text without marks."""
        return MARK.sub("", text) if _OPEN in text or _CLOSE in text else text

    def _marked(self, link: Link | str, text: str = "") -> str:
        self.links.append(link)
        return f"{_OPEN}{len(self.links) - 1}{_NUMBER_END}{text}" + (_CLOSE if isinstance(link, Link) else "")

    def _shown(self, match: re.Match[str]) -> str:
        text = match.group()
        if match["fence"] or match["code"]:
            return text
        if match["shortcode"]:
            return self._shortcode(match)
        if match["component"]:
            return self._component(text)
        if match["tag"]:
            return self._tag(text)
        if match["role"]:
            return self._role(match["role_name"], match["role_text"])
        return self._marked(match["id"]) if match["place"] else (match["said"] or "").strip("[] ")

    def _shortcode(self, match: re.Match[str]) -> str:
        inner = match.group()[3:-3].strip().strip("/").strip()
        name, rest = (*inner.split(None, 1), "", "")[:2]
        attributes = dict(_attributes(rest))
        bare = [one or other for one, other in _BARE.findall(_ATTRIBUTE.sub(" ", rest))]
        if name in _REFERENCES and bare and match.start() and self._source[match.start() - 1] in "(\"'<":
            return str(bare[0])
        if name in _REFERENCES and bare:
            return self._marked(Link.to(bare[0]))
        said = _said(attributes, (*_SAID, *_SAID_OF_STATE)) or (
            bare[0] if name in ("heading", "param") and bare else ""
        )
        return self._linked(attributes, said)

    def _component(self, text: str) -> str:
        attributes = dict(_attributes(text))
        if text.startswith("</") or not attributes:
            return ""
        place = attributes.get("id", "")
        return (self._marked(place) if place else "") + self._linked(attributes, _said(attributes, _SAID))

    def _linked(self, attributes: dict[str, str], said: str) -> str:
        for key, value in attributes.items():
            if value and key.lower() in _PATHS:
                return self._marked(Link.to(value, said), said)
            if value and key.lower() in _NAMES:
                return self._marked(Link.to(f"{_NAMES[key.lower()]}:{value}", said), said)
        return said

    def _tag(self, text: str) -> str:
        name = text.strip("</>").split(None, 1)[0].rstrip("/").lower()
        if name == "code":
            return "`"
        if name == "br":
            return "\n" if text.endswith("\n") else " "
        if text.startswith("</"):
            return _CLOSE if name == "a" else ""
        attributes = dict(_attributes(text))
        place = attributes.get("id") or (attributes.get("name", "") if name == "a" else "")
        marked = self._marked(place) if place else ""
        if name == "a" and attributes.get("href"):
            return marked + self._marked(Link.to(attributes["href"])).removesuffix(_CLOSE)
        return marked + (attributes.get("alt", "") if name == "img" else "")

    def _role(self, name: str, text: str) -> str:
        said, target = titled(text)
        link = Link.to(target if name == "doc" else f"{'id' if name == 'term' else name}:{target}", said)
        return self._marked(link, said or (f"PEP {target}" if name == "pep" else target))


def titled(text: str) -> tuple[str, str]:
    """What a role says and where it leads.

    >>> titled("the crew <ships/skua>"), titled("ships/skua")
    (('the crew', 'ships/skua'), ('', 'ships/skua'))
    """
    said, bracket, target = text.strip().rpartition("<")
    return (said.strip(), target.removesuffix(">").strip()) if bracket and target.endswith(">") else ("", text.strip())


def _attributes(text: str) -> Iterator[tuple[str, str]]:
    for name, *values in _ATTRIBUTE.findall(text):
        yield name, " ".join(next(filter(None, values), "").split())


def _said(attributes: dict[str, str], names: tuple[str, ...]) -> str:
    return " ".join(value for name, value in attributes.items() if name in names and value)


def _without_indents(text: str) -> str:
    """The contents of admonitions and tabs of mkdocs, which would be taken for code."""
    for _ in range(4):  # levels
        shorter = _INDENTED.sub(_dedented, text)
        if shorter == text:
            break
        text = shorter
    return text


def _dedented(match: re.Match[str]) -> str:
    indent, head = match["indent"], match["head"]
    said = " ".join(_QUOTED.findall(head))
    lines = (
        indent + (line[len(indent) + 1 :] if line[len(indent) :].startswith("\t") else line[len(indent) + 4 :])
        if line.strip()
        else line
        for line in match["body"].splitlines()
    )
    return "\n".join([f"{indent}{said}", "", *lines, ""])
