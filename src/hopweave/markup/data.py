"""Pages from data: JSON and YAML as lines "name: value", a block for each part at the top."""

from collections.abc import Iterator
from typing import Any

from hopweave.markup.page import Block, Page

MAX_LEVELS = 60
"""Data nested more deeply is refused."""


def data_page(data: Any) -> Page:
    r"""The page of what a JSON or YAML file holds.

    >>> page = data_page({"ship": {"name": "Skua", "ports": ["Harris", "Lewis"]}, "built": 1974})
    >>> [block.text for block in page.blocks]
    ['ship.name: Skua\nship.ports: Harris\nship.ports: Lewis', 'built: 1974']
    """
    parts = data.items() if isinstance(data, dict) else enumerate(data, 1) if isinstance(data, list) else [("", data)]
    named = isinstance(data, dict)
    blocks = []
    for name, part in parts:
        text = "\n".join(_lines(part, str(name) if named else "", 0))
        blocks += [Block("paragraph", text, text, text)] if text else []
    title = data.get("title", data.get("name", "")) if isinstance(data, dict) else ""
    return Page(tuple(blocks), title if isinstance(title, str) else "")


def _lines(part: Any, name: str, level: int) -> Iterator[str]:
    if level > MAX_LEVELS:
        raise ValueError(f"is nested more than {MAX_LEVELS} levels deep")
    if isinstance(part, dict):
        for key, value in part.items():
            yield from _lines(value, f"{name}.{key}" if name else str(key), level + 1)
    elif isinstance(part, list):
        for value in part:
            yield from _lines(value, name, level + 1)
    elif part is not None and part != "":
        yield f"{name}: {part}" if name else str(part)
