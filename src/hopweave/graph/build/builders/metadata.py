"""Edges from what the metadata says: ids of other documents, parents and children, values that documents share."""

from collections.abc import Iterator, Mapping
from typing import Literal

from pydantic import Field

from hopweave.document import Document
from hopweave.graph.build.builders.addresses import PATH_FIELDS, addresses_of, named_in
from hopweave.graph.build.builders.builder import GraphBuilder
from hopweave.graph.model import ADDRESS, EDGE_TYPE_WEIGHTS, Contribution, Edge, Mention, Node

REFERENCES: Mapping[str, str] = {
    **{name: name for name in EDGE_TYPE_WEIGHTS},
    "parent": "part_of",
    "parent_id": "part_of",
    "next": "followed_by",
    "next_id": "followed_by",
    "related": "relates_to",
    "references": "relates_to",
}
INVERSE_REFERENCES: Mapping[str, str] = {
    "children": "part_of",
    "child_ids": "part_of",
    "previous": "followed_by",
    "previous_id": "followed_by",
}


class MetadataBuilder(GraphBuilder):
    """Connects documents through their metadata.

    A field in `references` holds what this document points to, one in `inverse_references` what points to it: ids,
    titles, paths or URLs of documents. A field in `shared` holds values; documents with the same value meet in its
    node.

    >>> found = MetadataBuilder().contribute(Document("d", "", {"parent": "book", "tags": ["ferries", "Harris"]}))
    >>> [(edge.source, edge.type, edge.target) for edge in found.edges]
    [('passage:d', 'part_of', 'address:book')]
    >>> [(mention.kind, mention.name) for mention in found.mentions]
    [('tags', 'ferries'), ('tags', 'Harris')]
    """

    kind: Literal["metadata"] = "metadata"
    references: dict[str, str] = Field(
        default=dict(REFERENCES), description="Fields that refer to other documents, and the type of the edge to them."
    )
    inverse_references: dict[str, str] = Field(
        default=dict(INVERSE_REFERENCES),
        description="Fields that refer to other documents, and the type of the edge from them.",
    )
    shared: tuple[str, ...] = Field(
        default=("author", "authors", "category", "keywords", "tags", "topic", "topics"),
        description="Fields whose values connect the documents that have them.",
    )
    path_fields: tuple[str, ...] = Field(
        default=PATH_FIELDS, description="Metadata fields that hold the document's own path."
    )
    weight: float = Field(default=1.0, gt=0, description="Weight of an edge.")

    def contribute(self, document: Document) -> Contribution:
        """The passage, what it is called, its references and its shared values."""
        passage = Node.passage(document.id, document.title)
        return Contribution(
            document.id,
            nodes=(passage,),
            edges=tuple(dict.fromkeys(self._edges(document, passage.id))),
            mentions=tuple(
                Mention(name, type=field, weight=self.weight, kind=field)
                for field in self.shared
                for name in dict.fromkeys(named_in(document.metadata.get(field)))
            ),
            addresses=addresses_of(document, self.path_fields),
        )

    def _edges(self, document: Document, passage: str) -> Iterator[Edge]:
        for field, edge_type in self.references.items():
            for name in named_in(document.metadata.get(field)):
                yield Edge(passage, ADDRESS + name, edge_type, self.weight)
        for field, edge_type in self.inverse_references.items():
            for name in named_in(document.metadata.get(field)):
                yield Edge(ADDRESS + name, passage, edge_type, self.weight)
