"""A whole recipe as one component made of components."""

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from haystack import Document, super_component

from haystack_integrations.common.hopweave.questions import Skip, Tenant
from hopweave import load_recipe
from hopweave.scores import count_of


@super_component
class HybridGraphRetriever:
    """
    A recipe as a super component: inside, a native Haystack pipeline with one component per source, fuser and stage.

    It takes `query`, `filters`, `top_k`, `tenant` and, if a stage goes by the clock, `now`; it gives `documents`.
    `RecipeRetriever` does the same in one step, without the copies that Haystack makes between components.

    ```python
    from haystack_integrations.components.retrievers.hopweave import HybridGraphRetriever

    retriever = HybridGraphRetriever(knowledge_base="hopweave.db", recipe="hybrid", top_k=5)
    documents = retriever.run(query="Who built the tide gate?")["documents"]
    ```
    """

    def __init__(
        self,
        *,
        knowledge_base: str | Path,
        recipe: str = "hybrid",
        top_k: int | None = None,
        tenant: dict[str, Any] | None = None,
    ) -> None:
        """
        Create the retriever; the file is opened on first use.

        :param knowledge_base: Path of the knowledge base file.
        :param recipe: Name of a shipped recipe, or path of a YAML file.
        :param top_k: How many documents to return; the recipe's own number when not given.
        :param tenant: Metadata values a document must have to be seen at all.
        """
        # here and not above: it needs this package's other retrievers
        from haystack_integrations.common.hopweave.recipe_pipeline import last_step, open_sockets

        self.knowledge_base = str(knowledge_base)
        self.recipe = recipe
        self.top_k = top_k
        self.tenant = tenant
        described: Any = load_recipe(recipe)
        if top_k is not None:
            described = described.model_copy(update={"top_k": count_of("top_k", top_k)})
        self.pipeline, last = last_step(described, self.knowledge_base, tenant=tenant)
        self.input_mapping = {
            "query": open_sockets(self.pipeline, "query"),
            "filters": open_sockets(self.pipeline, "filters"),
            "top_k": open_sockets(self.pipeline, "top_k"),
            "tenant": open_sockets(self.pipeline, "tenant"),
            "skip": open_sockets(self.pipeline, "skip"),
        }
        if dated := open_sockets(self.pipeline, "now"):
            self.input_mapping["now"] = dated
        self.output_mapping = {f"{last}.documents": "documents"}

    if TYPE_CHECKING:  # the inputs as type checkers see them; Haystack makes them from `input_mapping`

        def run(
            self,
            query: str,
            filters: dict[str, Any] | None = None,
            top_k: int | None = None,
            tenant: Tenant = None,
            now: datetime | str | None = None,
            skip: Skip = None,
        ) -> dict[str, list[Document]]:
            """Find documents for a query."""
            ...

        async def run_async(
            self,
            query: str,
            filters: dict[str, Any] | None = None,
            top_k: int | None = None,
            tenant: Tenant = None,
            now: datetime | str | None = None,
            skip: Skip = None,
        ) -> dict[str, list[Document]]:
            """Find documents for a query without blocking the event loop."""
            ...

    else:

        def run(self, **inputs: Any) -> dict[str, Any]:
            """
            Find documents for a query.

            :param inputs: `query`, and if you like `filters`, `top_k`, `tenant`, `now` and `skip`.
            :returns: `documents`, best first; none for a message that the recipe's gate does not let through.
            """
            return {"documents": [], **super(HybridGraphRetriever, self).run(**inputs)}  # noqa: UP008 - a bare super() is that of the class before it was decorated

        async def run_async(self, **inputs: Any) -> dict[str, Any]:
            """
            Find documents for a query without blocking the event loop.

            :param inputs: `query`, and if you like `filters`, `top_k`, `tenant`, `now` and `skip`.
            :returns: `documents`, best first; none for a message that the recipe's gate does not let through.
            """
            return {"documents": [], **await super(HybridGraphRetriever, self).run_async(**inputs)}  # noqa: UP008 - a bare super() is that of the class before it was decorated
