"""Pages from notebooks of Jupyter: cells of Markdown and of code."""

import json
from collections.abc import Iterator
from typing import Any

from hopweave.markup.html import fenced
from hopweave.markup.markdown import read_markdown
from hopweave.markup.page import Block, Page


def read_notebook(text: str) -> Page:
    r"""The page of a notebook; what its code has printed is left out.

    >>> cells = [{"cell_type": "markdown", "source": ["# Ferries\n"]}, {"cell_type": "code", "source": "skua()"}]
    >>> page = read_notebook(json.dumps({"cells": cells, "metadata": {"language_info": {"name": "python"}}}))
    >>> [block.text for block in page.blocks]
    ['# Ferries', '```python\nskua()\n```']
    """
    notebook = json.loads(text)
    if not isinstance(notebook, dict) or not isinstance(notebook.get("cells"), list):
        raise ValueError("is no notebook with cells")
    language = notebook.get("metadata", {}).get("language_info", {}).get("name", "")
    blocks = tuple(block for cell in notebook["cells"] for block in _blocks(cell, str(language)))
    return Page(blocks, next((block.plain for block in blocks if block.kind == "heading"), ""))


def _blocks(cell: Any, language: str) -> Iterator[Block]:
    source = cell.get("source", "")
    text = "".join(map(str, source)) if isinstance(source, list) else str(source)
    if cell.get("cell_type") == "code" and text.strip():
        yield Block("code", fenced(text, language))
    elif cell.get("cell_type") == "markdown":
        yield from read_markdown(text).blocks
