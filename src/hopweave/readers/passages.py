"""Passages: the sections of a page, small ones merged and long ones split."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from zlib import crc32

from hopweave.language.sentences import sentence_spans
from hopweave.markup.page import Block, Link, Page, same_anchor

MERGED_CHARACTERS = 1200
"""Small sections are merged with their neighbours up to this size."""

_ENOUGH = 400  # characters after which a passage of merged sections may end
_ONE_IN = 4  # headings at which it does
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})")


@dataclass
class Passage:
    """Consecutive blocks of a page."""

    texts: list[str]
    heading_path: tuple[str, ...] = ()
    above: tuple[str, ...] = ()
    """The headings above those that are in the text."""
    anchors: list[str] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    name: str = ""
    """What tells it from the other passages of its page: an anchor; nothing for the first."""

    @property
    def text(self) -> str:
        """Its text."""
        return "\n\n".join(text for text in self.texts if text)


@dataclass
class _Section:
    blocks: list[Block]
    path: tuple[str, ...]
    level: int = 0
    anchors: list[str] = field(default_factory=list)

    @property
    def size(self) -> int:
        return sum(len(block.text) + 2 for block in self.blocks)

    @property
    def is_bare(self) -> bool:
        return all(block.kind == "heading" or not block.text for block in self.blocks)


def passages(page: Page, title: str, max_characters: int) -> list[Passage]:
    """The passages of a page, of at most about `max_characters`.

    Where one of merged sections ends follows from the headings there, so what is inserted changes only its neighbours.
    Paragraphs are split at sentences, tables and code at lines, with their header or fence again.
    """
    found = [
        piece for group in _groups(_sections(page, title), max_characters) for piece in _pieces(group, max_characters)
    ]
    found = [one for one in found if one.text.strip()]
    names = Counter[str]()
    for number, one in enumerate(found, 1):
        name = (one.name or str(number)) if number > 1 else ""
        names[name] += 1
        one.name = name if names[name] == 1 else f"{name}.{names[name]}"
    return found


def _sections(page: Page, title: str) -> list[_Section]:
    sections, open_headings, seen = [_Section([], ())], list[tuple[int, str]](), Counter[str]()
    for block in page.blocks:
        if block.kind == "heading":
            open_headings = [one for one in open_headings if one[0] < block.level]
            open_headings.append((block.level, block.plain))
            path = tuple(text for _, text in open_headings)
            sections.append(_Section([], path[1:] if path[0] == title else path, block.level))
        sections[-1].blocks.append(block)
        for anchor in map(same_anchor, block.anchors):
            seen[anchor] += 1
            sections[-1].anchors.append(anchor if seen[anchor] == 1 else f"{anchor}-{seen[anchor] - 1}")
    return [section for section in sections if section.blocks]


def _groups(sections: Sequence[_Section], max_characters: int) -> Iterator[list[_Section]]:
    group: list[_Section] = []
    for section in sections:
        if group and _ends(group, section, max_characters):
            yield group
            group = []
        group.append(section)
    if group:
        yield group


def _ends(group: Sequence[_Section], following: _Section, max_characters: int) -> bool:
    """Whether a passage ends before a section."""
    size = sum(section.size for section in group)
    if all(section.is_bare for section in group):
        return False
    if size + following.size > min(MERGED_CHARACTERS, max_characters):
        small = _small(max_characters)
        is_small = (following.size < small and not following.is_bare) or size < small
        return not is_small or size + following.size > max_characters + small
    if following.is_bare:
        return size >= _ENOUGH
    is_chosen = crc32("/".join(following.path).encode()) % _ONE_IN == 0
    return size >= _ENOUGH and (is_chosen or following.level < group[0].level)


def _small(max_characters: int) -> int:
    """The size below which a section joins a neighbour, even if both are then a little longer than the limit."""
    return max_characters // 10


def _pieces(group: Sequence[_Section], max_characters: int) -> Iterator[Passage]:
    paths = [section.path for section in group]
    common = [same[0] for same in takewhile(lambda same: len(set(same)) == 1, zip(*paths, strict=False))]
    inside = {block.plain for section in group for block in section.blocks if block.kind == "heading"}
    above = tuple(heading for heading in common if heading not in inside)
    anchors = [anchor for section in group for anchor in section.anchors]
    name, number = next(iter(anchors), ""), 1
    piece = Passage([], group[0].path, above, name=name)
    size, whole = 0, sum(section.size for section in group)
    # a little more is better than a rest
    limit = max_characters if whole > max_characters + _small(max_characters) else whole
    for section in group:
        section_anchors = list(section.anchors)
        for block in section.blocks:
            for position, text in enumerate(_cut(block, max_characters)):
                if size + len(text) > limit and any(not one.startswith("#") for one in piece.texts):
                    yield piece
                    number += 1
                    piece = Passage([], group[0].path, tuple(common), name=f"{name}.{number}" if name else "")
                    size = 0
                if not position:
                    count = len(block.anchors)
                    piece.anchors += section_anchors[:count]
                    del section_anchors[:count]
                    piece.links += block.links
                piece.texts.append(text)
                size += len(text) + 2
    yield piece


def _cut(block: Block, max_characters: int) -> list[str]:
    """The text of a block, in several pieces if it is too long."""
    text = block.text
    if len(text) <= max_characters:
        return [text]
    if block.kind == "code":
        lines = text.split("\n")
        fence = _FENCE.match(lines[0])
        closed = fence and len(lines) > 1 and lines[-1].strip().startswith(fence[1])
        body = lines[1 : -1 if closed else None] if fence else lines
        first, last = ([lines[0]], [fence[1]]) if fence else ([], [])
        return ["\n".join([*first, *part, *last]) for part in _lines(body, max_characters)]
    if block.kind == "table":
        lines = text.split("\n")
        head = lines[:2] if len(lines) > 2 and set(lines[1]) <= set("|-: +=") else []
        room = max(max_characters - sum(map(len, head)), max_characters // 2)
        return ["\n".join([*head, *part]) for part in _lines(lines[len(head) :], room)]
    return list(_sentences(text, max_characters))


def _lines(lines: Sequence[str], max_characters: int) -> Iterator[list[str]]:
    part, size = list[str](), 0
    for line in (piece for long in lines for piece in _slices(long, max_characters)):
        if part and size + len(line) + 1 > max_characters:
            yield part
            part, size = [], 0
        part.append(line)
        size += len(line) + 1
    if part:
        yield part


def _sentences(text: str, max_characters: int) -> Iterator[str]:
    start = end = 0
    for first, last in sentence_spans(text):
        if last - start > max_characters and end > start:
            yield text[start:end].strip()
            start = first
        while last - start > max_characters:
            cut = text.rfind(" ", start + 1, start + max_characters)
            cut = cut if cut > start else start + max_characters
            yield text[start:cut].strip()
            start = cut
        end = last
    if text[start:].strip():
        yield text[start:].strip()


def _slices(line: str, length: int) -> Iterator[str]:
    yield from (line[start : start + length] for start in range(0, max(len(line), 1), length))
