"""A whole recipe as one component made of components."""

from typing import Any, ClassVar

from haystack import Pipeline, super_component

from haystack_integrations.common.hopweave.derived import derived
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
from haystack_integrations.common.hopweave.settings import KNOWLEDGE_BASE
from haystack_integrations.components.retrievers.hopweave.recipe import OverRecipe
from hopweave import load_recipe

_INPUTS = ("query", "filters", "top_k", "tenant", "skip", "now")


@derived(mark=super_component)
class HybridGraphRetriever(OverRecipe):
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

    settings = (KNOWLEDGE_BASE, *OverRecipe.settings)

    knowledge_base: str | None

    def _hold(self, _core: Any) -> None:
        """Create the retriever; file and graph are opened on first use."""
        # here and not above: it needs this package's other retrievers
        from haystack_integrations.common.hopweave.recipe_pipeline import last_step, open_sockets

        recipe = load_recipe(self.recipe)
        if self.top_k is not None:
            recipe = recipe.model_copy(update={"top_k": self.top_k})
        names = ("document_store", "graph", "graph_schema", "upstream", "tenant", "tenant_required")
        shared = {name: getattr(self, name) for name in names}
        self.pipeline, last = last_step(recipe, self.knowledge_base, **shared)
        sockets = {name: open_sockets(self.pipeline, name) for name in _INPUTS}
        self.input_mapping = {name: found for name, found in sockets.items() if found or name != "now"}
        self.input_mapping |= {name: [f"{name}.documents"] for name in self.upstream}
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
        known = list(self.input_mapping)
        if unknown := [name for name in inputs if name not in known and name != "now"]:
            raise TypeError(f"HybridGraphRetriever: no input {unknown[0]!r}; allowed are {', '.join(known)}")
        if "query" not in inputs:
            raise TypeError("HybridGraphRetriever: input 'query' is missing")
        return inputs

    def _finished(self, output: dict[str, Any]) -> dict[str, Any]:
        return {**output, "documents": self._documents(output.get("documents", []))}
