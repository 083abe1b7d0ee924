"""Components by the folder they are in: `from hopweave.stages import Freshness`.

A folder offers the components of the catalogue whose modules it holds, and imports the catalogue when one of them is
first asked for. What type checkers see of it, `__init__.pyi`, is written by `python -m hopweave.exports` (`make fix`).
"""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

FOLDERS = ("context", "fusion", "graph", "routing", "sources", "stages", "vector")


def components_in(package: str) -> dict[str, type[Any]]:
    """The components whose modules are in a package, by name.

    >>> list(components_in("hopweave.sources"))
    ['BM25', 'EvidenceSum', 'FullText', 'GraphBoost', 'IntentEdges', 'Keyword', 'PageRank', 'VectorSearch']
    """
    catalogue = import_module("hopweave.catalogue")
    components = (*catalogue.CATALOGUE, *catalogue.PARTS)
    found = {one.__name__: one for one in components if one.__module__.startswith(f"{package}.")}
    return dict(sorted(found.items()))


def exports(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` for a package.

    >>> getattribute, listing = exports("hopweave.sources")
    >>> getattribute("BM25").__module__, listing()[:2]
    ('hopweave.sources.bm25', ['BM25', 'EvidenceSum'])
    """

    def get(name: str) -> Any:
        if name == "__all__":
            return list(components_in(package))
        # modules have lower-case names: asking for one must not load all components
        found = components_in(package).get(name) if name[:1].isupper() else None
        if found is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return found

    return get, lambda: list(components_in(package))


def stub(package: str) -> str:
    """The `__init__.pyi` of a package.

    >>> print(stub("hopweave.sources").splitlines()[1])
    from hopweave.sources.bm25 import BM25
    """
    components = components_in(package)
    modules: dict[str, list[str]] = {}
    for name, one in components.items():
        modules.setdefault(one.__module__, []).append(name)
    lines = [f"from {module} import {', '.join(names)}" for module, names in sorted(modules.items())]
    listed = [f'    "{name}",' for name in sorted(components, key=lambda name: (not name.isupper(), name))]
    head = "# Written by `python -m hopweave.exports` from the catalogue."
    return "\n".join([head, *lines, "", "__all__ = [", *listed, "]"]) + "\n"


def write_stubs() -> None:
    """Write the `__init__.pyi` of every folder."""
    for folder in FOLDERS:
        Path(__file__).parent.joinpath(folder, "__init__.pyi").write_text(stub(f"hopweave.{folder}"), encoding="utf-8")


if __name__ == "__main__":
    write_stubs()
