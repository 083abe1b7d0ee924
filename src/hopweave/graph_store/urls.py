"""The URLs of graphs on servers, and the distributions that open them."""

from collections.abc import Callable
from importlib.metadata import EntryPoint, entry_points
from typing import Any, cast
from urllib.parse import urlsplit

from hopweave.concurrency.once import once
from hopweave.errors import HopweaveError

ENTRY_POINTS = "hopweave.graph_stores"
"""The entry point group in which a distribution names its graph store, by the scheme of its URLs."""

DISTRIBUTIONS = {"postgresql": "hopweave-postgres", "postgres": "hopweave-postgres"}
"""What to install for the URLs of a scheme."""


def is_url(where: object) -> bool:
    """Whether a graph lives on a server: at a URL of a scheme that a graph store is known for.

    >>> is_url("postgresql://localhost/kb"), is_url("graph.db")
    (True, False)
    """
    scheme, separator, _ = str(where).partition("://")
    return bool(separator) and scheme in schemes()


def schemes() -> list[str]:
    """The URL schemes of graph stores: those of `hopweave-postgres`, and those of other installed distributions."""
    return [*DISTRIBUTIONS, *sorted(_installed().keys() - DISTRIBUTIONS.keys())]


@once()
def _installed() -> dict[str, EntryPoint]:
    return {one.name: one for one in entry_points(group=ENTRY_POINTS)}


def store_for(url: str) -> Callable[..., Any]:
    """The subclass of `GraphStore` that opens a URL."""
    scheme = url.partition("://")[0]
    if scheme not in _installed():
        raise HopweaveError(
            f"where: no graph store for {scheme}:// is installed; run: pip install {DISTRIBUTIONS[scheme]}"
        )
    return cast(Callable[..., Any], _installed()[scheme].load())


def has_password(url: str) -> bool:
    """Whether a connection URL holds a password.

    >>> has_password("postgresql://anna:secret@db/kb"), has_password("postgresql://anna@db/kb")
    (True, False)
    """
    parts = urlsplit(url)
    return bool(parts.password) or "password=" in parts.query
