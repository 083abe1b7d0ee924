"""A LlamaIndex retriever as a source of a recipe."""

from typing import Literal

from llama_index.core.retrievers import BaseRetriever
from llama_index.hopweave.nodes import to_hit
from llama_index.hopweave.questions import to_bundle
from pydantic import ConfigDict, Field

from hopweave.component import Knowledge, Rankings, Source
from hopweave.hit import Hit
from hopweave.query import Query


class RetrieverSource(Source):
    """
    Lets a recipe ask any LlamaIndex retriever, whatever it searches.

    How many nodes it returns is up to the retriever.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    kind: Literal["retriever"] = "retriever"
    retriever: BaseRetriever = Field(exclude=True, repr=False, description="The retriever to ask.")

    def search(self, query: Query, knowledge: Knowledge, upstream: Rankings | None = None) -> list[Hit]:  # noqa: ARG002
        """Ask the retriever."""
        return [to_hit(node) for node in self.retriever.retrieve(to_bundle(query))]

    async def search_async(self, query: Query, knowledge: Knowledge, upstream: Rankings | None = None) -> list[Hit]:
        """Ask the retriever without blocking the event loop."""
        if type(self.retriever)._aretrieve is BaseRetriever._aretrieve:  # which would block it
            return await super().search_async(query, knowledge, upstream)
        return [to_hit(node) for node in await self.retriever.aretrieve(to_bundle(query))]
