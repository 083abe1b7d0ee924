"""The components that a package of the adapter offers, made from hopweave's catalogue.

`python -m llama_index.hopweave.exports` writes the `__init__.pyi` of each package for type checkers.
"""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from hopweave.catalogue import CATALOGUE
from hopweave.component import Component
from hopweave.stubs import package_stub

PACKAGES = (
    "llama_index.postprocessor.hopweave",
    "llama_index.query_engine.hopweave",
    "llama_index.retrievers.hopweave",
)


def exports(
    package: str, role: type[Component], suffix: str, others: Mapping[str, str]
) -> tuple[list[str], Callable[[str], Any]]:
    """
    The names that a package offers, and a function that imports one of them when it is first used.

    A component of the core is found in the module of the same name as its own, under its class name and the suffix.

    Args:
        package: Name of the package.
        role: The role of the components: Source or Stage.
        suffix: What is appended to the names of the classes.
        others: Modules of further names.

    Returns:
        What the package needs as `__all__` and `__getattr__`.

    """
    modules = {
        f"{component.__name__}{suffix}": component.__module__.rpartition(".")[2]
        for component in CATALOGUE
        if issubclass(component, role)
    } | dict(others)

    def import_name(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"{package}.{modules[name]}"), name)

    return sorted(modules), import_name


def stub(package: str) -> str:
    """
    The `__init__.pyi` of a package: what has further keywords with all its parameters, everything else as it is.

    Args:
        package: Name of the package.

    Returns:
        The text of the file.

    """
    from llama_index.hopweave.signatures import signatures

    return package_stub(package, "Written by `make fix`.", signatures)


def write_stubs() -> None:
    """Write the `__init__.pyi` of every package."""
    for package in PACKAGES:
        folder = Path(str(sys.modules.get(package, import_module(package)).__file__)).parent
        (folder / "__init__.pyi").write_text(stub(package), encoding="utf-8")


if __name__ == "__main__":
    write_stubs()
