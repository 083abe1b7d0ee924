"""A whole recipe as one retriever."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

from haystack import Document
from haystack.document_stores.types import DocumentStore
from haystack.utils import Secret

from haystack_integrations.common.hopweave.derived import CoreComponent, derived
from haystack_integrations.common.hopweave.documents import to_document, with_flat_scores
from haystack_integrations.common.hopweave.inputs import (
    FILTERS,
    NAMED_DOCUMENTS,
    NOW,
    QUERY,
    QUERY_EMBEDDING,
    SKIP,
    TENANT,
    TOP_K,
)
from haystack_integrations.common.hopweave.knowledge_file import KnowledgeFile, load_embedder
from haystack_integrations.common.hopweave.parameters import accept_documents, given_documents
from haystack_integrations.common.hopweave.questions import (
    RetrieverFilterPolicy,
    Tenant,
    as_filter_policy,
    chosen_filters,
    from_intent,
    narrowed,
    to_query,
)
from haystack_integrations.common.hopweave.settings import (
    DOCUMENT_STORE,
    FILTER_POLICY,
    FLAT_SCORES,
    GRAPH,
    GRAPH_SCHEMA,
    KNOWLEDGE_BASES,
    OWN_FILTERS,
    OWN_TENANT,
    OWN_TOP_K,
    RECIPE,
    TENANT_REQUIRED,
    UPSTREAM,
    Setting,
)
from haystack_integrations.common.hopweave.tracing import report
from haystack_integrations.common.hopweave.upstream import with_upstream
from hopweave import Pipeline, Query, QueryCache, Result, load_recipe
from hopweave.knowledge import Knowledge
from hopweave.metadata.tenants import require_tenant
from hopweave.search.federated import FederatedPipeline, check_knowledge_bases
from hopweave.sources.vector_search import VectorSearch

_ONE = ""  # the name of the only knowledge base


class OverRecipe(CoreComponent):
    """Base class of retrievers that run a whole recipe."""

    settings: ClassVar[tuple[Setting, ...]] = (
        DOCUMENT_STORE,
        GRAPH,
        GRAPH_SCHEMA,
        RECIPE,
        UPSTREAM,
        replace(OWN_TOP_K, description="How many documents to return; the recipe's own number when not given."),
        OWN_TENANT,
        TENANT_REQUIRED,
        FLAT_SCORES,
    )

    document_store: DocumentStore | None
    graph: str | Secret | None
    graph_schema: str
    recipe: str
    upstream: list[str]
    top_k: int | None
    tenant: dict[str, Any] | None
    tenant_required: list[str]
    flat_scores: bool

    def _documents(self, found: list[Document]) -> list[Document]:
        return [with_flat_scores(one) for one in found] if self.flat_scores else found


@derived()
class RecipeRetriever(OverRecipe):
    """
    Answers a query by running a hopweave recipe over a knowledge base file.

    With `document_store`, the file is the index of a store of yours: what is found is fetched from there, and what the
    store no longer has is left out. With `upstream`, retrievers of yours take the place of sources of the recipe.

    ```python
    from haystack_integrations.components.retrievers.hopweave import RecipeRetriever

    retriever = RecipeRetriever(knowledge_base="hopweave.db", top_k=5)
    documents = retriever.run(query="Who built the tide gate?")["documents"]
    ```

    Several knowledge bases are searched as one: `knowledge_base={"handbook": "handbook.db", "tickets": "tickets.db"}`.
    Documents then have ids such as `tickets/17`, and their receipts name the knowledge base; the recipe's
    `fuse_knowledge_bases` has weights by name.
    """

    inputs = (QUERY, FILTERS, TOP_K, QUERY_EMBEDDING, NOW, TENANT, SKIP, NAMED_DOCUMENTS)
    outputs: ClassVar[dict[str, Any]] = {
        "documents": list[Document],
        "confidence": float | None,
        "intent": dict[str, Any] | None,
        "failures": dict[str, str],
    }

    settings = (
        KNOWLEDGE_BASES,
        *OverRecipe.settings,
        OWN_FILTERS,
        replace(
            FILTER_POLICY,
            description="Whether filters given to `run` replace these (`replace`) or are merged in (`merge`).",
            kept=as_filter_policy,
        ),
        Setting(
            "cache_seconds",
            float | None,
            "How long an answer is kept for when the same is asked again; a change of the knowledge base makes it "
            "void. None for no cache. Not with `upstream`, `graph` or a store of yours, as nothing says when their "
            "documents change. With filters, nothing is kept.",
            None,
        ),
    )

    knowledge_base: str | dict[str, str] | None
    filters: dict[str, Any] | None
    filter_policy: RetrieverFilterPolicy
    cache_seconds: float | None

    def _hold(self, _core: Any) -> None:
        """Create the retriever. The recipe is read now, the knowledge base is opened on first use."""
        self._recipe = load_recipe(self.recipe)
        own = with_upstream(self._recipe, self.upstream, {})
        given, store, graph = self.knowledge_base, self.document_store, self.graph
        self._several = isinstance(given, dict)
        if self._several and (store is not None or graph is not None or self.upstream):
            raise ValueError("knowledge_base: several are not allowed with document_store, graph or upstream")
        if isinstance(given, dict):
            check_knowledge_bases(given)
        else:
            self._recipe.check_one_knowledge_base()
        places = {**given} if isinstance(given, dict) else {_ONE: given}
        self._files = {name: KnowledgeFile(path, store, graph, self.graph_schema) for name, path in places.items()}
        for file in self._files.values():
            file.check_recipe(own)
        seconds, outside = self.cache_seconds, not all(file.has_its_documents for file in self._files.values())
        if seconds is not None and (self.upstream or outside):
            raise ValueError(
                "cache_seconds: is not allowed with upstream, graph or a document_store, as nothing says when their "
                "documents change"
            )
        self._cache = None if seconds is None else QueryCache[Result](seconds=seconds)
        self._pipeline: Pipeline | FederatedPipeline | None = None
        self._known: dict[str, Knowledge] = {}
        accept_documents(self, "upstream", self.upstream)

    def warm_up(self) -> None:
        """Open knowledge base and graph, and load the embedding model if the recipe has a source that needs it."""
        opened = [file.warm_up() for file in self._files.values()]
        own = [source for name, source in self._recipe.sources.items() if name not in self.upstream]
        if any(isinstance(source, VectorSearch) for source in own):
            for one in opened:
                if one is not None:
                    load_embedder(one)

    def close(self) -> None:
        """Let go of knowledge base and graph."""
        self._pipeline, self._known = None, {}
        for file in self._files.values():
            file.close()

    def _run(self, **inputs: Any) -> dict[str, Any]:
        """
        Find documents for a query.

        :returns: `documents`, best first, with receipts under `meta["hopweave"]`, `confidence`, the probability that
            the answer is among what was found (None if nothing was looked up), `intent`, with its name, rule and the
            weights of the signals (None if the recipe does not classify questions), and, if optional sources or
            stages failed or were too slow, `failures` with the reasons by source or kind of stage.
        """
        pipeline, question, wanted = self._prepare(**inputs)
        return self._finish(pipeline.run(question, top_k=wanted))

    async def _run_async(self, **inputs: Any) -> dict[str, Any]:
        pipeline, question, wanted = await asyncio.to_thread(self._prepare, **inputs)  # it may open files
        return self._finish(await pipeline.run_async(question, top_k=wanted))

    def _prepare(
        self,
        query: str,
        filters: dict[str, Any] | None,
        top_k: int | None,
        tenant: Tenant,
        documents: Mapping[str, list[Document] | None],
        **others: Any,
    ) -> tuple[Pipeline | FederatedPipeline, Query, int | None]:
        question = to_query(
            query,
            filters=chosen_filters(self.filter_policy, self.filters, filters),
            tenant=narrowed(self.tenant, tenant),
            **others,
        )
        require_tenant(self.tenant_required, question.tenant, type(self).__name__)
        found = given_documents("upstream", self.upstream, documents)
        wanted = self.top_k if top_k is None else top_k
        if self.upstream:
            recipe = with_upstream(self._recipe, self.upstream, found)
            return Pipeline(recipe, self._files[_ONE].knowledge()), question, wanted
        return self._usual_pipeline(), question, wanted

    def _usual_pipeline(self) -> Pipeline | FederatedPipeline:
        """The pipeline of the recipe: one for all runs, as answers are kept for each pipeline by itself."""
        knowledge = {name: file.knowledge() for name, file in self._files.items()}
        pipeline, known = self._pipeline, self._known
        if pipeline is None or any(known.get(name) is not one for name, one in knowledge.items()):
            pipeline = (
                FederatedPipeline(self._recipe, knowledge, cache=self._cache)
                if self._several
                else Pipeline(self._recipe, knowledge[_ONE], cache=self._cache)
            )
            self._pipeline, self._known = pipeline, knowledge
        return pipeline

    def _finish(self, result: Result) -> dict[str, Any]:
        missing = {f"missing.{name}": number for name, number in result.missing.items()}
        intent, emptied = result.query.intent, {"emptied_by": result.emptied_by} if result.emptied_by else {}
        asked = intent.name if intent else "none"
        failed = report(self, "recipe", result.hits, result.failures, intent=asked, **missing, **emptied)
        return {
            "documents": self._documents([to_document(hit) for hit in result.hits]),
            "confidence": result.confidence,
            "intent": from_intent(intent) if intent else None,
            **failed,
        }
