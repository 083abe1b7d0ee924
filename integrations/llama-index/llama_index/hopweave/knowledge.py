"""Where documents live: in a knowledge base, or in a store of LlamaIndex."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from llama_index.core.bridge.pydantic import SecretStr
from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.schema import NodeWithScore
from llama_index.hopweave.embedder import chosen_model, name_of, to_embedder
from llama_index.hopweave.filters import Predicate
from llama_index.hopweave.nodes import to_hit
from llama_index.hopweave.stores import Store, checked_keeper, nodes_in, passing_nodes_in

from hopweave.graph.external_documents import ExternalDocuments, GraphHome
from hopweave.graph.port import GraphPort
from hopweave.graph_store.location import GraphLocation
from hopweave.hit import Hit
from hopweave.knowledge import Capability, Knowledge
from hopweave.knowledge_base.shared import open_shared
from hopweave.knowledge_base.store import KnowledgeBase
from hopweave.metadata.filters import Filters


class NoDocuments(Knowledge):
    """Knowledge for recipes whose retrievers bring documents of their own; those retrievers see to tenants."""

    version = 0

    @property
    def capabilities(self) -> frozenset[Capability]:
        """Tenants alone."""
        return frozenset({Capability.TENANTS})

    def get(self, ids: Iterable[str], *, tenant: Mapping[str, Any] | None = None) -> dict[str, Hit]:  # noqa: ARG002
        """Nothing."""
        return {}


def opened(
    knowledge_base: Knowledge | str | Path, embed_model: BaseEmbedding | None = None, *, allow_graph: bool = False
) -> Knowledge:
    """
    The knowledge base itself, or the one in that file, for reading.

    Whatever is opened by the same path shares connections, indexes and graph; each is closed by itself.

    Args:
        knowledge_base: An open knowledge base, or the path of its file.
        embed_model: The model that embeds questions, for a file whose embedder cannot be made from what it says. If
            not given, LlamaIndex's `Settings.embed_model` is used for a file that holds vectors of that model.
        allow_graph: Whether the file may hold a graph alone.

    Returns:
        An open knowledge base.

    """
    if isinstance(knowledge_base, str) and "://" in knowledge_base:
        raise ValueError(
            "knowledge_base: must be the path of a file; the URL of a graph goes with the store that holds its nodes: "
            "documents_in(index, graph)"
        )
    if not isinstance(knowledge_base, str | Path):
        return knowledge_base if embed_model is None else _with_model(knowledge_base, embed_model)
    if embed_model is not None:
        return open_shared(knowledge_base, embedder=to_embedder(embed_model))
    found = open_shared(knowledge_base, allow_graph=allow_graph)
    usual = chosen_model(None)
    if found.settings.embedder is None and usual is not None and name_of(usual) == found.settings.model:
        found.close()
        return open_shared(knowledge_base, embedder=to_embedder(usual))
    return found


def check_written(data: Mapping[str, Any]) -> None:
    """
    Refuse data of a component that was made with an open knowledge base, unless one is given again.

    Args:
        data: What `from_dict` is to make a component of.

    Raises:
        ValueError: If there is no knowledge base.

    """
    if data.get("knowledge_base") is None:
        raise ValueError(
            "knowledge_base: is not in the data, as it was given open and not as a path; give one to "
            "from_dict(data, knowledge_base=...)"
        )


def documents_in(
    store: Store,
    graph: KnowledgeBase | GraphPort | GraphHome | str | Path | SecretStr,
    graph_schema: str = "hopweave",
) -> ExternalDocuments:
    """
    Nodes that a LlamaIndex store holds, under the graph that connects them.

    ```python
    from llama_index.hopweave import documents_in
    from llama_index.retrievers.hopweave import RecipeRetriever

    retriever = RecipeRetriever(
        documents_in(index, knowledge_base), recipe="multihop", retrievers={"vector": index.as_retriever()}
    )
    ```

    Nodes are fetched in one call, in asynchronous runs by the store's asynchronous one.

    Args:
        store: An index, a docstore, a vector store or a property graph store that gives nodes by id; one that has
            asynchronous calls alone will do. Of an index, only nodes that it has are fetched, whatever else is in its
            docstore.
        graph: What was written of the same nodes: an open knowledge base or the path of its file, which is searched by
            words and vectors too and followed as it changes; a graph alone; or what `GraphWriter` has written: an open
            `GraphStore`, the path of its file, or its URL (a `SecretStr` of pydantic if it holds a password), which is
            live: every question sees it as it is then.
        graph_schema: Schema of the database in which the tables of the graph lie, for a URL.

    Returns:
        What a retriever or a query engine takes in place of a knowledge base.

    """
    fetch = _Fetch(checked_keeper(store))
    where = graph.get_secret_value() if isinstance(graph, SecretStr) else graph
    if isinstance(where, str) and "://" in where:
        place = graph.get_secret_value if isinstance(graph, SecretStr) else where
        return ExternalDocuments(GraphLocation(place, graph_schema), fetch, fetch_passing=fetch.passing)
    if not isinstance(where, KnowledgeBase | str | Path):
        return ExternalDocuments(where, fetch, fetch_passing=fetch.passing)
    index = opened(where, allow_graph=True)
    if isinstance(index, KnowledgeBase) and not index.settings.analyzers:  # a graph without texts
        return ExternalDocuments(index, fetch, fetch_passing=fetch.passing)
    return ExternalDocuments(None, fetch, index=index, fetch_passing=fetch.passing)


class _Fetch:
    """Nodes of a store by id, as hits."""

    def __init__(self, keeper: Any) -> None:
        self.keeper = keeper

    def __call__(self, ids: list[str]) -> Iterable[Hit]:
        return [to_hit(NodeWithScore(node=node)) for node in nodes_in(self.keeper, ids)]

    def passing(self, ids: list[str], filters: Filters) -> Iterable[Hit]:
        """The same of a store that takes filters along with ids."""
        nodes = passing_nodes_in(self.keeper, ids, filters.filters) if isinstance(filters, Predicate) else None
        return self(ids) if nodes is None else [to_hit(NodeWithScore(node=node)) for node in nodes]


def _with_model(knowledge: Knowledge, embed_model: BaseEmbedding) -> Knowledge:
    """An open knowledge base whose questions are embedded by a model, which must be that of its vectors."""
    embedder = to_embedder(embed_model)
    if not isinstance(knowledge, KnowledgeBase):
        raise ValueError(f"embed_model: is not allowed with {type(knowledge).__name__}; it is for a knowledge base")
    if knowledge.settings.model != embedder.model_name:
        raise ValueError(
            f"embed_model: {embedder.model_name!r} is not allowed; {knowledge.path} holds vectors of "
            f"{knowledge.settings.model!r}"
        )
    return knowledge if knowledge.settings.embedder else open_shared(knowledge.path, embedder=embedder)
