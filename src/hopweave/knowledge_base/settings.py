"""What is settled when a file is new: embedder, analyzers and graph builders."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from hopweave.component import Embedder, registered
from hopweave.errors import KnowledgeBaseError, explain
from hopweave.graph.build.builder import GraphBuilder
from hopweave.graph.build.links import LinksBuilder
from hopweave.graph.build.mentions import MentionsBuilder
from hopweave.knowledge_base.connections import Connections
from hopweave.text.analyzers import check_analyzer
from hopweave.vector.embedders import StaticEmbedder, as_embedder

DEFAULT = "default"
DEFAULT_BUILDERS: tuple[GraphBuilder, ...] = (MentionsBuilder(), LinksBuilder())
GIVEN = "given"  # the model name of vectors that come with their documents, when there is no embedder


@dataclass(frozen=True, slots=True)
class Settings:
    """How the documents of a file are indexed. `model` names the model whose vectors it holds."""

    embedder: Embedder | None
    analyzers: tuple[str, ...]
    model: str
    builders: tuple[GraphBuilder, ...]

    @classmethod
    def of(
        cls,
        connections: Connections,
        embedder: Any,
        analyzers: Sequence[str] | None,
        builders: Sequence[GraphBuilder] | None,
    ) -> "Settings":
        """Settle a new file; of any other, read what was settled and check that it fits what is asked for."""
        wanted = None if analyzers is None else tuple(dict.fromkeys(check_analyzer(name) for name in analyzers))
        given = embedder if embedder in (None, DEFAULT) else as_embedder(embedder)
        values = _stored(connections)
        if not values:
            first = StaticEmbedder() if given == DEFAULT else given
            values = _values(
                first, ("nlp",) if wanted is None else wanted, DEFAULT_BUILDERS if builders is None else builders
            )
            if not connections.read_only:
                values = _settle(connections, values)
        names, model = tuple(values["analyzers"]), values["model"]
        if wanted is not None and set(wanted) != set(names):
            raise KnowledgeBaseError(
                f"{connections.path}: is indexed with analyzers {', '.join(names)}, not {', '.join(wanted)}; "
                "open it without naming analyzers, or index into a new file"
            )
        made = tuple(_restored(GraphBuilder, description, connections) for description in values["graph"])
        if builders is not None and tuple(builders) != made:
            raise KnowledgeBaseError(
                f"{connections.path}: its graph is built by {', '.join(one.kind for one in made) or 'nothing'}; "
                "open it without naming builders, or index into a new file"
            )
        if given == DEFAULT:
            stored = values["embedder"]
            return cls(stored and _restored(Embedder, stored, connections), names, model, made)
        offered = given.model_name if given else GIVEN
        if offered != model:
            raise KnowledgeBaseError(
                f"{connections.path}: holds vectors of {model!r}, not of {offered!r}; "
                "open it without naming an embedder, or index into a new file"
            )
        return cls(given, names, model, made)


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


def _values(embedder: Embedder | None, analyzers: Sequence[str], builders: Sequence[GraphBuilder]) -> dict[str, Any]:
    return {
        "graph": [builder.model_dump(mode="json") for builder in builders],
        "embedder": None if embedder is None else _described(embedder),
        "model": embedder.model_name if embedder else GIVEN,
        "analyzers": list(analyzers),
    }


def _described(embedder: Embedder) -> dict[str, Any] | None:
    """What is needed to make the embedder again; None if that takes more than words, as a function does."""
    description = embedder.model_dump(mode="json")
    try:
        return description if _made(Embedder, description) == embedder else None
    except (KeyError, ValidationError):
        return None


def _restored(role: type[Any], description: dict[str, Any], connections: Connections) -> Any:
    try:
        return _made(role, description)
    except KeyError as error:
        raise KnowledgeBaseError(
            f"{connections.path}: was made with {description['kind']!r}, which is not installed; "
            f"there are {', '.join(registered(role))}"
        ) from error
    except ValidationError as error:
        raise KnowledgeBaseError(
            f"{connections.path}: its {description['kind']!r} cannot be made: {explain(error)}"
        ) from error


def _made(role: type[Any], description: dict[str, Any]) -> Any:
    import hopweave.catalogue  # noqa: F401 - so that every kind is known

    return registered(role)[description["kind"]].model_validate(description)
