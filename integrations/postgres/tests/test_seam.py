"""The distribution imports the core's seam and nothing else of it, so that the core can be rearranged below it."""

import ast
from pathlib import Path

from hopweave.graph_store import backend

PACKAGE = Path(__file__).parents[1] / "src" / "hopweave_postgres"
SEAM = backend.__name__


def imported(file):
    """Module and name of each import of hopweave, at the top or inside functions."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((alias.name, None) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from ((node.module, alias.name) for alias in node.names)


def of_the_core():
    """File, module and name of each import of the core."""
    return {
        (file.name, module, name)
        for file in PACKAGE.rglob("*.py")
        for module, name in imported(file)
        if module.split(".")[0] == "hopweave"
    }


def test_nothing_but_the_seam_is_imported():
    assert {found for found in of_the_core() if found[1] != SEAM} == set()


def test_the_seam_has_no_name_that_is_not_needed():
    assert {name for _, _, name in of_the_core()} == set(backend.__all__)
