"""How a new knowledge base file is to index its documents, in words that YAML can hold."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import hopweave.catalogue  # noqa: F401 - so that every embedder's kind is known
from hopweave import KnowledgeBase
from hopweave.component import Embedder, registered
from hopweave.graph.build.builder import GraphBuilder

Described = str | dict[str, Any]
"""A part of the core by its kind, or by its kind and parameters: `"static"`, `{"kind": "static"}`."""


def open_for_writing(
    path: str | None,
    embedder: Described | None,
    analyzers: Sequence[str] | None,
    graph: Sequence[Described] | None,
) -> KnowledgeBase:
    """
    Open a knowledge base. What is asked for counts when the file is new; otherwise the file's own settings hold.

    :param path: The file; without one, the knowledge base is temporary.
    :param embedder: What makes the vectors of documents that come without one; None leaves them without.
    :param analyzers: How text becomes terms.
    :param graph: What connects documents; None for the usual builders, an empty list for no graph.
    :returns: A knowledge base that can be read and written.
    """
    if path is not None and Path(path).exists():
        return KnowledgeBase.open(path)
    return KnowledgeBase.open(
        path,
        embedder=None if embedder is None else _made(Embedder, embedder),
        analyzers=analyzers,
        graph=None if graph is None else [_made(GraphBuilder, builder) for builder in graph],
    )


def _made(role: Any, described: Described) -> Any:
    description = {"kind": described} if isinstance(described, str) else described
    kinds = registered(role)
    if description.get("kind") not in kinds:
        raise ValueError(f"{role.__name__}: no kind {description.get('kind')!r}; allowed are {', '.join(kinds)}")
    return kinds[description["kind"]].model_validate(description)
