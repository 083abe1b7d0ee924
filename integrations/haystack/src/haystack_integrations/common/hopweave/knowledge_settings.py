"""How a new knowledge base file is to index its documents, in words that YAML can hold."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from haystack import logging

import hopweave.catalogue  # noqa: F401 - so that every embedder's kind is known
from haystack_integrations.common.hopweave.settings import Setting, as_list
from hopweave import KnowledgeBase
from hopweave.component import Embedder, registered
from hopweave.document import Document as Passage
from hopweave.graph.build.builders.builder import GraphBuilder
from hopweave.knowledge_base.indexing_run import MAX_DELETED_SHARE
from hopweave.knowledge_base.vector_models import are_vectors_of
from hopweave.vector.embedders import StaticEmbedder
from hopweave.vector.graph_embedder import GraphEmbedder

logger = logging.getLogger(__name__)

Described = str | dict[str, Any]
"""A part of the core by its kind, or by its kind and parameters: `"static"`, `{"kind": "static"}`."""

EMBEDDER = Setting(
    "embedder",
    Described | None,
    "What makes the vectors of documents that come without an embedding, by kind (`static`) or as a mapping with kind "
    "and parameters; None leaves them without, and keeps the embeddings that documents bring along.",
    None,
)
ANALYZERS = Setting(
    "analyzers", Sequence[str] | None, "How text becomes terms: nlp, nlp:<language>, code, light.", None, kept=as_list
)
BUILDERS = Setting(
    "builders",
    Sequence[Described] | None,
    "What connects documents, by kind or as mappings; None for the usual builders, an empty list for no graph. They "
    "matter only when the file or graph is new.",
    None,
    kept=as_list,
)
OWN_SHARE = Setting(
    "own_share",
    float | None,
    "With less than 1, vector search blends the vector of a document with those of its neighbours in the graph, which "
    "get the rest; None for 1.",
    None,
)
SOURCE_FIELD = Setting(
    "source_field",
    str | None,
    "Metadata field that says where a document comes from, such as `file_path`. What a source had before and has no "
    "more is deleted when its documents are written again, in one transaction per source. Converters keep the name of "
    "a file without its folder unless they have `store_full_path=True`; such a name is refused, as files in other "
    "folders can have it. Without the field, nothing is deleted.",
    None,
)
BATCH_SIZE = Setting("batch_size", int, "How many documents make a transaction.", 256)
MAX_DELETED = Setting(
    "max_deleted_share",
    float,
    "How much of what is there a run with `complete` may delete, without as many new documents; 1 for all of it.",
    MAX_DELETED_SHARE,
)


def open_for_writing(
    path: Path | None,
    embedder: Described | None,
    analyzers: Sequence[str] | None,
    builders: Sequence[Described] | None,
    documents: Sequence[Passage] = (),
    own_share: float | None = None,
) -> KnowledgeBase:
    """
    Open a knowledge base, a temporary one without a path.

    What is asked for counts when the file is new; otherwise the file's own settings hold. With the embedder "auto", the
    static one makes vectors, unless the documents to be written first bring vectors of another model. Raises
    `ValueError` if the documents bring vectors that are not those of the file's model.
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
    """Graph builders from their descriptions; None for the usual ones."""
    return None if builders is None else [_made("builders", GraphBuilder, builder) for builder in builders]


def check_vectors(knowledge_base: KnowledgeBase, documents: Sequence[Passage]) -> None:
    """Raise `ValueError` if vectors of documents would pass for those of a model that did not make them."""
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
