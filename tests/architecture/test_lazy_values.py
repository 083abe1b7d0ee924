"""Values that are made when first needed are made by `hopweave.concurrency`: once, by one thread."""

import ast
from pathlib import Path

import hopweave

PACKAGE = Path(hopweave.__file__).parent
ELSEWHERE = {"cache", "cached_property", "lru_cache"}  # of functools, which let several threads make one value

ALLOWED = {
    "knowledge_base/compaction.py: _thread",  # started anew after each change, under a lock
    "stages/filter/confidence.py: cached_property",  # of one question, whose stages run one after the other
}

NOT_YET = {
    "context/context_builder.py: lru_cache",
    "context/context_builder.py: spent_is_exact",
    "context/counters.py: cache",
    "graph/build/builders/capitalised.py: cache",
    "graph/build/resolve.py: cached_property",
    "graph/storage/ledger.py: lru_cache",
    "graph_store/location.py: _opened",
    "readers/source_names.py: cache",
    "recipe.py: cache",
    "search/retrieval.py: _within",
}
"""Values that are still made otherwise; take one off the list when it is made by `hopweave.concurrency.once`."""


def tree_of(file):
    return ast.parse(file.read_text(encoding="utf-8"))


def of_functools(tree):
    """The names of `ELSEWHERE` that a module uses."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "functools":
            yield from ELSEWHERE.intersection(alias.name for alias in node.names)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "functools":
            yield from ELSEWHERE.intersection([node.attr])


def attribute(node):
    """The name of an attribute of `self`, or None."""
    is_own = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"
    return node.attr if is_own else None


def assigned(node):
    """The attributes of `self` that are set somewhere in a node."""
    for inner in ast.walk(node):
        targets = inner.targets if isinstance(inner, ast.Assign) else [getattr(inner, "target", None)]
        for target in targets:
            for one in target.elts if isinstance(target, ast.Tuple) else [target]:
                is_flag = isinstance(getattr(inner, "value", None), ast.Constant)
                if isinstance(inner, ast.Assign | ast.AnnAssign | ast.NamedExpr) and attribute(one) and not is_flag:
                    yield attribute(one)


def made_if_none(function):
    """The attributes that a method sets where it has found them to be None or empty, itself or by a local name."""
    local = {
        target.id: attribute(node.value)
        for node in ast.walk(function)
        if isinstance(node, ast.Assign) and attribute(node.value)
        for target in node.targets
        if isinstance(target, ast.Name)
    }

    def tested(test):
        for node in ast.walk(test):
            if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Is | ast.Eq):
                yield node.left
            elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
                yield node.operand

    for node in ast.walk(function):
        if isinstance(node, ast.If):
            names = {attribute(one) or local.get(getattr(one, "id", "")) for one in tested(node.test)}
            yield from names & {name for line in node.body for name in assigned(line)}


def lazy(tree):
    """What a module makes lazily without `hopweave.concurrency`."""
    yield from of_functools(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name != "__init__":
            yield from made_if_none(node)


def test_lazy_values_are_made_once():
    found = {
        f"{name}: {one}"
        for file in PACKAGE.rglob("*.py")
        if not (name := file.relative_to(PACKAGE).as_posix()).startswith("concurrency/")
        for one in lazy(tree_of(file))
    }
    assert found - NOT_YET == ALLOWED, "use Once, once or once_property of hopweave.concurrency.once"


def test_each_way_is_found():
    source = """
from functools import cache
import functools
class Graph:
    @functools.cached_property
    def nodes(self): return 1
    def edges(self):
        if self._edges is None:
            self._edges = [2]
        return self._edges
    def rows(self):
        rows = self._rows
        if rows is None:
            self._left -= 1
            if self._left < 0:
                self._rows = rows = [3]
        return rows
    def words(self):
        if not self._words:
            self._words, self._count = [4], 1
        return self._words
"""
    assert sorted(lazy(ast.parse(source))) == ["_edges", "_rows", "_words", "cache", "cached_property"]
