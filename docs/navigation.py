"""A hook of mkdocs: puts the generated pages of components and reference into the navigation."""

import re
from pathlib import Path
from typing import Any


def on_config(config: Any) -> Any:
    """Replace the two overviews in the navigation by themselves and the pages they link to."""
    folder = Path(config["docs_dir"])
    config["nav"] = [
        {name: sections(folder / page)} if page in ("components/index.md", "reference/index.md") else {name: page}
        for entry in config["nav"]
        for name, page in entry.items()
    ]
    return config


def sections(index: Path) -> list[Any]:
    """The overview, then the pages it links to, under its headings."""
    nav: list[Any] = [f"{index.parent.name}/index.md"]
    group = nav
    for line in index.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            group = []
            nav.append({line[3:]: group})
        elif link := re.search(r"\[`?([^`\]]+)`?\]\(([\w-]+\.md)\)", line):
            group.append({link[1]: f"{index.parent.name}/{link[2]}"})
    return nav
