"""Links in files that lead to no document."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from hopweave.readers.files import read_file
from hopweave.readers.pages import Reading
from hopweave.readers.tree import Links, Tree


class DeadLink(NamedTuple):
    """A link that leads nowhere: the file and line where it is, and its target as it is written."""

    file: str
    line: int
    target: str


def check_links(files: Mapping[str, Path], site_url: str = "") -> tuple[Links, list[DeadLink]]:
    r"""The links in files, by what these are called, and those that lead nowhere. Files that are gone are left out.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "a.md")
    ...     _ = file.write_text("One.\n\nSee [two](two.md#end).")
    ...     check_links({"a.md": file})[1]
    [DeadLink(file='a.md', line=3, target='two.md#end')]
    """
    there = {name: file for name, file in sorted(files.items()) if file.is_file()}
    tree = Tree(there, site_url=site_url)
    tree.infer_sites(there.values())
    reading = Reading(lambda error: None, tree=tree, note=lambda text: None)  # noqa: ARG005 - `index` says it
    for name, file in there.items():
        for _ in read_file(file, name, reading):
            pass
    found = []
    for name, link in tree.links.dead():
        target = "#".join(
            filter(None, (link.target.partition(":")[2] if _is_declared(link.target) else link.target, link.anchor))
        )
        found.append(DeadLink(name, _line(there[name], target), target))
    return tree.links, found


def _is_declared(target: str) -> bool:
    return target.startswith(("id:", "slug:", "title:"))


def _line(file: Path, target: str) -> int:
    """The first line that holds a target; 0 if it is written otherwise."""
    with file.open(encoding="utf-8", errors="replace") as lines:
        return next((number for number, line in enumerate(lines, 1) if target in line), 0)
