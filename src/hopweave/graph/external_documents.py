"""Knowledge of documents that are kept in another store than the graph."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from copy import copy
from typing import Any, Protocol, TypeGuard, cast

import numpy as np

from hopweave.graph.documents import passage_numbers
from hopweave.graph.port import GraphPort
from hopweave.hit import Hit, Vector
from hopweave.knowledge import Capability, Knowledge, Unseen, Within
from hopweave.metadata.filters import Filters
from hopweave.metadata.tenants import in_tenant

Fetch = Callable[[list[str]], Iterable[Hit]]
"""Ids in, the documents that are there out, as hits."""


FetchPassing = Callable[[list[str], Filters], Iterable[Hit]]
"""Ids and filters in, the documents out that are there and pass, or more of them."""

_FETCHED_AT_ONCE = 500


class GraphHome(Protocol):
    """Something that keeps a graph and knows which documents tenants may see, such as a `GraphStore`.

    It may have a method `graph_for(tenant)` besides, as `Knowledge` does.
    """

    @property
    def graph(self) -> GraphPort:
        """The graph as it is now."""
        ...

    @property
    def version(self) -> int:
        """Grows with every write."""
        ...

    def visible(self, tenant: Mapping[str, Any], ids: Iterable[str] | None = None) -> Collection[str]:
        """The ids of the documents that a tenant may see."""
        ...


def _is_home(graph: GraphPort | GraphHome | None) -> TypeGuard[GraphHome]:
    # a check of all names would ask a server for its graph
    return callable(getattr(graph, "visible", None))


def _of_index(name: str) -> Any:
    """A method that the index answers."""

    def method(self: "ExternalDocuments", *arguments: Any, **options: Any) -> Any:
        return getattr(self._index, name)(*arguments, **options)

    return method


class _NoIndex(Knowledge):
    """The index if there is none: it has no capabilities."""

    version = 0

    def get(self, ids: Iterable[str], *, tenant: Mapping[str, Any] | None = None) -> dict[str, Hit]:  # noqa: ARG002
        return {}


class ExternalDocuments(Knowledge):
    """Knowledge for graph sources whose documents are in a store of the user's.

    Walks go over `graph`, which is a graph that does not change, or a `GraphStore`, whose graph is then asked for at
    every question; what they find is fetched by id, and what the store does not have is left out. With an
    `index`, a knowledge base of documents with the same ids, they are searched by words and vectors there, and `graph`
    may be None for its graph. Without, ask the store itself and hand its hits to the graph source as those of another
    source.

    >>> from hopweave.graph.model import Contribution, Node
    >>> from hopweave.graph.build.resolve import resolve
    >>> graph = resolve([Contribution("d", (Node.passage("d"), Node.passage("lost")))]).graph()
    >>> shelf = {"d": Hit("d", text="The Skua sails hourly.", metadata={"owner": "harbour"})}
    >>> there = ExternalDocuments(graph, lambda ids: [shelf[key] for key in ids if key in shelf])
    >>> there.get(["d", "lost"])["d"].text, there.visible({"owner": "harbour"}), there.visible({"owner": "museum"})
    ('The Skua sails hourly.', frozenset({'d'}), frozenset())
    """

    versions_documents = False

    def __init__(
        self,
        graph: GraphPort | GraphHome | None,
        fetch: Fetch,
        *,
        index: Knowledge | None = None,
        fetch_passing: FetchPassing | None = None,
    ) -> None:
        """`fetch_passing` is for a store that filters documents by itself when they are fetched by id."""
        self._graph = graph
        self._fetch = fetch
        self._index: Knowledge = index or _NoIndex()
        self._fetch_passing = fetch_passing

    @property
    def capabilities(self) -> frozenset[Capability]:
        """Tenants, the graph if one is given, and what the index can do, except that the store has no versions."""
        own = {Capability.TENANTS} if self._graph is None else {Capability.GRAPH, Capability.TENANTS}
        return (frozenset(own) | self._index.capabilities) - {Capability.ONE_VERSION}

    @property
    def graph(self) -> GraphPort:
        """The graph given, or that of the index as it is now."""
        if self._graph is None:
            return self._index.graph
        return self._graph.graph if _is_home(self._graph) else cast(GraphPort, self._graph)

    def graph_for(self, tenant: Mapping[str, Any]) -> GraphPort:
        """The graph as it is now, for a question of a tenant: a server reads what it may see along with edges."""
        prepared = getattr(self._graph, "graph_for", None)
        if prepared is None or type(self).visible is not ExternalDocuments.visible:  # a subclass may allow less
            return self.graph
        return cast(GraphPort, prepared(tenant))

    @property
    def version(self) -> int:
        """That of the graph."""
        return self._index.version if self._graph is None else self._graph.version

    def get(self, ids: Iterable[str], *, tenant: Mapping[str, Any] | None = None) -> dict[str, Hit]:
        """The documents with these ids as the store has them; ids that do not exist are left out."""
        found = {hit.id: hit for hit in self._fetch(list(ids))}
        return {key: hit for key, hit in found.items() if in_tenant(hit.metadata, tenant)}

    def visible(self, tenant: Mapping[str, Any], ids: Iterable[str] | None = None) -> frozenset[str]:
        """Of documents with these ids, those that a tenant may see; without ids all of the graph are fetched."""
        if _is_home(self._graph):
            return frozenset(self._graph.visible(tenant, ids))
        if ids is None:
            numbers = np.arange(self.graph.size)
            nodes = self.graph.nodes(numbers[self.graph.nodes_of_kind("passage")[numbers]])
            ids = [node.document_id for node in nodes if node.document_id]
        return frozenset(self.get(ids, tenant=tenant))

    def check_tenant(self, tenant: Mapping[str, Any] | None) -> None:
        """Raise if the index knows the documents as those of tenants, and this does not say whose are meant."""
        self._index.check_tenant(tenant)

    def unseen(self, hits: Sequence[Hit]) -> Unseen:
        """Which of these hits the graph or the index has not seen, or has seen with another text."""
        unknown, changed = self._index.unseen(hits)
        if self._graph is not None:
            ids = [hit.id for hit in hits]
            unknown |= set(ids) - passage_numbers(self.graph, ids).keys()
        return Unseen(unknown, changed - unknown)

    def vectors(self, ids: Iterable[str], *, model: str | None = None) -> dict[str, Vector]:  # noqa: ARG002
        """The vectors that come with the documents."""
        return {key: hit.vector for key, hit in self.get(ids).items() if hit.vector is not None}

    # what the index does, if there is one

    def one_version(self) -> AbstractContextManager[None]:
        """What is asked of the index within the block comes from one version; the store has none."""
        return self._index.one_version()

    def within(self, filters: Filters, *, tenant: Mapping[str, Any] | None = None) -> Within:
        """The documents that pass filters by what the index knows of them, fetched from the store all the same."""
        found = self._index.within(filters, tenant=tenant)
        there = ExternalDocuments(self._graph, self._fetch, index=found.knowledge, fetch_passing=self._fetch_passing)
        return Within(found.size, there)

    def passing(self, filters: Filters, admits: Callable[[Hit], bool], count: int) -> "ExternalDocuments":
        """The same knowledge with only those documents that pass filters, and at most `count` of those asked for.

        They are fetched in the order in which they are asked for until enough pass. The store is handed the filters if
        it takes them along with ids; `admits` decides.
        """

        def fetch(ids: list[str]) -> list[Hit]:
            found: list[Hit] = []
            for first in range(0, len(ids), _FETCHED_AT_ONCE):
                group = ids[first : first + _FETCHED_AT_ONCE]
                hits = self._fetch(group) if self._fetch_passing is None else self._fetch_passing(group, filters)
                found += filter(admits, hits)
                if len(found) >= count:
                    break
            return found

        there = copy(self)
        there._fetch, there.has_all = fetch, False
        return there

    rank_text, rank_words, rank_full_text, rank_vectors, rank_smoothed = map(
        _of_index, ("rank_text", "rank_words", "rank_full_text", "rank_vectors", "rank_smoothed")
    )
    embed, embed_texts, communities = map(_of_index, ("embed", "embed_texts", "communities"))

    score_text, score_vectors, score_documents = map(_of_index, ("score_text", "score_vectors", "score_documents"))

    @property
    def own_share(self) -> float:
        """That of the index."""
        return self._index.own_share
