"""What is settled when a file is new: embedder, analyzers and graph builders."""

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import islice
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError

from hopweave.component import Embedder, registered
from hopweave.concurrency.once import once
from hopweave.document import Document, checked_documents
from hopweave.errors import KnowledgeBaseError, explain
from hopweave.graph.build.builders.builder import GraphBuilder, warn_of_older_rules
from hopweave.graph.build.builders.links import LinksBuilder
from hopweave.graph.build.builders.mentions import MentionsBuilder
from hopweave.graph.build.builders.parts import PartsBuilder
from hopweave.knowledge_base.conditions import stored_tenant_fields
from hopweave.knowledge_base.connections import Connections
from hopweave.knowledge_base.schema import digest_of, stem_full_text
from hopweave.knowledge_base.vector_models import foreign_vector, made_by
from hopweave.text.analyzers import check_analyzer, is_english
from hopweave.vector.embedders import StaticEmbedder, as_embedder
from hopweave.vector.graph_embedder import GraphEmbedder

_DIGEST = "digest"


def read_settings(connection: sqlite3.Connection, path: Path) -> dict[str, Any]:
    """The settings by name; none if the file is new."""
    rows = _rows(connection)
    digest = rows.pop(_DIGEST, None)
    try:
        if digest is not None and digest != _digest(rows):
            raise ValueError("they are not as they were stored")
        return {name: json.loads(value) for name, value in rows.items()}
    except (ValueError, TypeError, RecursionError) as error:
        raise KnowledgeBaseError(f"{path}: its settings cannot be read: {error}") from error


def write_settings(connection: sqlite3.Connection, values: Mapping[str, Any]) -> None:
    """Store settings in place of those of the same names, inside the caller's transaction."""
    rows = {**_rows(connection), **{name: json.dumps(value) for name, value in values.items()}}
    rows.pop(_DIGEST, None)
    rows[_DIGEST] = _digest(rows)
    connection.executemany("INSERT OR REPLACE INTO settings VALUES (?, ?)", rows.items())


def record_tenant_fields(connection: sqlite3.Connection, tenant: Mapping[str, Any] | None) -> None:
    """Before documents of a tenant are written: note its fields, if all documents so far are those of tenants.

    Of several writers with different fields, those count that all have, or else those of the first.
    """
    if tenant is None:
        return
    known = stored_tenant_fields(connection)
    if known or connection.execute("SELECT 1 FROM documents LIMIT 1").fetchone() is None:
        common = [name for name in known if name in tenant] or list(known) or sorted(tenant)
        if common != list(known):
            write_settings(connection, {"tenant_fields": common})


def _rows(connection: sqlite3.Connection) -> dict[str, str]:
    return dict(connection.execute("SELECT name, value FROM settings").fetchall())


def _digest(rows: Mapping[str, str]) -> str:
    return digest_of(*(part for name in sorted(rows) for part in (name, rows[name]))).hex()


class Unset(Enum):
    """What a parameter is when it was not given, where None means something else."""

    UNSET = "unset"


UNSET = Unset.UNSET
DEFAULT_BUILDERS: tuple[GraphBuilder, ...] = (MentionsBuilder(), LinksBuilder(), PartsBuilder())
GIVEN = "given"  # the model name of vectors that come with their documents, when there is no embedder


