"""Documents, words, vectors and graph in one file, which all workers share."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any, get_args

from hopweave import Document, KnowledgeBase, Pipeline, Query, Recipe
from hopweave.knowledge_base.documents import Added
from hopweave.knowledge_base.settings import UNSET
from hopweave.vector.embedders import SentenceTransformerEmbedder
from search_service.messages import Method, Part
from search_service.settings import Place
from search_service.stores.cut import cut
from search_service.stores.store import Answer


class EmbeddedStore:
    """A knowledge base file, and one pipeline for each way to search it."""

    def __init__(self, place: Place, recipe: Recipe) -> None:
        assert place.path is not None
        place.path.parent.mkdir(parents=True, exist_ok=True)
        model = place.embedding_model
        embedder = UNSET if model == "static" else SentenceTransformerEmbedder(model=model)
        self.knowledge = KnowledgeBase.open(place.path, embedder=embedder)
        self.absent = () if self.knowledge.settings.embedder else ("vector",)
        self._pipelines = {
            (method, expand): Pipeline(cut(recipe, method, expand_graph=expand), self.knowledge)
            for method in get_args(Method)
            for expand in (False, True)
        }

    def open_connections(self, number: int) -> None:
        """Open as many connections to the file as threads may use at once, so that there are no more of them later."""
        together = Barrier(number, timeout=60)

        def hold(_: int) -> None:
            with self.knowledge.one_version():
                together.wait()

        with ThreadPoolExecutor(number) as threads:
            list(threads.map(hold, range(number)))

    @property
    def version(self) -> int:
        """Grows with every write, whichever process made it."""
        return self.knowledge.version

    def search(
        self, query: Query, method: Method, *, expand_graph: bool, top_k: int, stopped: Callable[[], bool]
    ) -> Answer:
        """Run the part of the recipe that a method needs."""
        found = self._pipelines[method, expand_graph].run(query, top_k=top_k, cancelled=stopped)
        return Answer(found.hits, found.confidence, found.query.intent, found.timings, found.failures)

    def put(self, documents: Sequence[Document]) -> Added:
        """Add documents, or replace those that differ, in one transaction per batch."""
        return self.knowledge.add(documents)

    def delete(self, ids: Sequence[str], tenant: Mapping[str, Any]) -> int:
        """Remove those of the documents that a tenant may see."""
        return self.knowledge.delete(self.knowledge.visible(tenant, ids) if tenant else ids)

    def delete_source(self, source: str, tenant: Mapping[str, Any]) -> int:
        """Remove all documents of a source that a tenant may see."""
        return self.knowledge.delete(where={**tenant, "source": source})

    def hidden(self, ids: Sequence[str], tenant: Mapping[str, Any]) -> set[str]:
        """Those of the ids that documents have which a tenant may not see."""
        return {*self.knowledge.get(ids)} - self.knowledge.visible(tenant, ids) if tenant else set()

    def count(self) -> int:
        """How many documents there are."""
        return self.knowledge.count()

    def compact(self) -> None:
        """Write index images if there are none, or if much has changed."""
        self.knowledge.compact(if_needed=True)

    def changed_share(self) -> float:
        """The largest share of an index that has changed since it was last compacted; 1 if it has more than doubled."""
        return min(1.0, max(self.knowledge.info()["changed"].values(), default=0.0))

    def health(self) -> dict[str, Part]:
        """The file, its vectors and its graph."""
        graph, embedder = self.knowledge.graph, self.knowledge.settings.embedder
        return {
            "knowledge_base": Part(status="ok", detail=f"{self.count()} documents, version {self.version}."),
            "words": Part(status="ok", detail="bm25"),
            "vectors": Part(
                status="off" if embedder is None else "ok", detail="none" if embedder is None else embedder.model_name
            ),
            "graph": Part(status="ok" if len(graph.edge_types) else "off", detail=f"{graph.size} nodes."),
        }

    def close(self) -> None:
        """Close the file."""
        self.knowledge.close()
