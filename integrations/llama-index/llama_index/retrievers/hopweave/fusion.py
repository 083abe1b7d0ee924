"""Several retrievers, one ranking."""

from collections.abc import Collection, Mapping
from typing import Any

from llama_index.core.callbacks import CallbackManager
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle
from llama_index.hopweave.retriever_source import RetrieverSource
from llama_index.retrievers.hopweave.pipeline import PipelineRetriever, dispatcher

import hopweave.catalogue  # noqa: F401 - so that every fuser's kind is known
from hopweave.component import Fuser, registered
from hopweave.pipeline import Pipeline
from hopweave.recipe import Recipe
from hopweave.routing.intent import IntentClassifier


class FusionRetriever(PipelineRetriever):
    """
    Asks several retrievers side by side and fuses their rankings, by name. No language model is involved.

    Args:
        retrievers: Retrievers by name. Weights and signals go by these names.
        fuse: How rankings become one: a fuser, or the kind of one (reciprocal_rank, weighted, confirmatory).
        similarity_top_k: How many nodes to return; everything that was found when not given.
        intent: Finds out what the question is after, for a weighted fuser that goes by it.
        optional: Names of retrievers that may fail without failing the query.
        callback_manager: LlamaIndex's callback manager.
        verbose: Whether LlamaIndex prints what it does.
        parameters: Parameters of the fuser, if it is given by its kind: `weights`, `k`, `base` ...

    Examples:
        ```python
        from llama_index.retrievers.hopweave import Bm25Retriever, FusionRetriever

        retriever = FusionRetriever(
            {"vector": index.as_retriever(), "text": Bm25Retriever("hopweave.db")}, weights={"text": 2.0}
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
        intent: IntentClassifier | None = None,
        optional: Collection[str] = (),
        callback_manager: CallbackManager | None = None,
        verbose: bool = False,
        **parameters: Any,
    ) -> None:
        """Set the fuser up; it checks its parameters and whether it can fuse these names."""
        fuser = fuse if isinstance(fuse, Fuser) else registered(Fuser)[fuse](**parameters)
        fuser.check_sources(retrievers)
        sources = {name: RetrieverSource(retriever=one, optional=name in optional) for name, one in retrievers.items()}
        recipe = Recipe(name=fuser.kind, intent=intent, sources=sources, fuse=fuser)
        self._limit = similarity_top_k
        super().__init__(Pipeline(recipe, None), stages=False, callback_manager=callback_manager, verbose=verbose)

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return super()._retrieve(query_bundle)[: self._limit]

    @dispatcher.span
    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return (await super()._aretrieve(query_bundle))[: self._limit]
