"""A whole recipe as one component made of components."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

from haystack import Pipeline, super_component
from haystack.document_stores.types import DocumentStore

from haystack_integrations.common.hopweave.derived import CoreComponent, derived
from haystack_integrations.common.hopweave.documents import with_flat_scores
from haystack_integrations.common.hopweave.graph_location import Graph, as_written
from haystack_integrations.common.hopweave.inputs import (
    FILTERS,
    NAMED_DOCUMENTS,
    NOW,
    QUERY,
    SKIP,
    TENANT,
    TOP_K,
    Input,
)
from hopweave import load_recipe
from hopweave.metadata.tenants import checked_fields, checked_tenant
from hopweave.recipes import DEFAULT_RECIPE
from hopweave.scores import count_of


@super_component
@derived()
class HybridGraphRetriever(CoreComponent):
    """
    A recipe as a super component: inside, a native Haystack pipeline with one component per source, fuser and stage.

    It takes `query`, `filters`, `top_k`, `tenant`, if a stage goes by the clock `now`, and documents under the names in
    `upstream`; it gives `documents`.
    `RecipeRetriever` does the same in one step, without the copies that Haystack makes between components.

    ```python
    from haystack_integrations.components.retrievers.hopweave import HybridGraphRetriever

    retriever = HybridGraphRetriever(knowledge_base="hopweave.db", top_k=5)
    documents = retriever.run(query="Who built the tide gate?")["documents"]
    ```
    """

    pipeline: Pipeline
    input_mapping: dict[str, list[str]]
    typed_inputs: ClassVar[tuple[Input, ...]] = (QUERY, FILTERS, TOP_K, TENANT, NOW, SKIP, NAMED_DOCUMENTS)

    def _hold(
        self,
        *,
        knowledge_base: str | Path | None = None,
        document_store: DocumentStore | None = None,
        graph: Graph | None = None,
        graph_schema: str = "hopweave",
        recipe: str = DEFAULT_RECIPE,
        upstream: Sequence[str] = (),
        top_k: int | None = None,
        tenant: dict[str, Any] | None = None,
        tenant_required: Sequence[str] = (),
        flat_scores: bool = False,
    ) -> None:
        """
        Create the retriever; file and graph are opened on first use.

        :param knowledge_base: Path of the knowledge base file.
        :param document_store: Where the documents live, if not in the file; they go by the same ids.
        :param graph: Path of a graph file, or URL of a PostgreSQL database (one with a password as a secret), as
            `GraphWriter` writes them. It takes the place of the graph of a knowledge base, so that with `upstream`
            retrievers of your store no knowledge base is needed.
        :param graph_schema: Schema of the database in which the tables of the graph lie.
        :param recipe: Name of a shipped recipe, or path of a YAML file; `multihop` when not given.
        :param upstream: Names of the recipe's sources whose documents other components find: each is an input of that
            name, to which any retriever can be connected.
        :param top_k: How many documents to return; the recipe's own number when not given.
        :param tenant: Metadata values a document must have to be seen at all.
        :param tenant_required: Metadata fields for which every run needs a tenant; one without is refused.
        :param flat_scores: Whether the meta of documents has the score of every step: `dense_score`, `rrf_score` …
        """
        # here and not above: it needs this package's other retrievers
        from haystack_integrations.common.hopweave.recipe_pipeline import last_step, open_sockets

        self.knowledge_base = None if knowledge_base is None else str(knowledge_base)
        self.document_store = document_store
        self.graph = as_written(graph)
        self.graph_schema = graph_schema
        self.recipe = recipe
        self.upstream = list(upstream)
        self.top_k = top_k
        self.tenant = checked_tenant(tenant)
        self.tenant_required = list(checked_fields(tenant_required))
        self.flat_scores = flat_scores
        described: Any = load_recipe(recipe)
        if top_k is not None:
            described = described.model_copy(update={"top_k": count_of("top_k", top_k)})
        self.pipeline, last = last_step(
            described,
            knowledge_base,
            document_store=document_store,
            graph=graph,
            graph_schema=graph_schema,
            upstream=upstream,
            tenant=tenant,
            tenant_required=self.tenant_required,
        )
        self.input_mapping = {
            "query": open_sockets(self.pipeline, "query"),
            "filters": open_sockets(self.pipeline, "filters"),
            "top_k": open_sockets(self.pipeline, "top_k"),
            "tenant": open_sockets(self.pipeline, "tenant"),
            "skip": open_sockets(self.pipeline, "skip"),
            **{name: [f"{name}.documents"] for name in self.upstream},
        }
        if dated := open_sockets(self.pipeline, "now"):
            self.input_mapping["now"] = dated
        self.output_mapping = {f"{last}.documents": "documents"}

    def run(self, **inputs: Any) -> dict[str, Any]:
        """
        Find documents for a query.

        :param inputs: `query`, and if you like `filters`, `top_k`, `tenant`, `now`, `skip`, and documents by the
            names in `upstream`.
        :returns: `documents`, best first; none for a message that the recipe's gate does not let through.
        """
        return self._finished(self._inner().run(**self._known(inputs)))

    async def run_async(self, **inputs: Any) -> dict[str, Any]:
        """
        Find documents for a query without blocking the event loop.

        :param inputs: `query`, and if you like `filters`, `top_k`, `tenant`, `now`, `skip`, and documents by the
            names in `upstream`.
        :returns: `documents`, best first; none for a message that the recipe's gate does not let through.
        """
        return self._finished(await self._inner().run_async(**self._known(inputs)))

    def _inner(self) -> Any:
        return super(HybridGraphRetriever, self)  # noqa: UP008 - a bare super() is that of the class before decoration

    def _known(self, inputs: dict[str, Any]) -> dict[str, Any]:
        known = [*self.input_mapping, *self.upstream]
        if unknown := [name for name in inputs if name not in known and name != "now"]:
            raise TypeError(f"HybridGraphRetriever: no input {unknown[0]!r}; allowed are {', '.join(known)}")
        if "query" not in inputs:
            raise TypeError("HybridGraphRetriever: input 'query' is missing")
        return inputs

    def _finished(self, output: dict[str, Any]) -> dict[str, Any]:
        documents = output.get("documents", [])
        flat = [with_flat_scores(one) for one in documents] if self.flat_scores else documents
        return {**output, "documents": flat}