@dataclass(frozen=True, slots=True)
class Settings:
    """How the documents of a file are indexed. `model` names the model whose vectors it holds.

    `named` says that whoever opened the file named its embedder, or that it has none.
    """

    embedder: Embedder | None
    analyzers: tuple[str, ...]
    model: str
    builders: tuple[GraphBuilder, ...]
    own_share: float = 1.0
    named: bool = True

    @classmethod
    def of(
        cls,
        connections: Connections,
        embedder: Any,
        analyzers: Sequence[str] | None = None,
        builders: Sequence[GraphBuilder] | None = None,
        own_share: float | None = None,
        *,
        holds: Literal["documents", "graph"] | None = None,
    ) -> "Settings":
        """Store the settings of a new file; of any other, read them and check that they are those asked for.

        With `holds`, a file that holds something else is refused: one with a graph alone has no analyzers, and all
        others have some.
        """
        given = embedder if embedder is UNSET or embedder is None else as_embedder(embedder)
        wanted = None if analyzers is None else tuple(dict.fromkeys(check_analyzer(name) for name in analyzers))
        if own_share is not None and not 0 < own_share <= 1:
            raise ValueError(f"own_share: {own_share} is not allowed; it must lie above 0 and be at most 1")
        if holds == "documents" and wanted == ():
            raise ValueError("analyzers: at least one is needed, but got none")
        stored = _stored(connections)
        if holds == "graph" and stored.get("analyzers"):
            raise KnowledgeBaseError(
                f"{connections.path}: is a knowledge base, not a graph; give it as knowledge_base, which searches the "
                "graph in it, or name another file for the graph"
            )
        if holds == "documents" and stored:
            _check_documents(connections.path, stored["analyzers"])
        stored = stored or _stored_first(connections, given, wanted, builders, own_share)
        return cls(
            embedder=_checked_embedder(connections, stored, given),
            analyzers=_checked_analyzers(connections, stored, wanted),
            model=stored["model"],
            builders=_checked_builders(connections, stored, builders),
            own_share=_checked_own_share(connections, stored, own_share),
            named=given is not UNSET or stored["model"] == GIVEN,
        )

    def check_documents(self, path: Path) -> None:
        """Raise an error if the file holds a graph alone."""
        _check_documents(path, self.analyzers)

    @property
    def models(self) -> tuple[str, ...]:
        """The names of all models whose vectors of every document the file should hold."""
        own = () if self.model == GIVEN else (self.model,)
        return tuple(dict.fromkeys((*own, *(self.embedder.model_names if self.embedder else ()))))

    def check_vectors(
        self, documents: Iterable[Document], vectors_of: str | None, at_once: int = 256
    ) -> Iterator[Document]:
        """The documents; an error at the first whose vector is not of the model whose vectors the file holds."""
        dimension, stream = None, iter(checked_documents(documents))
        while chunk := list(islice(stream, at_once)):
            brought = [one for one in chunk if one.vector is not None]
            if vectors_of is not None:  # before their width, which says less
                self._check_models(brought, vectors_of)
            for document in brought:
                width = 0 if document.vector is None else len(document.vector)
                dimension = dimension or self._dimension or width
                if width != dimension:
                    raise KnowledgeBaseError(
                        f"document {document.id!r}: its vector has {width} numbers, but those of model {self.model!r} "
                        f"have {dimension}"
                    )
            if vectors_of is None:
                self._check_models(brought, vectors_of)
            yield from chunk

    def _check_models(self, documents: Sequence[Document], vectors_of: str | None) -> None:
        """Vectors of a named model are believed; of those without, a sample is made again."""
        if not documents or self.model in (vectors_of, GIVEN):
            return
        foreign: Document | None = documents[0]
        if vectors_of is None and self.embedder is not None:
            try:
                foreign = foreign_vector(self.embedder, documents)
            except Exception:  # a service that does not answer now must not stop documents that bring their vectors
                foreign = None if self.named else foreign
        if foreign is not None:
            whose = "a model that was not named" if vectors_of is None else repr(vectors_of)
            raise KnowledgeBaseError(
                f"document {foreign.id!r}: comes with a vector of {whose}, but the file holds those of {self.model!r}; "
                "open it with embedder=... for the model of the vectors, with embedder=None to keep vectors as given, "
                "or leave them out"
            )

    @property
    def _dimension(self) -> int | None:
        try:
            return None if self.embedder is None else _dimension(self.embedder, self.model)
        except Exception:  # a service that does not answer now must not stop documents that bring their vectors
            return None


def _check_documents(path: Path, analyzers: Sequence[str]) -> None:
    if not analyzers:
        raise KnowledgeBaseError(
            f"{path}: holds a graph alone, not the documents; give it as graph, with the store that holds the "
            "documents, or name another file for a knowledge base"
        )


@once(max_entries=16)
def _dimension(embedder: Embedder, model: str) -> int | None:
    """How many numbers a vector of the embedder has; None if another model answers in its place."""
    name, rows = embedder.embed_named(["?"])
    return rows.shape[1] if name == model else None


def _checked_analyzers(
    connections: Connections, stored: Mapping[str, Any], wanted: tuple[str, ...] | None
) -> tuple[str, ...]:
    names = tuple(stored["analyzers"])
    if wanted is not None and set(wanted) != set(names):
        raise KnowledgeBaseError(
            f"{connections.path}: is indexed with analyzers {', '.join(names)}, not {', '.join(wanted)}; "
            "open it without naming analyzers, or index into a new file"
        )
    return names


def _checked_builders(
    connections: Connections, stored: Mapping[str, Any], wanted: Sequence[GraphBuilder] | None
) -> tuple[GraphBuilder, ...]:
    made = tuple(_restored(GraphBuilder, description, connections) for description in stored["graph"])
    if wanted is not None and tuple(wanted) != made:
        raise KnowledgeBaseError(
            f"{connections.path}: its graph is built by {', '.join(one.kind for one in made) or 'nothing'}; "
            "open it without naming builders, or index into a new file"
        )
    warn_of_older_rules(connections.path, made, stored["graph"])
    return made


def _checked_own_share(connections: Connections, stored: Mapping[str, Any], wanted: float | None) -> float:
    share = float(stored.get("own_share", 1.0))  # which older files do not have
    if wanted is not None and wanted != share:
        raise KnowledgeBaseError(
            f"{connections.path}: its own_share is {share:g}, not {wanted:g}; open it without naming one, set that of "
            "the source vector, or index into a new file"
        )
    return share


def _checked_embedder(
    connections: Connections, stored: Mapping[str, Any], given: Embedder | Unset | None
) -> Embedder | None:
    if given is UNSET:
        description = stored["embedder"]
        if description is None:
            return None
        return _with_stored_weights(_restored(Embedder, description, connections).named_by_file(), connections)
    model, offered = stored["model"], given.model_name if given else GIVEN
    if offered != model:
        raise KnowledgeBaseError(
            f"{connections.path}: holds vectors of {model!r}, not of {offered!r}; "
            "open it without naming an embedder, or index into a new file"
        )
    return given


