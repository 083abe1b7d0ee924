"""A graph whose documents live in somebody else's store."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from hopweave.component import Ranking
from hopweave.errors import HopweaveError
from hopweave.filters import matches
from hopweave.graph.port import GraphPort
from hopweave.hit import Hit, Vector

Fetch = Callable[[list[str]], Iterable[Hit]]
"""Ids in, the documents that are there out, as hits."""


class DocumentsElsewhere:
    """What graph sources need to know, of documents that only somebody else's store holds.

    Walks go over `graph`; what they find is fetched by id, and what the store does not have is left out. To search by
    words or vectors, ask the store itself and hand its hits to the graph source as those of another source.

    >>> from hopweave.graph.model import Contribution, Node
    >>> from hopweave.graph.resolve import resolve
    >>> graph = resolve([Contribution("d", (Node.passage("d"), Node.passage("lost")))]).graph()
    >>> shelf = {"d": Hit("d", text="The Skua sails hourly.", metadata={"owner": "harbour"})}
    >>> there = DocumentsElsewhere(graph, lambda ids: [shelf[key] for key in ids if key in shelf])
    >>> there.get(["d", "lost"])["d"].text, there.visible({"owner": "harbour"}), there.visible({"owner": "museum"})
    ('The Skua sails hourly.', frozenset({'d'}), frozenset())
    """

    def __init__(self, graph: GraphPort, fetch: Fetch) -> None:
        self.graph = graph
        self._fetch = fetch

    @property
    def version(self) -> int:
        """That of the graph."""
        return self.graph.version

    def get(self, ids: Iterable[str], *, tenant: Mapping[str, Any] | None = None) -> dict[str, Hit]:
        """The documents with these ids as the store has them; ids that do not exist are left out."""
        found = {hit.id: hit for hit in self._fetch(list(ids))}
        return {key: hit for key, hit in found.items() if matches(tenant or {}, hit.metadata)}

    def visible(self, tenant: Mapping[str, Any]) -> frozenset[str]:
        """The ids of the documents that a tenant may see."""
        nodes = self.graph.nodes(np.arange(self.graph.size))
        return frozenset(self.get([node.document_id for node in nodes if node.document_id], tenant=tenant))

    def vectors(self, ids: Iterable[str]) -> dict[str, Vector]:
        """The vectors that come with the documents."""
        return {key: hit.vector for key, hit in self.get(ids).items() if hit.vector is not None}

    def rank_text(self, *_: Any, **__: Any) -> Ranking:
        """Refused: the words are not here."""
        raise _elsewhere("words")

    def rank_full_text(self, *_: Any, **__: Any) -> Ranking:
        """Refused: the words are not here."""
        raise _elsewhere("words")

    def rank_vectors(self, *_: Any, **__: Any) -> Ranking:
        """Refused: the vectors are not here."""
        raise _elsewhere("vectors")

    def embed(self, text: str) -> tuple[str, Vector]:
        """Refused: there is no embedder here."""
        raise _elsewhere(f"the vector of {text!r}")


def _elsewhere(what: str) -> HopweaveError:
    return HopweaveError(f"{what}: these documents live in another store; search there, and pass its hits on")
