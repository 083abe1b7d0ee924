"""Documents in PostgreSQL, Qdrant or Elasticsearch, through Haystack's integrations; the graph is hopweave's.

Words and vectors are searched by the stores' own retrievers, and `RecipeRetriever` walks from what they find and fuses.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from threading import RLock
from time import perf_counter
from typing import Any, get_args

os.environ.setdefault("HAYSTACK_TELEMETRY_ENABLED", "False")

from haystack import Document as StoredDocument
from haystack.document_stores.types import DuplicatePolicy
from haystack.utils import Secret

from haystack_integrations.common.hopweave.documents import to_hit
from haystack_integrations.common.hopweave.external_documents import by_id
from haystack_integrations.components.retrievers.hopweave import RecipeRetriever
from hopweave import Document, GraphStore, Query, Recipe
from hopweave.component import Embedder
from hopweave.knowledge_base.documents import Added
from hopweave.metadata.tenants import in_tenant
from hopweave.vector.embedders import SentenceTransformerEmbedder, StaticEmbedder
from search_service.messages import Method, Part
from search_service.settings import Place
from search_service.stores.cut import GRAPH, SOURCES, cut
from search_service.stores.homes import Home, homes
from search_service.stores.store import Answer


class ExternalStore:
    """Documents in one or two stores, and their graph in a file or in PostgreSQL."""

    knowledge = None  # stages that rerank compare texts, which the hits have

    def __init__(self, place: Place, recipe: Recipe, graph_file: Path) -> None:
        model = place.embedding_model
        self._embedder: Embedder = StaticEmbedder() if model == "static" else SentenceTransformerEmbedder(model=model)
        self._recipe = recipe
        size = place.embedding_dimension or len(self._embedder.embed(["size"])[0])
        self._homes = homes(place, size, recipe.sources["vector"].top_k)
        self._sources: dict[str, Home] = {
            name: home for home in self._homes for name in ("text", "vector") if name in home.retrievers
        }
        self.absent = [name for name in ("text", "vector") if name not in self._sources]
        self._first = self._homes[0].store
        where = place.postgres_url.get_secret_value() if place.postgres_url else place.graph or str(graph_file)
        self.graph = GraphStore.open(where)
        secret = Secret.from_token(where)
        self._retrievers = {
            (method, expand): RecipeRetriever(
                graph=secret,
                document_store=self._first,
                recipe=cut(recipe, method, expand_graph=expand),  # type: ignore[arg-type]  # a recipe instead of its name
                upstream=SOURCES[method],
            )
            for method in get_args(Method)
            for expand in (False, True)
        }
        # the client of pgvector is for one thread at a time
        self._turns: AbstractContextManager[Any] = RLock() if place.postgres_url else nullcontext()

    @property
    def version(self) -> int:
        """That of the graph."""
        return self.graph.version

    def search(
        self, query: Query, method: Method, *, expand_graph: bool, top_k: int, stopped: Callable[[], bool]
    ) -> Answer:
        """Ask the stores, and let the recipe do the rest; a store that does not answer has no part in it."""
        filters = as_haystack({**(query.filters or {}), **(query.tenant or {})})
        timings, failures, found = dict[str, float](), dict[str, str](), dict[str, list[StoredDocument]]()
        for name in SOURCES[method]:
            if stopped():
                break
            started = perf_counter()
            try:
                found[name] = self._ask(name, query.text, filters)
            except Exception as error:  # whatever the client of a store raises
                failures[name] = type(error).__name__
            timings[name] = perf_counter() - started
        started = perf_counter()
        with self._turns:
            done = self._retrievers[method, expand_graph].run(
                query=query.text,
                filters=as_haystack(query.filters or {}),
                tenant=dict(query.tenant) if query.tenant else None,
                top_k=top_k,
                skip=list(query.skip),
                **found,
            )
        timings[GRAPH] = perf_counter() - started
        intent = self._recipe.intent.classify(query.text) if self._recipe.intent else None
        hits = [to_hit(document, vector=False) for document in done["documents"]]
        return Answer(hits, done["confidence"], intent, timings, {**done.get("failures", {}), **failures})

    def _ask(self, name: str, question: str, filters: dict[str, Any] | None) -> list[StoredDocument]:
        asked: dict[str, Any] = {"query": question}
        if name == "vector":
            asked = {"query_embedding": self._embedder.embed([question])[0].tolist()}
        with self._turns:
            documents: list[StoredDocument] = (
                self._sources[name].retrievers[name].run(**asked, filters=filters)["documents"]
            )
        return documents

    def put(self, documents: Sequence[Document]) -> Added:
        """Write to all stores, then to the graph; it may be repeated if it was interrupted."""
        vectors = self._embedder.embed([document.searchable for document in documents]).tolist() if documents else []
        with self._turns:
            known = {one.id: (one.content, one.meta) for one in by_id(self._first, [one.id for one in documents])}
            stored = [
                StoredDocument(id=one.id, content=one.text, meta=dict(one.metadata), embedding=vector)
                for one, vector in zip(documents, vectors, strict=True)
            ]
            changed = [one for one in stored if known.get(one.id) != (one.content, one.meta)]
            for home in self._homes if changed else ():
                home.store.write_documents(changed, policy=DuplicatePolicy.OVERWRITE)
            self.graph.add(documents)
        updated = sum(one.id in known for one in changed)
        return Added(len(changed) - updated, updated, len(documents) - len(changed))

    def delete(self, ids: Sequence[str], tenant: Mapping[str, Any]) -> int:
        """Take documents out of the graph, then out of the stores."""
        with self._turns:
            own = [one.id for one in by_id(self._first, list(ids)) if in_tenant(one.meta, tenant or None)]
            if not own:
                return 0
            self.graph.delete(own)
            for home in self._homes:
                home.store.delete_documents(own)
        return len(own)

    def delete_source(self, source: str, tenant: Mapping[str, Any]) -> int:
        """Remove all documents of a source that a tenant may see."""
        with self._turns:
            found = self._first.filter_documents(as_haystack({**tenant, "source": source}))
            # Elasticsearch also finds sources that have the same words
            return self.delete([one.id for one in found if one.meta.get("source") == source], tenant)

    def hidden(self, ids: Sequence[str], tenant: Mapping[str, Any]) -> set[str]:
        """Those of the ids that documents have which a tenant may not see."""
        if not tenant:
            return set()
        with self._turns:
            return {one.id for one in by_id(self._first, list(ids)) if not in_tenant(one.meta, tenant)}

    def count(self) -> int:
        """How many documents there are."""
        with self._turns:
            return int(self._first.count_documents())

    def compact(self) -> None:
        """Stores and servers compact themselves."""

    def changed_share(self) -> float:
        """Stores and servers compact themselves."""
        return 0.0

    def health(self) -> dict[str, Part]:
        """Each store, by its name, and the graph."""
        parts = {}
        for home in self._homes:
            with self._turns:
                documents = home.store.count_documents()
            parts[home.name] = Part(status="ok", detail=f"{documents} documents.")
        words, vectors = self._sources.get("text"), self._sources.get("vector")
        return {
            "knowledge_base": Part(status="ok", detail=f"{self.count()} documents, version {self.version}."),
            **parts,
            "words": Part(status="ok" if words else "off", detail=words.name if words else "No store has them."),
            "vectors": Part(status="ok" if vectors else "off", detail=self._embedder.model_name),
            "graph": Part(status="ok", detail=f"{self.graph.count()} documents."),
        }

    def close(self) -> None:
        """Let go of all connections."""
        for retriever in self._retrievers.values():
            retriever.close()
        self.graph.close()
        for home in self._homes:
            home.store.close()


def as_haystack(filters: Mapping[str, Any]) -> dict[str, Any] | None:
    """Filters in Haystack's words. A list is taken apart, as Elasticsearch compares lists with single words of a text.

    >>> as_haystack({"type": ["team"], "date": {"gte": "2025-01-01"}})["conditions"][1]
    {'field': 'meta.date', 'operator': '>=', 'value': '2025-01-01'}
    """
    conditions = [_condition(name, wanted) for name, wanted in filters.items()]
    return {"operator": "AND", "conditions": conditions} if len(conditions) > 1 else next(iter(conditions), None)


def _condition(name: str, wanted: Any) -> dict[str, Any]:
    field = f"meta.{name}"
    if isinstance(wanted, list):
        either = [{"field": field, "operator": "==", "value": one} for one in wanted]
        return {"operator": "OR", "conditions": either}
    if isinstance(wanted, dict):
        words = {"gte": ">=", "lt": "<"}
        both = [
            _condition(name, value) if word == "in" else {"field": field, "operator": words[word], "value": value}
            for word, value in wanted.items()
        ]
        return {"operator": "AND", "conditions": both} if len(both) > 1 else both[0]
    return {"field": field, "operator": "==", "value": wanted}
