"""Several retrievers, one ranking."""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, cast

from llama_index.core.callbacks import CallbackManager
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle
from llama_index.core.vector_stores import MetadataFilters
from llama_index.hopweave.knowledge import NoDocuments, opened
from llama_index.hopweave.retriever_source import check_retrievers, retriever_source
from llama_index.retrievers.hopweave.pipeline import PipelineRetriever, dispatcher

import hopweave.catalogue  # noqa: F401 - so that every fuser's kind is known
from hopweave.component import Fuser, registered
from hopweave.knowledge import Knowledge
from hopweave.pipeline import Pipeline
from hopweave.recipe import Recipe
from hopweave.routing.intent import IntentClassifier
from hopweave.routing.plan import Planner


class FusionRetriever(PipelineRetriever):
    """
    Asks several retrievers side by side and fuses their rankings, by name. No language model is involved.

    Args:
        retrievers: Retrievers by name. Weights and signals go by these names.
        fuse: How rankings become one: a fuser, or the kind of one (reciprocal_rank, weighted, confirmatory).
        similarity_top_k: How many nodes to return; everything that was found when not given. Retrievers of hopweave's
            own return at least as many, and more where filters leave too few, as in a recipe.
        filters: LlamaIndex metadata filters, applied after fusion and handed to retrievers that take them.
        tenant: Metadata values a node must have to be seen at all, whichever retriever finds it.
        tenant_required: Metadata fields for which every question needs a tenant; one without is refused.
        intent: Finds out what the question is after, for a weighted fuser that goes by it.
        plan: Chooses, by how complex the question is, which of the retrievers are asked.
        knowledge_base: An open knowledge base, or the path of its file, in whose graph the planner counts what the
            question names.
        optional: Names of retrievers that may fail without failing the query.
        callback_manager: LlamaIndex's callback manager.
        verbose: Whether LlamaIndex prints what it does.
        parameters: Parameters of the fuser, if it is given by its kind: `weights`, `k`, `base` ...

    Examples:
        ```python
        from llama_index.retrievers.hopweave import BM25Retriever, FusionRetriever

        retriever = FusionRetriever(
            {"vector": index.as_retriever(), "text": BM25Retriever("hopweave.db")}, weights={"text": 2.0}
        )
        nodes = retriever.retrieve("When does the tide gate open?")
        ```

    """

    def __init__(
        self,
        retrievers: Mapping[str, BaseRetriever],
        *,
        fuse: str | Fuser = "reciprocal_rank",
        similarity_top_k: int | None = None,
        filters: MetadataFilters | None = None,
        tenant: Mapping[str, Any] | None = None,
        tenant_required: Collection[str] = (),
        intent: IntentClassifier | None = None,
        plan: Planner | None = None,
        knowledge_base: Knowledge | str | Path | None = None,
        optional: Collection[str] = (),
        callback_manager: CallbackManager | None = None,
        verbose: bool = False,
        **parameters: Any,
    ) -> None:
        """Set the fuser up; it checks its parameters and whether it can fuse these names."""
        fuser = fuse if isinstance(fuse, Fuser) else _fuser(fuse, parameters)
        check_retrievers(retrievers)
        fuser.check_sources(retrievers)
        if unknown := [name for name in optional if name not in retrievers]:
            raise ValueError(f"optional: there is no retriever {unknown[0]!r}; there are {', '.join(retrievers)}")
        sources = {
            name: retriever_source(one, optional=name in optional, leads=False) for name, one in retrievers.items()
        }
        wanted = {"top_k": 1} if similarity_top_k is None and filters is None else {}  # whatever the retrievers give
        recipe = Recipe(name=fuser.kind, intent=intent, plan=plan, sources=sources, fuse=fuser, **wanted)
        super().__init__(
            Pipeline(recipe, NoDocuments() if knowledge_base is None else opened(knowledge_base)),
            similarity_top_k=similarity_top_k,
            filters=filters,
            tenant=tenant,
            tenant_required=tenant_required,
            stages=False,
            callback_manager=callback_manager,
            verbose=verbose,
        )

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return super()._retrieve(query_bundle)[: self._similarity_top_k]

    @dispatcher.span
    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return (await super()._aretrieve(query_bundle))[: self._similarity_top_k]


def _fuser(kind: str, parameters: dict[str, Any]) -> Fuser:
    known = registered(Fuser)
    if kind not in known:
        raise ValueError(f"fuse: {kind!r} is not allowed; it must be a fuser, or one of {', '.join(known)}")
    return cast("type[Fuser]", known[kind])(**parameters)
