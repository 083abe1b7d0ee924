"""Write what follows from the core: exports, stubs, list of components, and YAML pipelines of recipes.

Run it whenever a component or a recipe is added, renamed or changed; `make fix` does so and formats what it writes.
"""

import ast
import re
from inspect import Parameter, Signature
from pathlib import Path
from typing import Any

from hopweave.stubs import package_stub

PACKAGE = Path(__file__).parent / "src" / "haystack_integrations"
README = Path(__file__).parent / "README.md"


def components(path: Path) -> list[str]:
    """The names of the components that a module defines."""
    classes = [node for node in ast.parse(path.read_text(encoding="utf-8")).body if isinstance(node, ast.ClassDef)]
    return [one.name for one in classes if any(ast.unparse(mark).startswith("derived(") for mark in one.decorator_list)]


def exports(folder: Path) -> str:
    """The `__init__.py` of a folder: its first line as it is, then every component of its modules.

    Imports are written out instead of looked up at run time, so that editors and type checkers see them.
    """
    docstring = (folder / "__init__.py").read_text(encoding="utf-8").splitlines()[0]
    package = ".".join(folder.relative_to(PACKAGE.parent).parts)
    found = {path.stem: names for path in sorted(folder.glob("[!_]*.py")) if (names := components(path))}
    imports = [f"from {package}.{stem} import {', '.join(sorted(names))}" for stem, names in found.items()]
    listed = [f'    "{name}",' for name in sorted(name for names in found.values() for name in names)]
    return "\n".join([docstring, "", *imports, "", "__all__ = [", *listed, "]", ""])


def stub(package: str) -> str:
    """The `__init__.pyi` of a package: every component with its real constructor and inputs."""
    return package_stub(package, "Written by `make fix`.", _signatures)


def _signatures(component: type) -> dict[str, Signature]:
    inputs = getattr(component, "typed_inputs", ())
    if not inputs:
        return {}
    itself = Parameter("self", Parameter.POSITIONAL_OR_KEYWORD)
    made = Signature([itself, *(one.parameter for one in inputs)], return_annotation=dict[str, Any])
    return {"run": made, "run_async": made}


def packages() -> list[str]:
    """The packages of components."""
    folders = sorted(PACKAGE.glob("components/*/hopweave"))
    return [".".join(folder.relative_to(PACKAGE.parent).parts) for folder in folders]


def list_components() -> None:
    """Write the exports of every folder into the table of components in the README."""
    text = README.read_text(encoding="utf-8")
    for init in sorted(PACKAGE.glob("components/*/hopweave/__init__.py")):
        names = [name for path in sorted(init.parent.glob("[!_]*.py")) for name in components(path)]
        row = f"| `{init.parent.parent.name}.hopweave` | "
        listed = ", ".join(f"`{name}`" for name in names)
        text = re.sub(rf"^{re.escape(row)}.*$", lambda _, row=row, listed=listed: f"{row}{listed} |", text, flags=re.M)
    README.write_text(text, encoding="utf-8")


def main() -> None:
    """Write everything."""
    for init in sorted(PACKAGE.glob("components/*/hopweave/__init__.py")):
        init.write_text(exports(init.parent), encoding="utf-8")
    for package in packages():
        path = PACKAGE.parent.joinpath(*package.split("."), "__init__.pyi")
        path.write_text(stub(package), encoding="utf-8")
    list_components()

    from haystack_integrations.common.hopweave.recipe_pipeline import PIPELINES, to_yaml
    from hopweave.recipe import recipe_names

    PIPELINES.mkdir(exist_ok=True)
    for recipe in recipe_names():
        (PIPELINES / f"{recipe}.yaml").write_text(to_yaml(recipe), encoding="utf-8")


if __name__ == "__main__":
    main()
