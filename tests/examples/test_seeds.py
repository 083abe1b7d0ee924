"""Every name and every test on the page of the five systems exists."""

import ast
import inspect
import re
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "seeds.md"


def rows():
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 5 and cells[0] not in ("part", "---"):
            yield cells


ROWS = list(rows())


def names(cell):
    return re.findall(r"`([^`]+)`", cell)


def has(thing, name):
    if name in getattr(thing, "model_fields", {}) or name in getattr(thing, "__dataclass_fields__", {}):
        return True
    return hasattr(thing, name) or (isinstance(thing, type) and name in inspect.signature(thing).parameters)


def resolved(dotted):
    """Whether a dotted name leads to a module, a class or function in it, or a member or parameter of a class."""
    parts = dotted.split(".")
    for length in range(len(parts), 0, -1):
        try:
            thing = import_module(".".join(parts[:length]))
        except ModuleNotFoundError as error:
            if error.name is None or not dotted.startswith(error.name):
                raise
            continue
        *inner, last = [None, *parts[length:]]
        if last is None:
            return True
        for name in inner[1:]:
            thing = getattr(thing, name)
        return has(thing, last)
    return False


@cache
def classes(framework):
    """What the packages of an adapter offer, by name."""
    found = {}
    for package in framework():
        found |= {name: getattr(package, name) for name in getattr(package, "__all__", ())}
    return found


def in_haystack():
    kinds = ("builders", "embedders", "joiners", "rankers", "retrievers", "routers", "writers")
    yield from (import_module(f"haystack_integrations.components.{kind}.hopweave") for kind in kinds)
    yield import_module("haystack_integrations.document_stores.hopweave")
    yield import_module("haystack_integrations.common.hopweave")


def in_llama_index():
    for part in (
        "hopweave",
        "embeddings.hopweave",
        "graph_stores.hopweave",
        "ingestion.hopweave",
        "postprocessor.hopweave",
        "query_engine.hopweave",
        "response_synthesizers.hopweave",
        "retrievers.hopweave",
        "selectors.hopweave",
        "vector_stores.hopweave",
    ):
        yield import_module(f"llama_index.{part}")


def offered(name, framework):
    name, _, parameter = name.partition(".")
    known = classes(framework)
    return name in known and (not parameter or parameter in inspect.signature(known[name].__init__).parameters)


def test_there_is_a_table_for_each_system():
    assert len(re.findall(r"^\| part \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)) == 5
    assert len(ROWS) >= 100


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_what_a_row_names_exists(row):
    _, core, haystack, llama_index, test = row
    assert [name for name in names(core) if not resolved(name)] == []
    assert [name for name in names(haystack) if not offered(name, in_haystack)] == []
    assert [name for name in names(llama_index) if not offered(name, in_llama_index)] == []
    assert names(test)
    for name in names(test):
        file, _, function = name.partition("::")
        tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
        found = [node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
        assert function in found if function else any(one.startswith("test_") for one in found)


@pytest.mark.parametrize(
    "name", ["hopweave.hit.Hit.nothing", "hopweave.nothing", "hopweave.routing.plan.Planner.nothing"]
)
def test_what_does_not_exist_is_noticed(name):
    assert not resolved(name)
    assert not offered("NothingRanker", in_haystack)
