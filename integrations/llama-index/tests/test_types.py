"""Type checkers without plugins accept a user's correct script and refuse every fault, and so does running it."""

import importlib.util
import shutil
from pathlib import Path

import llama_index.hopweave.exports
import pytest

from hopweave.catalogue import CATALOGUE
from hopweave.component import Source, Stage


def loaded(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


HERE = Path(__file__).parent
SCRIPT = HERE / "typed" / "every_component.py"
FAULTS = HERE / "typed" / "faults.py"
PLACES = [HERE.parents[2] / "src", HERE.parent]
CHECKERS = loaded(HERE.parents[2] / "tests" / "type_checkers.py")
checkers = pytest.mark.parametrize(
    "checker",
    [
        CHECKERS.mypy,
        pytest.param(CHECKERS.pyright, marks=pytest.mark.skipif(not shutil.which("node"), reason="pyright needs node")),
    ],
)


def script_text():
    """The script, and a call of every source and stage of the catalogue."""
    retrievers = [f"{one.__name__}Retriever" for one in CATALOGUE if issubclass(one, Source)]
    postprocessors = [f"{one.__name__}Postprocessor" for one in CATALOGUE if issubclass(one, Stage)]
    return "\n".join(
        [
            SCRIPT.read_text(encoding="utf-8"),
            "from typing import assert_type",
            *(f'assert_type(sources.{name}("a.db"), sources.{name})' for name in retrievers),
            *(f"assert_type(stages.{name}(), stages.{name})" for name in postprocessors),
            'assert_type(sources.RecipeRetriever("a.db"), sources.RecipeRetriever)',
        ]
    )


def simple_faults():
    """An unknown name and a wrong type of every source and stage, with a comment as in the file of faults."""
    for one in CATALOGUE:
        if issubclass(one, Source):
            yield f'sources.{one.__name__}Retriever("a.db", nonsense=1)  # nonsense'
            yield f'sources.{one.__name__}Retriever("a.db", optional=object())  # optional'
        elif issubclass(one, Stage):
            yield f"stages.{one.__name__}Postprocessor(nonsense=1)  # nonsense"
            yield f"stages.{one.__name__}Postprocessor(optional=object())  # optional"


@checkers
def test_a_type_checker_refuses_every_fault_and_nothing_else(checker, tmp_path):
    script = tmp_path / "script.py"
    text = "\n".join([script_text(), FAULTS.read_text(encoding="utf-8"), *simple_faults(), ""])
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
            if name not in str(error):
                accepted.append(f"{code}: {error}")
    names["kb"].close()
    assert accepted == []


@pytest.mark.parametrize("package", llama_index.hopweave.exports.PACKAGES)
def test_stubs_are_what_is_generated(package):
    path = HERE.parent / package.replace(".", "/") / "__init__.pyi"
    made = llama_index.hopweave.exports.stub(package)
    assert CHECKERS.meaning(path.read_text(encoding="utf-8")) == CHECKERS.meaning(made), "make fix"


ALLOWED = r"""
llama_index\.[a-z_]+\.hopweave\.[a-z_0-9]+(\..*)?
llama_index\.[a-z_]+\.hopweave\.(__getattr__|__all__)
llama_index\.[a-z_]+\.hopweave\.[A-Z]\w+\.__call__
"""
"""What may differ: modules have no stubs, names are looked up when they are used, and LlamaIndex wraps some methods."""


def test_stubs_are_what_there_is_at_run_time(tmp_path):
    assert CHECKERS.stubtest(tmp_path, list(llama_index.hopweave.exports.PACKAGES), ALLOWED, *PLACES) == ""
