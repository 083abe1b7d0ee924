"""Text split into passages at paragraphs."""

import re

_PARAGRAPH = re.compile(r"\n[ \t]*\n")


def passages(text: str, max_characters: int) -> list[str]:
    r"""Consecutive paragraphs joined into passages of at most `max_characters`; a longer paragraph is not split.

    >>> passages("One.\n\nTwo.\n\nThree.", max_characters=10)
    ['One.\n\nTwo.', 'Three.']
    """
    parts: list[str] = []
    for paragraph in (piece.strip() for piece in _PARAGRAPH.split(text)):
        if not paragraph:
            continue
        if parts and len(parts[-1]) + len(paragraph) + 2 <= max_characters:
            parts[-1] += "\n\n" + paragraph
        else:
            parts.append(paragraph)
    return parts
