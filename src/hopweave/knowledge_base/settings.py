"""What is settled when a file is new: embedder and analyzers."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from pydantic import ValidationError

from hopweave.component import Embedder, registered
from hopweave.errors import KnowledgeBaseError, explain
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
    def of(cls, connections: Connections, embedder: Any, analyzers: Sequence[str] | None) -> "Settings":
        """Settle a new file; of any other, read what was settled and check that it fits what is asked for."""
        wanted = None if analyzers is None else tuple(dict.fromkeys(check_analyzer(name) for name in analyzers))
        given = embedder if embedder in (None, DEFAULT) else as_embedder(embedder)
        values = _stored(connections)
        if not values:
            first = StaticEmbedder() if given == DEFAULT else given
            values = _values(first, ("nlp",) if wanted is None else wanted)
            if not connections.read_only:
                values = _settle(connections, values)
        names, model = tuple(values["analyzers"]), values["model"]
        if wanted is not None and set(wanted) != set(names):
            raise KnowledgeBaseError(
                f"{connections.path}: is indexed with analyzers {', '.join(names)}, not {', '.join(wanted)}; "
                "open it without naming analyzers, or index into a new file"
            )
        if given == DEFAULT:
            return cls(_restored(values["embedder"], connections), names, model)
        offered = given.model_name if given else GIVEN
        if offered != model:
            raise KnowledgeBaseError(
                f"{connections.path}: holds vectors of {model!r}, not of {offered!r}; "
                "open it without naming an embedder, or index into a new file"
            )
        return cls(given, names, model)


def _stored(connections: Connections) -> dict[str, Any]:
    with connections.reading() as connection:
        return {name: json.loads(value) for name, value in connection.execute("SELECT name, value FROM settings")}


def _settle(connections: Connections, values: dict[str, Any]) -> dict[str, Any]:
    with connections.writing() as connection:
        connection.executemany(
            "INSERT OR IGNORE INTO settings VALUES (?, ?)",
            [(name, json.dumps(value)) for name, value in values.items()],
        )
    return _stored(connections)  # another process may have been first


def _values(embedder: Embedder | None, analyzers: Sequence[str]) -> dict[str, Any]:
    return {
        "embedder": None if embedder is None else _described(embedder),
        "model": embedder.model_name if embedder else GIVEN,
        "analyzers": list(analyzers),
    }


def _described(embedder: Embedder) -> dict[str, Any] | None:
    """What is needed to make the embedder again; None if that takes more than words, as a function does."""
    description = embedder.model_dump(mode="json")
    try:
        return description if _made(description) == embedder else None
    except (KeyError, ValidationError):
        return None


def _restored(description: dict[str, Any] | None, connections: Connections) -> Embedder | None:
    if description is None:
        return None
    try:
        return _made(description)
    except KeyError as error:
        raise KnowledgeBaseError(
            f"{connections.path}: was made with embedder {description['kind']!r}, which is not installed; "
            f"there are {', '.join(registered(Embedder))}"
        ) from error
    except ValidationError as error:
        raise KnowledgeBaseError(f"{connections.path}: its embedder cannot be made: {explain(error)}") from error


def _made(description: dict[str, Any]) -> Embedder:
    import hopweave.catalogue  # noqa: F401 - so that every embedder's kind is known

    return cast(Embedder, registered(Embedder)[description["kind"]].model_validate(description))
