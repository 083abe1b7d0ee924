"""The interface of graph builders: one document in, its contribution out."""

import logging
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from hopweave.component import Component, add_role
from hopweave.document import Document
from hopweave.graph.model import Contribution

logger = logging.getLogger(__name__)


class GraphBuilder(Component, ABC):
    """Makes the contribution of one document to the graph, whatever other documents there are.

    What depends on the others (is a phrase an entity? which titles does this text mention? how rare is a name?) is
    decided in `graph/build/changes.py` whenever a document is written. So adding, changing and deleting documents in
    any order gives the graph of the documents that are left.
    """

    @abstractmethod
    def contribute(self, document: Document) -> Contribution:
        """Nodes, edges and mentions of this document alone."""


add_role(GraphBuilder)


def merge(document_id: str, contributions: Iterable[Contribution]) -> Contribution:
    """What several builders say about one document, as one contribution; repeated nodes are kept once.

    >>> from hopweave.graph.model import Node
    >>> both = [Contribution("d", (Node.passage("d"),)), Contribution("d", (Node.passage("d"), Node.entity("Skua")))]
    >>> [node.id for node in merge("d", both).nodes]
    ['passage:d', 'entity:skua']
    """
    every = list(contributions)
    if len(every) == 1:
        return every[0]
    return Contribution(
        document_id,
        tuple({(node.id, node.name): node for one in every for node in one.nodes}.values()),
        tuple(edge for one in every for edge in one.edges),
        tuple(mention for one in every for mention in one.mentions),
        next((one.words for one in every if one.words), ""),
        tuple(dict.fromkeys(address for one in every for address in one.addresses)),
    )


def contribute_all(builders: Sequence[GraphBuilder], documents: Iterable[Document]) -> Iterator[Contribution]:
    """One merged contribution per document, as they come; wrap the documents in a progress bar if you like.

    >>> from hopweave.graph.build.builders.mentions import MentionsBuilder
    >>> found = contribute_all([MentionsBuilder()], [Document("d", "MV Skua is a ferry.")])
    >>> [one.document_id for one in found]
    ['d']
    """
    for document in documents:
        yield merge(document.id, [builder.contribute(document) for builder in builders])


def warn_of_older_rules(where: object, builders: Sequence[GraphBuilder], stored: Sequence[Mapping[str, Any]]) -> None:
    """Log a warning if a graph was begun before builders had all the parameters that they have now.

    What a document contributes is stored, so the documents of then keep what was found in them then.
    """
    for builder, description in zip(builders, stored, strict=True):
        if new := sorted(builder.model_dump().keys() - description.keys()):
            logger.warning(
                "%s: its graph was begun when the builder %r had no %s; documents that it held then keep what "
                "was found in them until they change; index them into a new file or schema to have all read alike",
                where,
                builder.kind,
                ", ".join(new),
            )
