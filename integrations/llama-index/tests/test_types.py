"""Type checkers without plugins accept a user's correct script and refuse a faulty one."""

import shutil
import subprocess
import sys
from pathlib import Path

import llama_index.hopweave.exports
import pytest

from hopweave.catalogue import CATALOGUE
from hopweave.component import Source, Stage

SCRIPT = Path(__file__).parent / "typed" / "every_component.py"
PACKAGES = Path(llama_index.hopweave.exports.__file__).parents[2]
SLOW = "scipy.*,networkx.*,faiss.*,torch.*,transformers.*,sentence_transformers.*,sqlalchemy.*,nltk.*,aiohttp.*,httpx.*"
CORE = Path(__file__).parents[3] / "src"


def checked(command, folder):
    return subprocess.run(command, check=False, capture_output=True, text=True, cwd=folder, timeout=300)


def mypy(script, folder):
    (folder / "mypy.ini").write_text(
        f"[mypy]\nmypy_path = {CORE}:{PACKAGES}\ncache_dir = {folder / 'cache'}\n"
        f"[mypy-{SLOW}]\nfollow_imports = skip\nignore_missing_imports = true\n"
    )
    return checked([sys.executable, "-m", "mypy", str(script)], folder)


def script_text():
    """The script, and a call of every source and stage of the catalogue."""
    retrievers = [f'        sources.{one.__name__}Retriever("a.db"),' for one in CATALOGUE if issubclass(one, Source)]
    postprocessors = [f"        stages.{one.__name__}Postprocessor()," for one in CATALOGUE if issubclass(one, Stage)]
    return "\n".join(
        [
            SCRIPT.read_text(encoding="utf-8"),
            "def catalogue() -> tuple[list[BaseRetriever], list[BaseNodePostprocessor]]:",
            "    retrievers: list[BaseRetriever] = [",
            *retrievers,
            "    ]",
            "    postprocessors: list[BaseNodePostprocessor] = [",
            *postprocessors,
            "    ]",
            "    return retrievers, postprocessors",
            "",
        ]
    )


def test_mypy_accepts_every_component_and_refuses_a_misspelt_parameter(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(script_text(), encoding="utf-8")
    found = mypy(script, tmp_path)
    assert found.returncode == 0, found.stdout
    script.write_text(script_text().replace("min_score=0.3", "minimum=0.3"), encoding="utf-8")
    assert 'Unexpected keyword argument "minimum"' in mypy(script, tmp_path).stdout


@pytest.mark.skipif(not shutil.which("node"), reason="pyright needs node")
def test_pyright_accepts_the_script(tmp_path):
    (tmp_path / "pyrightconfig.json").write_text(
        f'{{"include": ["every_component.py"], "extraPaths": ["{CORE}", "{PACKAGES}"]}}'.replace("\\", "/")
    )
    (tmp_path / "every_component.py").write_text(script_text(), encoding="utf-8")
    found = checked([sys.executable, "-m", "pyright", "--pythonpath", sys.executable, "every_component.py"], tmp_path)
    assert found.returncode == 0, found.stdout


@pytest.mark.parametrize("package", llama_index.hopweave.exports.PACKAGES)
def test_type_checkers_know_every_component(package):
    written = PACKAGES / package.replace(".", "/") / "__init__.pyi"
    assert written.read_text() == llama_index.hopweave.exports.stub(package), "run: make fix"
