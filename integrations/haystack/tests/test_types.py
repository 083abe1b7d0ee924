"""Type checkers without plugins accept a user's correct script and refuse every fault, and so does running it."""

import importlib.util
import shutil
from importlib import import_module
from pathlib import Path

import pytest

from hopweave.catalogue import CATALOGUE
from hopweave.component import Fuser, Source, Stage


def loaded(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


HERE = Path(__file__).parent
SCRIPT = HERE / "typed" / "every_component.py"
FAULTS = HERE / "typed" / "faults.py"
PLACES = [HERE.parents[2] / "src", HERE.parent / "src"]
GENERATE = loaded(HERE.parent / "generate.py")
CHECKERS = loaded(HERE.parents[2] / "tests" / "type_checkers.py")
checkers = pytest.mark.parametrize(
    "checker",
    [
        CHECKERS.mypy,
        pytest.param(CHECKERS.pyright, marks=pytest.mark.skipif(not shutil.which("node"), reason="pyright needs node")),
    ],
)
CALLS = {
    Source: ("retrievers", '{}Retriever(knowledge_base="a.db").run(query="Who?")'),
    Fuser: ("joiners", '{}Joiner(sources=["a", "b"]).run(a=found)'),
    Stage: ("rankers", '{}Ranker().run(documents=found, query="Who?")'),
}


def script_text():
    """The script, and a call of every source, fuser and stage of the catalogue."""
    calls = [
        f"    found = {folder}.{call.format(component.__name__)}['documents']"
        for role, (folder, call) in CALLS.items()
        for component in CATALOGUE
        if issubclass(component, role)
    ]
    lines = [SCRIPT.read_text(encoding="utf-8"), "def catalogue(found: list[Document]) -> list[Document]:", *calls]
    return "\n".join([*lines, "    return found", ""])


def components():
    """The name, the class and the package of every component."""
    for package in GENERATE.packages():
        module = import_module(package)
        yield from ((name, getattr(module, name), package) for name in module.__all__)


def test_every_component_is_in_the_script():
    text = script_text()
    names = [name for name, _, _ in components()]
    assert len(names) > 30
    assert [name for name in names if f"{name}(" not in text] == []


def typed():
    """A line for every component that says what the class of an instance is."""
    yield "from typing import assert_type"
    for name, _, package in components():
        yield f"from {package} import {name}"
        yield f"def is_{name.lower()}(one: {name}) -> None: assert_type(one, {name})"
    yield "assert_type(LengthRanker(), LengthRanker)"
    yield "assert_type(BM25Retriever(knowledge_base='a.db'), BM25Retriever)"
    yield "assert_type(WeightedJoiner(sources=['a']), WeightedJoiner)"


def simple_faults():
    """An unknown name and a wrong type of every component, with a comment as in the file of faults."""
    for name, one, _ in components():
        parameter = next(iter(one.__signature__.parameters))
        yield f"{name}(nonsense=1)  # nonsense"
        yield f"{name}({parameter}=object())  # {parameter}"


@checkers
def test_a_type_checker_refuses_every_fault_and_nothing_else(checker, tmp_path):
    script = tmp_path / "script.py"
    text = "\n".join([script_text(), *typed(), FAULTS.read_text(encoding="utf-8"), *simple_faults(), ""])
    script.write_text(text, encoding="utf-8")
    faults = CHECKERS.faulty_lines(text)
    said = checker(script, *PLACES)
    wrong = CHECKERS.refused(said, script) ^ faults.keys()
    assert not wrong, [text.splitlines()[number - 1] for number in sorted(wrong)] + [said]


def test_every_fault_is_refused_at_run_time_by_its_name():
    text = FAULTS.read_text(encoding="utf-8")
    faults = CHECKERS.faulty_lines(text).values()
    assert len(faults) >= 30
    names = {}
    exec(CHECKERS.beginning(text), names)
    accepted = []
    for code, name in faults:
        try:
            exec(code, dict(names))
            accepted.append(code)
        except (TypeError, ValueError) as error:
            if name not in str(error) or "pydantic" in str(error):
                accepted.append(f"{code}: {error}")
    assert accepted == []


@pytest.mark.parametrize("package", GENERATE.packages())
def test_stubs_are_what_is_generated(package):
    path = HERE.parent.joinpath("src", *package.split("."), "__init__.pyi")
    assert CHECKERS.meaning(path.read_text(encoding="utf-8")) == CHECKERS.meaning(GENERATE.stub(package)), "make fix"


ALLOWED = r"""
haystack_integrations\.components\.[a-z]+\.hopweave\.[a-z_0-9]+(\..*)?
haystack_integrations\.components\.[a-z]+\.hopweave\.[A-Z][A-Za-z0-9]+
haystack_integrations\.components\.retrievers\.hopweave\.HybridGraphRetriever\.run(_async)?
"""
"""What may differ: modules have no stubs, classes have Haystack's metaclass, and one `run` follows from a mapping."""


def test_stubs_are_what_there_is_at_run_time(tmp_path):
    assert CHECKERS.stubtest(tmp_path, GENERATE.packages(), ALLOWED, *PLACES) == ""
