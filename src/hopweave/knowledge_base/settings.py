"""What is settled when a file is created: embedder and analyzers."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from hopweave.component import Embedder, registered
from hopweave.errors import KnowledgeBaseError
from hopweave.knowledge_base.connections import Connections
from hopweave.text.analyzers import check_analyzer
from hopweave.vector.embedders import StaticEmbedder, as_embedder

DEFAULT = "default"
GIVEN = "given"  # the model name of vectors that come with their documents, when there is no embedder


@dataclass(frozen=True, slots=True)
class Settings:
    """How the documents of a file are indexed. `model` names the model whose vectors it holds."""

    embedder: Embedder | None
    analyzers: tuple[str, ...]
    model: str

    @classmethod
    def of(cls, connections: Connections, embedder: Any, analyzers: Sequence[str]) -> "Settings":
        """Settle a new file, or read what was settled and check that it fits what is asked for."""
        return _settle(connections, embedder, analyzers) if connections.created else _settled(connections, embedder)


def _settle(connections: Connections, wanted: Any, analyzers: Sequence[str]) -> Settings:
    embedder = StaticEmbedder() if wanted == DEFAULT else None if wanted is None else as_embedder(wanted)
    names = tuple(check_analyzer(name) for name in analyzers)
    model = embedder.model_name if embedder else GIVEN
    values = {"embedder": embedder and embedder.model_dump(mode="json"), "model": model, "analyzers": names}
    with connections.writing() as connection:
        connection.executemany(
            "INSERT OR REPLACE INTO settings VALUES (?, ?)",
            [(name, json.dumps(value)) for name, value in values.items()],
        )
    return Settings(embedder, names, model)


def _settled(connections: Connections, wanted: Any) -> Settings:
    with connections.reading() as connection:
        values = {name: json.loads(value) for name, value in connection.execute("SELECT name, value FROM settings")}
    names, model, stored = tuple(values.get("analyzers", ())), values.get("model", GIVEN), values.get("embedder")
    if wanted != DEFAULT:
        embedder = None if wanted is None else as_embedder(wanted)
        offered = embedder.model_name if embedder else GIVEN
        if offered != model:
            raise KnowledgeBaseError(
                f"{connections.path}: holds vectors of {model!r}, not of {offered!r}; "
                "open it without naming an embedder, or index into a new file"
            )
        return Settings(embedder, names, model)
    if stored is None or stored["kind"] == "callable":
        return Settings(None, names, model)
    import hopweave.catalogue  # noqa: F401 - so that every embedder's kind is known

    known = registered(Embedder)
    if stored["kind"] not in known:
        raise KnowledgeBaseError(
            f"{connections.path}: was made with embedder {stored['kind']!r}, which is not installed; "
            f"there are {', '.join(known)}"
        )
    return Settings(cast(Embedder, known[stored["kind"]].model_validate(stored)), names, model)
