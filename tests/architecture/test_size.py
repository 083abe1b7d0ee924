"""Functions and modules stay small enough to read; ruff checks the complexity of functions (C90)."""

import ast
from pathlib import Path

import hopweave

PACKAGE = Path(hopweave.__file__).parent
INTEGRATIONS = PACKAGE.parents[1] / "integrations"
MAX_LINES = 60


def source_files():
    return sorted(PACKAGE.rglob("*.py")) + sorted(
        file for file in INTEGRATIONS.rglob("*.py") if "tests" not in file.relative_to(INTEGRATIONS).parts
    )


def body_lines(function):
    """The lines of a function without its signature and its docstring."""
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    return body[-1].end_lineno - body[0].lineno + 1 if body else 0


def long_functions(file):
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and body_lines(node) > MAX_LINES:
            yield f"{file.relative_to(PACKAGE.parents[1]).as_posix()}: {node.name}"


def test_functions_are_short():
    assert {name for file in source_files() for name in long_functions(file)} == set()


def test_signatures_and_docstrings_are_not_counted():
    body = "\n".join(f"    x{n} = {n}" for n in range(MAX_LINES))
    function = ast.parse(f'def f():\n    """Docstring\n\n    of several lines.\n    """\n{body}').body[0]
    assert body_lines(function) == MAX_LINES
