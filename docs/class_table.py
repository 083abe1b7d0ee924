"""Write the table of kinds and their classes in the core, Haystack and LlamaIndex into docs/classes.md.

    python docs/class_table.py

The rows come from the catalogue and from what the adapters export. `make fix` and `make docs` do this, and a test
compares the table on the page with `table()`.
"""

import re
from pathlib import Path

from generate import ADAPTERS, ROLES, adapters, kind_of

from hopweave.component import Component

PAGE = Path(__file__).parent / "classes.md"
TABLE = re.compile(r"(<!-- table: python docs/class_table.py -->\n).*?(<!-- end of table -->)", re.S)
IN_RECIPES = "part of a recipe"
WRITER = "parameter of `KnowledgeBaseWriter`"
KNOWLEDGE_BASE = "parameter of `KnowledgeBase.open`"
WITHOUT_CLASS = {
    ("Embedders", "Haystack"): WRITER,
    ("Embedders", "LlamaIndex"): KNOWLEDGE_BASE,
    ("Graph builders", "Haystack"): WRITER,
    ("Graph builders", "LlamaIndex"): KNOWLEDGE_BASE,
}
"""By role and framework: how a component is used that has no class of its own there."""


def table() -> str:
    """The table in Markdown."""
    lines = ["| kind | core | Haystack | LlamaIndex |", "|---|---|---|---|"]
    for role, components in ROLES.items():
        lines.append(f"| **{role}** | | | |")
        lines += [row(role, component) for component in components]
    return "\n".join(lines)


def row(role: str, component: type[Component]) -> str:
    """A component with its module and its adapter classes."""
    module = component.__module__.removeprefix("hopweave.").replace(".", "/")
    cells = [f"`{kind_of(component)}`", f"`{component.__name__}` in `{module}.py`"]
    for framework, package in ADAPTERS.items():
        names = [f"`{name}`" for name in sorted({name for _, name in adapters(component, package)})]
        if kind_of(component) in ("cascade", "sentence_transformers"):
            names = []  # the adapters' embedding components beside them are those of the static embedder
        cells.append(", ".join(names) or WITHOUT_CLASS.get((role, framework), IN_RECIPES))
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Replace the table on the page."""
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(TABLE.sub(lambda match: f"{match[1]}\n{table()}\n\n{match[2]}", text), encoding="utf-8")


if __name__ == "__main__":
    main()