def _with_stored_weights(embedder: Embedder, connections: Connections) -> Embedder:
    """The same embedder; one that was trained on this file gets its weights from it."""
    if not isinstance(embedder, GraphEmbedder):
        return embedder
    with connections.reading() as connection:
        try:
            found = connection.execute("SELECT data FROM weights WHERE model = ?", (embedder.name,)).fetchone()
        except sqlite3.OperationalError:
            found = None
    if not found:
        raise KnowledgeBaseError(f"{connections.path}: the weights of its embedder {embedder.name!r} are missing")
    return embedder.model_copy(update={"weights": bytes(found[0])})


def _stored_first(
    connections: Connections,
    embedder: Embedder | Unset | None,
    analyzers: Sequence[str] | None,
    builders: Sequence[GraphBuilder] | None,
    own_share: float | None,
) -> dict[str, Any]:
    """The settings of a new file, written to it unless it can only be read."""
    values = _values(
        StaticEmbedder() if embedder is UNSET else embedder,
        ("nlp",) if analyzers is None else analyzers,
        DEFAULT_BUILDERS if builders is None else builders,
    )
    if own_share is not None:
        values["own_share"] = own_share
    return values if connections.read_only else _settle(connections, values)


def _stored(connections: Connections) -> dict[str, Any]:
    with connections.reading() as connection:
        return read_settings(connection, connections.path)


def _settle(connections: Connections, values: dict[str, Any]) -> dict[str, Any]:
    with connections.writing() as connection:
        if not read_settings(connection, connections.path):
            write_settings(connection, values)
            if any(is_english(name) for name in values["analyzers"]):
                stem_full_text(connection)
    return _stored(connections)  # another process may have been first


def _values(embedder: Embedder | None, analyzers: Sequence[str], builders: Sequence[GraphBuilder]) -> dict[str, Any]:
    for number, builder in enumerate(builders):
        if not isinstance(builder, GraphBuilder):
            raise TypeError(
                f"builders: must be graph builders, as MentionsBuilder(), but number {number} is {builder!r}"
            )
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


_STATIC, _STATIC_WIDTH = StaticEmbedder(), 256  # vectors of other widths are not compared, which would load it


def of_one_model(
    documents: Iterable[Document],
    settings: Settings,
    connections: Connections,
    vectors_of: str | None,
    at_once: int = 256,
) -> Iterator[Document]:
    """The documents; an error at the first whose vector is of another model than those in the file."""
    if settings.model != GIVEN:
        return settings.check_vectors(documents, vectors_of, at_once)
    named = None if vectors_of == GIVEN else vectors_of
    return _check_given(settings.check_vectors(documents, None, at_once), named, _name_once(connections), at_once)


def _name_once(connections: Connections) -> Callable[[str], str]:
    """Notes the model of the first vectors in a file, and returns the one that counts."""
    noted: list[str] = []

    def name_once(name: str) -> str:
        if not noted:
            with connections.writing(same_content=True) as connection:
                known = read_settings(connection, connections.path).get("given_model")
                empty = connection.execute("SELECT 1 FROM vectors LIMIT 1").fetchone() is None
                noted.append(name if known is None or empty else str(known))
                if known != noted[0]:
                    write_settings(connection, {"given_model": noted[0]})
        return noted[0]

    return name_once


def _check_given(
    documents: Iterable[Document], vectors_of: str | None, name_once: Callable[[str], str], at_once: int = 256
) -> Iterator[Document]:
    """The documents of a file that keeps vectors as given; an error at the first of another model than those before.

    The model is the one that is named, or else that of the static embedder or another one, which can be told apart.
    `name_once` notes it if there is none yet, and returns the one that counts.
    """
    stream = iter(documents)
    while chunk := list(islice(stream, at_once)):
        brought = [one for one in chunk if one.vector is not None]
        for one, name in zip(brought, _names(brought, vectors_of), strict=True):
            if name is not None and (known := name_once(name)) != name:
                raise KnowledgeBaseError(
                    f"document {one.id!r}: comes with a vector of {_whose(name)}, but the file holds those of "
                    f"{_whose(known)}; vectors of two models cannot be compared: write them to another file, or "
                    "name their model, if it is the same"
                )
        yield from chunk


def _names(documents: Sequence[Document], vectors_of: str | None) -> list[str | None]:
    if vectors_of is not None or not documents:
        return [vectors_of] * len(documents)
    alike = [
        one
        for one in documents
        if len(one.vector if one.vector is not None else ()) == _STATIC_WIDTH and one.text.strip()
    ]
    static = {id(one) for one, same in zip(alike, made_by(_STATIC, alike), strict=True) if same}
    return [_STATIC.model_name if id(one) in static else UNNAMED if one.text.strip() else None for one in documents]


UNNAMED = ""
"""The name of a model that nobody has named, and that is not the static embedder's."""


def _whose(name: str) -> str:
    return repr(name) if name else "a model that was not named"
