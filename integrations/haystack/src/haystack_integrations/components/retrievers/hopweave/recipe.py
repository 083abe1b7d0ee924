"""A whole recipe as one retriever."""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from haystack import Document, component
from haystack.document_stores.types import DocumentStore, FilterPolicy

from haystack_integrations.common.hopweave.derived import CoreComponent, derived
from haystack_integrations.common.hopweave.documents import to_document, with_flat_scores
from haystack_integrations.common.hopweave.failures import report_failures
from haystack_integrations.common.hopweave.graph_location import Graph, as_written
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
from haystack_integrations.common.hopweave.parameters import (
    accept_documents,
    check_names,
    given_documents,
)
from haystack_integrations.common.hopweave.questions import (
    Tenant,
    as_filter_policy,
    chosen_filters,
    from_intent,
    narrowed,
    to_query,
)
from haystack_integrations.common.hopweave.tracing import tag
from haystack_integrations.common.hopweave.upstream import with_upstream
from hopweave import Pipeline, Query, QueryCache, Result, load_recipe
from hopweave.knowledge import Knowledge
from hopweave.metadata.tenants import checked_fields, checked_tenant, require_tenant
from hopweave.recipes import DEFAULT_RECIPE
from hopweave.scores import first
from hopweave.search.federated import FederatedPipeline, check_knowledge_bases
from hopweave.sources.vector_search import VectorSearch

_ONE = ""  # the name of the only knowledge base


@component
@derived()
class RecipeRetriever(CoreComponent):
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

    def _hold(
        self,
        *,
        knowledge_base: str | Path | Mapping[str, str | Path] | None = None,
        document_store: DocumentStore | None = None,
        graph: Graph | None = None,
        graph_schema: str = "hopweave",
        recipe: str = DEFAULT_RECIPE,
        upstream: Sequence[str] = (),
        top_k: int | None = None,
        filters: dict[str, Any] | None = None,
        filter_policy: str | FilterPolicy = FilterPolicy.REPLACE,
        tenant: dict[str, Any] | None = None,
        tenant_required: Sequence[str] = (),
        flat_scores: bool = False,
        cache_seconds: float | None = None,
    ) -> None:
        """
        Create the retriever. The recipe is read now, the knowledge base is opened on first use.

        :param knowledge_base: Path of the knowledge base file, or several paths by name, which are searched as one; not
            with `document_store`, `graph` or `upstream`.
        :param document_store: Where the documents live, if not in the file; they go by the same ids. A
            `HopweaveDocumentStore` needs no path.
        :param graph: Path of a graph file, or URL of a PostgreSQL database (one with a password as a secret), as
            `GraphWriter` writes them. It takes the place of the graph of a knowledge base, so that with `upstream`
            retrievers of your store no knowledge base is needed.
        :param graph_schema: Schema of the database in which the tables of the graph lie.
        :param recipe: Name of a shipped recipe, or path of a YAML file; `multihop` when not given.
        :param upstream: Names of the recipe's sources whose documents other components find: each is an input of that
            name, to which any retriever can be connected.
        :param top_k: How many documents to return; the recipe's own number when not given.
        :param filters: Haystack metadata filters.
        :param filter_policy: Whether filters given to `run` replace these (`replace`) or are merged in (`merge`).
        :param tenant: Metadata values a document must have to be seen at all.
        :param tenant_required: Metadata fields for which every run needs a tenant; one without is refused.
        :param flat_scores: Whether the meta of documents has the score of every step: `dense_score`, `rrf_score` …
        :param cache_seconds: How long an answer is kept for when the same is asked again; a change of the knowledge
            base makes it void. None for no cache. Not with `upstream`, `graph` or a store of yours, as nothing says
            when their documents change. With filters, nothing is kept.
        """
        self._recipe = load_recipe(recipe)
        first([], top_k)
        if upstream:
            check_names("upstream", upstream)
        own = with_upstream(self._recipe, upstream, {})
        self._several = isinstance(knowledge_base, Mapping)
        places = knowledge_base if isinstance(knowledge_base, Mapping) else {_ONE: knowledge_base}
        if self._several and (document_store is not None or graph is not None or upstream):
            raise ValueError("knowledge_base: several are not allowed with document_store, graph or upstream")
        if self._several:
            check_knowledge_bases(places)
        else:
            self._recipe.check_one_knowledge_base()
        self._files = {name: KnowledgeFile(path, document_store, graph, graph_schema) for name, path in places.items()}
        for file in self._files.values():
            file.check_recipe(own)
        if cache_seconds is not None and (upstream or not all(file.has_its_documents for file in self._files.values())):
            raise ValueError(
                "cache_seconds: is not allowed with upstream, graph or a document_store, as nothing says when their "
                "documents change"
            )
        paths = {name: file.path for name, file in self._files.items()}
        self.knowledge_base = paths if self._several else paths[_ONE]
        self.document_store = document_store
        self.graph = as_written(graph)
        self.graph_schema = graph_schema
        self.recipe = recipe
        self.upstream = list(upstream)
        self.top_k = top_k
        self.filters = filters
        self.filter_policy = as_filter_policy(filter_policy)
        self.tenant = checked_tenant(tenant)
        self.tenant_required = list(checked_fields(tenant_required))
        self.flat_scores = flat_scores
        self.cache_seconds = cache_seconds
        self._cache = None if cache_seconds is None else QueryCache[Result](seconds=cache_seconds)
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
        failed = {f"failed.{name}": why for name, why in result.failures.items()}
        missing = {f"missing.{name}": number for name, number in result.missing.items()}
        tags = {**failed, **missing, **({"emptied_by": result.emptied_by} if result.emptied_by else {})}
        tag("recipe", result.hits, intent=result.query.intent.name if result.query.intent else "none", **tags)
        documents = [to_document(hit) for hit in result.hits]
        found: dict[str, Any] = {
            "documents": [with_flat_scores(one) for one in documents] if self.flat_scores else documents,
            "confidence": result.confidence,
            "intent": from_intent(result.query.intent) if result.query.intent else None,
        }
        return {**found, "failures": report_failures(self, result.failures)} if result.failures else found
