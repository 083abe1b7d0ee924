"""Documents from Markdown files, one per section."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hopweave.document import Document
from hopweave.errors import UnreadableInput
from hopweave.readers.limited_yaml import limited_yaml
from hopweave.readers.passages import passages
from hopweave.readers.validation import OnBad, storable

_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.*?)\n---[ \t]*(?:\n|\Z)", re.DOTALL)
_HEADING = re.compile(r"#{1,6}[ \t]+(\S.*)")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_LINK = re.compile(r"\[[^\[\]\n]{0,500}\]\(([^()\s]{1,2000})\)")


def read_markdown(file: Path, name: str, _: OnBad, max_characters: int) -> Iterator[Document]:
    """One document per section, or several for a long one; front matter becomes metadata, and so do links.

    Front matter is a YAML mapping between two lines `---` at the beginning; anything else there is text.
    """
    text = file.read_text(encoding="utf-8-sig")
    metadata: dict[str, Any] = {"source": name}
    if front := _FRONT_MATTER.match(text):
        try:
            fields = limited_yaml(front[1])
        except UnreadableInput as error:
            raise UnreadableInput(f"{file}: its front matter is not usable YAML: {error}") from error
        if isinstance(fields, dict) or not front[1].strip():  # else it is text between two rules
            metadata.update(fields or {})
            text = text[front.end() :]
    sections = _sections(text)
    metadata.setdefault("title", next((heading for heading, _ in sections if heading), file.stem))
    parts = [(heading, part) for heading, section in sections for part in passages(section, max_characters)]
    for number, (heading, part) in enumerate(parts, start=1):
        extra = {"heading": heading, "part": number} if len(parts) > 1 else {}
        links = list(dict.fromkeys(_LINK.findall(part)))
        key = name if len(parts) == 1 else f"{name}#{number}"
        yield storable(Document(key, part, {**metadata, **extra, **({"links": links} if links else {})}), file)


def _sections(text: str) -> list[tuple[str, str]]:
    """Headings and the text below them; text before the first heading has an empty one."""
    sections: list[tuple[str, list[str]]] = [("", [])]
    fence = ""
    for line in text.split("\n"):
        mark = _FENCE.match(line)
        heading = None if fence else _HEADING.match(line)
        if mark and not fence:
            fence = mark[1]
        elif mark and mark[1].startswith(fence) and not line.strip().strip(fence[0]):
            fence = ""
        if heading:
            sections.append((_without_closing_marks(heading[1].rstrip()), []))
        sections[-1][1].append(line)
    whole = ((heading, "\n".join(lines).strip()) for heading, lines in sections)
    return [(heading, section) for heading, section in whole if section]


def _without_closing_marks(heading: str) -> str:
    words, _, last = heading.rpartition(" ")
    return words.rstrip() if words and not last.strip("#") else heading
