"""Imports point down, and importing costs next to nothing."""

import ast
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import hopweave
from hopweave.exports import FOLDERS

PACKAGE = Path(hopweave.__file__).parent
FEATURES = {"routing", "text", "vector", "graph", "fusion", "stages", "context"}
TOP = {"evaluate", "tune", "commands", "cli", "__main__", "testing"}
FRAMEWORKS = {"haystack", "haystack_integrations", "llama_index"}
HEAVY = {"torch", "faiss", "bm25s", "scipy", "haystack", "llama_index"}
NOT_EVEN = HEAVY | {"numpy", "pydantic", "yaml", "sqlite3"}


@cache
def modules():
    """Dotted names of all modules without the package's own."""
    return sorted(
        ".".join(file.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__")
        for file in PACKAGE.rglob("*.py")
        if file != PACKAGE / "__init__.py"
    )


def imported(module):
    """What a module imports, at the top or inside functions; not what is there for type checkers only."""
    file = PACKAGE.joinpath(*module.split("."))
    file = file / "__init__.py" if file.is_dir() else file.with_suffix(".py")
    tree = ast.parse(file.read_text(encoding="utf-8"))
    hidden = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if id(node) in hidden:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}: relative import"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def part(name):
    """Which folder, or which single module, a dotted name inside the package belongs to."""
    return name.split(".")[0]


def inside(module):
    """The parts of the package that a module imports."""
    known = {part(name) for name in modules()}
    for name in imported(module):
        if name == "hopweave" or name.startswith("hopweave."):
            rest = name.removeprefix("hopweave").lstrip(".")
            yield part(rest) if part(rest) in known else "__init__"


MIDDLE = {"knowledge_base", "graph_store", "readers", "recipe", "pipeline", "catalogue", "report", "search"}
GROUND = {part(name) for name in modules()} - FEATURES - MIDDLE - TOP - {"sources"}

# who may import whom; the catalogue lists every component, so it stands above all features
MAY_IMPORT = (
    dict.fromkeys(GROUND, GROUND)
    | {"exports": GROUND | {"catalogue"}}  # when a component is asked for by its folder, and not before
    | {name: GROUND | {name} for name in FEATURES}
    | {"sources": GROUND | FEATURES | {"sources"}}
    | dict.fromkeys(MIDDLE, GROUND | FEATURES | MIDDLE | {"sources"})
    | dict.fromkeys(TOP, GROUND | FEATURES | MIDDLE | TOP | {"sources", "__init__"})
)


def test_every_part_that_has_a_place_exists():
    assert {part(name) for name in modules()} >= FEATURES | MIDDLE | TOP


def test_the_ground_floor_is_what_it_is_meant_to_be():
    assert {"hit", "query", "errors", "document", "scores", "component", "extras", "metadata", "language"} <= GROUND
    assert {name for name in GROUND if (PACKAGE / name).is_dir()} == {
        "concurrency",
        "language",
        "markup",
        "metadata",
        "recipes",
        "storage",
    }, "a new folder needs a place in the order"


def test_imports_point_down():
    wrong = {module: above for module in modules() if (above := set(inside(module)) - MAY_IMPORT[part(module)])}
    assert not wrong


def test_the_core_never_imports_a_framework():
    assert [name for name in modules() if {one.split(".")[0] for one in imported(name)} & FRAMEWORKS] == []


def loaded_after(statement):
    program = f"import sys; before = set(sys.modules)\n{statement}\nprint(*set(sys.modules) - before)"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return {name.split(".")[0] for name in ran.stdout.split()}


def test_import_hopweave_loads_nothing_heavy():
    assert not loaded_after("import hopweave") & NOT_EVEN


def test_importing_every_module_loads_nothing_heavy():
    statement = "\n".join(f"import hopweave.{name}" for name in modules() if name != "__main__")
    assert not loaded_after(statement) & (
        HEAVY
        | {
            "sentence_transformers",
            "wordllama",
            "networkx",
            "httpx",
            "Stemmer",
            "optuna",
            "ir_measures",
            "onnxruntime",
            "tokenizers",
        }
    )


def test_import_hopweave_is_quick():
    ran = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", "import hopweave"], capture_output=True, text=True, check=True
    )
    last = next(line for line in reversed(ran.stderr.splitlines()) if line.endswith(" hopweave"))
    assert int(last.split("|")[1]) < 300_000  # microseconds


def test_public_names_can_all_be_had():
    assert set(hopweave.__all__) <= set(dir(hopweave))
    for name in hopweave.__all__:
        assert getattr(hopweave, name).__name__ == name
    with pytest.raises(AttributeError, match="no attribute 'Nonsense'"):
        hopweave.Nonsense  # noqa: B018 - looking it up is the test


def test_folders_do_not_hide_what_is_in_their_modules():
    for folder in ("knowledge_base", "evaluate", "tune", "readers", "commands", "report", "search"):
        tree = ast.parse((PACKAGE / folder / "__init__.py").read_text(encoding="utf-8"))
        assert [type(node) for node in tree.body] == [ast.Expr], f"hopweave.{folder} is more than a docstring"


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_folder_offers_its_components_and_no_list_of_its_own(folder):
    lines = (PACKAGE / folder / "__init__.py").read_text(encoding="utf-8").splitlines()
    assert lines[1:] == [
        "",
        "from hopweave.exports import exports",
        "",
        "__getattr__, __dir__ = exports(__name__)",
    ]
    assert not loaded_after(f"import hopweave.{folder}") & NOT_EVEN


def test_no_module_is_a_drawer_for_everything():
    assert not {name.split(".")[-1] for name in modules()} & {"utils", "helpers", "base", "common", "misc"}
    long = {name: lines for name in modules() if (lines := length(name)) > 450}
    assert not long


def length(module):
    file = PACKAGE.joinpath(*module.split("."))
    return len(
        (file / "__init__.py" if file.is_dir() else file.with_suffix(".py")).read_text(encoding="utf-8").splitlines()
    )
