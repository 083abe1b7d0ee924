"""What is settled when a file is new: embedder, analyzers and graph builders."""

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import islice
from pathlib import Path
from typing import Any, Literal

import numpy as np
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

    def check_vectors(self, documents: Iterable[Document], vectors_of: str | None) -> Iterator[Document]:
        """The documents; an error at the first whose vector is not of the model whose vectors the file holds."""
        dimension = None
        for document in checked_documents(documents):
            if document.vector is not None:
                if vectors_of != self.model and not (vectors_of is None and self.named):
                    whose = "a model that was not named" if vectors_of is None else repr(vectors_of)
                    raise KnowledgeBaseError(
                        f"document {document.id!r}: comes with a vector of {whose}, but the file holds those of "
                        f"{self.model!r}; open it with embedder=... for the model of the vectors, with embedder=None "
                        "to keep vectors as given, or leave them out"
                    )
                dimension = dimension or self._dimension or len(document.vector)
                if len(document.vector) != dimension:
                    raise KnowledgeBaseError(
                        f"document {document.id!r}: its vector has {len(document.vector)} numbers, but those of model "
                        f"{self.model!r} have {dimension}"
                    )
            yield document

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


_EXAMINED = 3  # documents; an embedder may be slow
_SAME = 0.99  # cosine from which two vectors are of one model, rounding and truncation included


def are_vectors_of(embedder: Embedder, documents: Sequence[Document]) -> bool:
    """Whether the vectors that documents carry are those of a model, judged by making a few of them again.

    Documents without a vector or text say nothing; where none says anything, the answer is yes.

    >>> from hopweave.vector.embedders import StaticEmbedder
    >>> own = StaticEmbedder().embed(["A ferry."])[0]
    >>> are_vectors_of(StaticEmbedder(), [Document("a", "A ferry.", vector=own)])
    True
    >>> are_vectors_of(StaticEmbedder(), [Document("a", "A ferry.", vector=own[::-1])])
    False
    """
    comparable = (one for one in documents if one.vector is not None and one.text.strip())
    return all(_is_vector_of(embedder, one) for one in islice(comparable, _EXAMINED))


def _is_vector_of(embedder: Embedder, document: Document) -> bool:
    given = np.asarray(document.vector, np.float64)
    made = np.asarray(embedder.embed([document.searchable, document.text]), np.float64)
    if made.shape[1:] != given.shape:
        return False
    lengths = np.linalg.norm(made, axis=1) * np.linalg.norm(given)
    return bool((made @ given >= _SAME * lengths).any())
