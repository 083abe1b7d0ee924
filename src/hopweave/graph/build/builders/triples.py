"""Entities and typed relations from subject, relation and object, whoever extracted them."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from pydantic import Field

from hopweave.document import Document
from hopweave.errors import UnreadableInput
from hopweave.graph.build.builders.addresses import named_in
from hopweave.graph.build.builders.builder import GraphBuilder
from hopweave.graph.model import Contribution, Edge, Mention, Node
from hopweave.language.words import normalise_name

_KEYS = (
    ("subject", "predicate", "object"),
    ("subject", "relation", "object"),
    ("head", "relation", "tail"),
    ("source", "type", "target"),
)
_BETWEEN_WORDS = re.compile(r"[\W_]+")


def relation_type(relation: str) -> str:
    """A relation as an edge type, in snake_case.

    >>> relation_type("is part of"), relation_type("Feeds-into"), relation_type("首都"), relation_type("→")
    ('is_part_of', 'feeds_into', '首都', '→')
    """
    folded = normalise_name(relation)
    return _BETWEEN_WORDS.sub("_", folded).strip("_") or folded


class TriplesBuilder(GraphBuilder):
    """Connects the entities of a document's triples with one another, and the passage with each of them.

    The metadata field holds triples as lists of three strings or as mappings with subject, predicate and object
    (also subject/relation/object, head/relation/tail, source/type/target).

    What a triple names is an entity by the same rules as any name: a single word that the texts mostly write in lower
    case (city, author) is none, and its triples are left out, unless a passage is about it or `ordinary_words` is set.

    >>> document = Document("d", "", {"triples": [["MV Skua", "sails to", "Harris"]]})
    >>> [(edge.source, edge.type, edge.target) for edge in TriplesBuilder().contribute(document).edges]
    [('entity:mv skua', 'sails_to', 'entity:harris')]
    """

    kind: Literal["triples"] = "triples"
    field: str = Field(default="triples", description="The metadata field that holds the triples.")
    entities_field: str = Field(default="entities", description="The metadata field that holds further names, if any.")
    weight: float = Field(
        default=0.1,
        gt=0,
        description="Weight of an edge. Extracted triples are many and noisy: beside mentions, less is more.",
    )
    ordinary_words: bool = Field(
        default=False,
        description="Whether single words in lower case are entities as well, as suits a graph of technical terms.",
    )
    skip_malformed: bool = Field(
        default=False, description="Leave out what is not a triple instead of raising an error."
    )

    def contribute(self, document: Document) -> Contribution:
        """The passage, the entities and their relations."""
        return triples_contribution(
            document.id,
            document.metadata.get(self.field) or (),
            title=document.title,
            entities=named_in(document.metadata.get(self.entities_field)),
            weight=self.weight,
            ordinary_words=self.ordinary_words,
            skip_malformed=self.skip_malformed,
        )


def triples_contribution(
    document_id: str,
    triples: Iterable[Any],
    *,
    title: str = "",
    entities: Iterable[str] = (),
    weight: float = 1.0,
    ordinary_words: bool = False,
    skip_malformed: bool = False,
) -> Contribution:
    """What triples that are kept apart from their document contribute to the graph.

    >>> triples_contribution("d", [("a", "is", "b"), ("a", "is")])
    Traceback (most recent call last):
        ...
    hopweave.errors.UnreadableInput: document 'd', triple 1: ('a', 'is') is not a subject, a relation and an object
    """
    read: list[tuple[str, str, str]] = []
    for position, triple in enumerate(triples):
        found = _read(triple)
        if found:
            read.append(found)
        elif not skip_malformed:
            raise UnreadableInput(
                f"document {document_id!r}, triple {position}: {triple!r} is not a subject, a relation and an object"
            )
    names = dict.fromkeys(name for subject, _, target in read for name in (subject, target))
    declared = {node.id: node for node in map(Node.entity, names if ordinary_words else ())}
    return Contribution(
        document_id,
        nodes=(Node.passage(document_id, title), *declared.values()),
        edges=tuple(
            Edge(Node.entity(subject).id, Node.entity(target).id, relation_type(relation), weight, relation)
            for subject, relation, target in dict.fromkeys(read)
        ),
        mentions=tuple(Mention(name, weight=weight) for name in dict.fromkeys([*names, *entities])),
    )


def _read(triple: Any) -> tuple[str, str, str] | None:
    if isinstance(triple, Mapping):
        parts: Sequence[Any] = next(
            ([triple[key] for key in keys] for keys in _KEYS if all(key in triple for key in keys)), ()
        )
    else:
        parts = triple if isinstance(triple, list | tuple) else ()
    if len(parts) != 3 or not all(isinstance(part, str) and part.strip() for part in parts):
        return None
    subject, relation, target = (" ".join(part.split()) for part in parts)
    return subject, relation, target
