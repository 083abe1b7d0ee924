"""Run mypy and pyright on scripts as a user without plugins does; for the tests of both adapters."""

import ast
import re
import subprocess
import sys
from inspect import cleandoc
from pathlib import Path

_SLOW = "scipy.*,networkx.*,faiss.*,torch.*,transformers.*,sentence_transformers.*,httpx.*,openai.*,nltk.*"
_SLOW += ",sqlalchemy.*,aiohttp.*"


def mypy(script: Path, *places: Path) -> str:
    """What `mypy --strict` says of a script, "" if it finds nothing; `places` are the folders of packages."""
    _configure(script.parent, *places)
    return _said([sys.executable, "-m", "mypy", "--strict", str(script)], script.parent)


def _configure(folder: Path, *places: Path, plugins: str = "") -> None:
    cache = folder.parent / "mypy_cache"  # the folder of the session, if it is that of a test
    (folder / "mypy.ini").write_text(
        f"[mypy]\nmypy_path = {':'.join(map(str, places))}\ncache_dir = {cache}\nexplicit_package_bases = true\n"
        f"plugins = {plugins}\n"
        f"[mypy-{_SLOW}]\nfollow_imports = skip\nignore_missing_imports = true\n"
    )


def pyright(script: Path, *places: Path) -> str:
    """What pyright says of a script, "" if it finds no error."""
    listed = ", ".join(f'"{place.as_posix()}"' for place in places)
    (script.parent / "pyrightconfig.json").write_text(f'{{"include": ["{script.name}"], "extraPaths": [{listed}]}}')
    return _said([sys.executable, "-m", "pyright", "--pythonpath", sys.executable, script.name], script.parent)


def _said(command: list[str], folder: Path) -> str:
    ran = subprocess.run(command, check=False, capture_output=True, text=True, cwd=folder, timeout=300)
    return "" if ran.returncode == 0 else ran.stdout + ran.stderr


def refused(said: str, script: Path) -> set[int]:
    """The lines of a script in which a checker has found an error."""
    return {int(line) for line in re.findall(rf"{re.escape(script.name)}:(\d+):(?:\d+)?.*? error", said)}


def faulty_lines(text: str) -> dict[int, tuple[str, str]]:
    """The lines of a script that end in a comment with a name: their code and the name."""
    lines = enumerate(text.splitlines(), start=1)
    found = {number: re.fullmatch(r"([A-Za-z].*?)  # (\w+)", line) for number, line in lines}
    return {number: (match[1], match[2]) for number, match in found.items() if match}


def beginning(text: str) -> str:
    """What stands before the first faulty line."""
    return "\n".join(text.splitlines()[: min(faulty_lines(text)) - 1])


def meaning(stub: str) -> tuple[set[tuple[str | None, str]], list[str]]:
    """What a stub imports and what it declares, however it is formatted."""
    body = ast.parse(stub).body
    for one in ast.walk(ast.Module(body=body, type_ignores=[])):
        if isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant) and isinstance(one.value.value, str):
            one.value.value = cleandoc(one.value.value).strip()
    imports = {(one.module, name.name) for one in body if isinstance(one, ast.ImportFrom) for name in one.names}
    return imports, [ast.dump(one) for one in body if not isinstance(one, ast.ImportFrom)]


def stubtest(folder: Path, packages: list[str], allowed: str, *places: Path) -> str:
    """What `mypy.stubtest` says of packages, "" if stubs and run time are the same but for what is allowed."""
    _configure(folder, *places, plugins="pydantic.mypy")  # the packages themselves are checked with it
    (folder / "allowed").write_text(allowed)
    command = [sys.executable, "-m", "mypy.stubtest", "--allowlist", str(folder / "allowed"), "--concise"]
    command += ["--ignore-unused-allowlist", "--ignore-missing-stub", "--mypy-config-file", str(folder / "mypy.ini")]
    return _said([*command, *packages], folder)
