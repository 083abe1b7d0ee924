"""Type checkers without plugins accept a user's correct script and refuse a faulty one."""

import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from hopweave.catalogue import CATALOGUE
from hopweave.component import Fuser, Source, Stage

SCRIPT = Path(__file__).parent / "typed" / "every_component.py"
PACKAGE = Path(__file__).parents[1] / "src"
CORE = Path(__file__).parents[3] / "src"
SLOW = "scipy.*,networkx.*,faiss.*,torch.*,transformers.*,sentence_transformers.*,httpx.*,openai.*,nltk.*"


def checked(command, folder):
    return subprocess.run(command, check=False, capture_output=True, text=True, cwd=folder, timeout=300)


def mypy(script, folder):
    (folder / "mypy.ini").write_text(
        f"[mypy]\nmypy_path = {CORE}:{PACKAGE}\ncache_dir = {folder / 'cache'}\nexplicit_package_bases = true\n"
        f"[mypy-{SLOW}]\nfollow_imports = skip\nignore_missing_imports = true\n"
    )
    return checked([sys.executable, "-m", "mypy", str(script)], folder)


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


def test_every_component_is_in_the_script():
    text = script_text()
    folders = sorted(PACKAGE.glob("haystack_integrations/components/*/hopweave"))
    packages = [import_module(".".join(folder.relative_to(PACKAGE).parts)) for folder in folders]
    names = [name for package in packages for name in package.__all__]
    assert len(names) > 30
    assert [name for name in names if f"{name}(" not in text] == []


def test_mypy_accepts_the_script_and_refuses_faults(tmp_path):
    script = tmp_path / "script.py"
    text = script_text()
    script.write_text(text, encoding="utf-8")
    found = mypy(script, tmp_path)
    assert found.returncode == 0, found.stdout
    script.write_text(text.replace("(min_score=0.3)", "(minimum=0.3)"), encoding="utf-8")
    assert 'Unexpected keyword argument "minimum"' in mypy(script, tmp_path).stdout
    script.write_text(text.replace("query_embedding=embedding, top_k=3", "query_vector=embedding"), encoding="utf-8")
    assert 'Unexpected keyword argument "query_vector"' in mypy(script, tmp_path).stdout


@pytest.mark.skipif(not shutil.which("node"), reason="pyright needs node")
def test_pyright_accepts_the_script(tmp_path):
    (tmp_path / "pyrightconfig.json").write_text(f'{{"extraPaths": ["{CORE}", "{PACKAGE}"]}}'.replace("\\", "/"))
    (tmp_path / "script.py").write_text(script_text(), encoding="utf-8")
    found = checked([sys.executable, "-m", "pyright", "--pythonpath", sys.executable, "script.py"], tmp_path)
    assert found.returncode == 0, found.stdout
