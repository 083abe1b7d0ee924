"""How a new knowledge base file is to index its documents, in words that YAML can hold."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from haystack import logging

import hopweave.catalogue  # noqa: F401 - so that every embedder's kind is known
from hopweave import KnowledgeBase
from hopweave.component import Embedder, registered
from hopweave.document import Document as Passage
from hopweave.graph.build.builders.builder import GraphBuilder
from hopweave.knowledge_base.settings import are_vectors_of
from hopweave.vector.embedders import StaticEmbedder
from hopweave.vector.graph_embedder import GraphEmbedder

logger = logging.getLogger(__name__)

Described = str | dict[str, Any]
"""A part of the core by its kind, or by its kind and parameters: `"static"`, `{"kind": "static"}`."""


def open_for_writing(
    path: Path | None,
    embedder: Described | None,
    analyzers: Sequence[str] | None,
    builders: Sequence[Described] | None,
    documents: Sequence[Passage] = (),
    own_share: float | None = None,
) -> KnowledgeBase:
    """
    Open a knowledge base. What is asked for counts when the file is new; otherwise the file's own settings hold.

    :param path: The file; without one, the knowledge base is temporary.
    :param embedder: What makes the vectors of documents that come without one; None leaves them without. With "auto",
        the static embedder does, unless the documents bring vectors of another model.
    :param analyzers: How text becomes terms.
    :param builders: What connects documents; None for the usual builders, an empty list for no graph.
    :param documents: What is to be written first.
    :param own_share: The share of a document's own vector in vector search; None for 1.
    :returns: A knowledge base that can be read and written.
    :raises ValueError: If the documents bring vectors that are not those of the file's model.
    """
    if path is not None and path.exists():
        opened = KnowledgeBase.open(path)
        _warn_of_embedder(opened, embedder)
    else:
        if embedder == "auto":
            embedder = "static" if are_vectors_of(StaticEmbedder(), documents) else None
        opened = KnowledgeBase.open(
            path,
            embedder=None if embedder is None else _made("embedder", Embedder, embedder),
            analyzers=analyzers,
            builders=made_builders(builders),
            own_share=own_share,
        )
    try:
        check_vectors(opened, documents)
    except BaseException:
        opened.close()
        raise
    return opened


def _warn_of_embedder(opened: KnowledgeBase, embedder: Described | None) -> None:
    own, wanted = opened.settings.embedder, embedder.get("kind") if isinstance(embedder, dict) else embedder
    has = None if own is None else own.kind
    if wanted not in (None, "auto", has) and not isinstance(own, GraphEmbedder):  # which was trained on the file later
        logger.warning(
            "embedder: '{wanted}' is ignored: {path} was made with embedder={has}; write to a new file for another",
            wanted=wanted,
            path=opened.path,
            has=has,
        )


def made_builders(builders: Sequence[Described] | None) -> list[GraphBuilder] | None:
    """
    Graph builders from their descriptions.

    :param builders: What connects documents; None for the usual builders.
    :returns: The builders.
    """
    return None if builders is None else [_made("builders", GraphBuilder, builder) for builder in builders]


def check_vectors(knowledge_base: KnowledgeBase, documents: Sequence[Passage]) -> None:
    """
    Refuse documents whose vectors would pass for those of a model that did not make them.

    :param knowledge_base: Where they are to be written.
    :param documents: The documents.
    :raises ValueError: If they bring vectors that are not those of the file's model.
    """
    settings = knowledge_base.settings
    if settings.embedder is not None and not are_vectors_of(settings.embedder, documents):
        raise ValueError(
            f"documents: their embeddings are not those of {settings.model!r}, whose vectors {knowledge_base.path} "
            "holds; write them to a new file with embedder=None, which keeps their embeddings, or write them "
            "without embeddings"
        )


def _made(parameter: str, role: Any, described: Described) -> Any:
    description = {"kind": described} if isinstance(described, str) else described
    kinds = registered(role)
    if not isinstance(description, dict) or description.get("kind") not in kinds:
        raise ValueError(
            f"{parameter}: {described!r} is not allowed; allowed are {', '.join(kinds)}, or a mapping with one of them "
            "as kind"
        )
    return kinds[description["kind"]].model_validate(description)
