"""Edges between the parts of one document: splitters leave in the metadata which document a part is of."""

from collections.abc import Iterator
from typing import Literal

from pydantic import Field

from hopweave.document import Document
from hopweave.graph.build.builders.about import opening_names
from hopweave.graph.build.builders.builder import GraphBuilder
from hopweave.graph.model import ADDRESS, Contribution, Edge, Mention, Node, passage_id


class PartsBuilder(GraphBuilder):
    """Connects the parts of a document with the document and each part with the next.

    So a part that does not name what its document is about is found from a part that does. The document is what
    `source_id` (Haystack), `ref_doc_id` (LlamaIndex) or, for parts that are numbered, `source` says; the place of a
    part is `split_id` or `part`, and `next_id` names the next part outright. A document that is not in parts
    contributes nothing.

    What a document without a title is about is inferred from its first part: its first heading, or else what its first
    sentence defines. The document is connected with that, and a question that names it leads to all its parts (up to
    `max_about` of the linker, by default 50; beyond that, along the edges).

    >>> part = Document("d2", "She sails daily.", {"source_id": "d", "split_id": 2})
    >>> found = PartsBuilder().contribute(part)
    >>> [(mention.name, mention.type) for mention in found.mentions]
    [('d', 'part_of')]
    >>> [(edge.source, edge.type, edge.target) for edge in found.edges]
    [('address:d#1', 'followed_by', 'passage:d2')]
    >>> first = Document("d0", "MV Skua is a ferry.", {"source_id": "d", "split_id": 0})
    >>> [(edge.source, edge.target) for edge in PartsBuilder().contribute(first).edges if edge.type == "subject"]
    [('document:d', 'entity:mv skua')]
    """

    kind: Literal["parts"] = "parts"
    document_fields: tuple[str, ...] = Field(
        default=("source_id", "ref_doc_id"), description="Metadata fields that hold the id of the whole document."
    )
    number_fields: tuple[str, ...] = Field(
        default=("split_id", "part"), description="Metadata fields that hold the number of the part."
    )
    document_weight: float = Field(default=1.0, gt=0, description="Weight of the edge to the document.")
    next_weight: float = Field(default=0.5, gt=0, description="Weight of the edge between neighbouring parts.")
    subject_weight: float = Field(
        default=1.0,
        ge=0,
        description="Weight of the edge from a document without a title to what it is about; 0 for none.",
    )

    def contribute(self, document: Document) -> Contribution:
        """The passage, the document it is a part of, its place among the parts, and what the document is about."""
        passage = Node.passage(document.id, document.title)
        numbers = ((name, _number(document.metadata.get(name))) for name in self.number_fields)
        field, number = next((one for one in numbers if one[1] is not None), ("", None))
        whole = self._whole(document, number)
        if not whole:
            return Contribution(document.id, nodes=(passage,))
        is_first = number == 0 or (number == 1 and field != "split_id")  # Haystack counts from 0
        untitled = is_first and self.subject_weight and not document.title
        subjects = opening_names(document.text) if untitled else []
        node = Node.entity(whole, "document").id
        return Contribution(
            document.id,
            nodes=(passage,),
            edges=(
                *self._neighbours(document, whole, number),
                *(Edge(node, Node.entity(name).id, "subject", self.subject_weight) for name in subjects),
            ),
            mentions=(
                Mention(whole, "part_of", self.document_weight, "document"),
                *(Mention(name, "about", self.subject_weight) for name in subjects),
            ),
            addresses=() if number is None else (f"{whole}#{number}",),
        )

    def _whole(self, document: Document, number: int | None) -> str:
        fields = self.document_fields if number is None else (*self.document_fields, "source")
        values = (document.metadata.get(name) for name in fields)
        return next((value for value in values if isinstance(value, str) and value.strip()), "")

    def _neighbours(self, document: Document, whole: str, number: int | None) -> Iterator[Edge]:
        passage, following = passage_id(document.id), document.metadata.get("next_id")
        if isinstance(following, str) and following:
            yield Edge(passage, passage_id(following), "followed_by", self.next_weight)
        elif number is not None:
            yield Edge(f"{ADDRESS}{whole}#{number - 1}", passage, "followed_by", self.next_weight)


def _number(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
