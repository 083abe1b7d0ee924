"""What other components found, as a source that a graph walk can start from."""

from typing import Literal

from haystack import Document
from pydantic import ConfigDict, Field

from haystack_integrations.common.hopweave.documents import to_hit
from hopweave.component import Rankings, Source
from hopweave.hit import Hit
from hopweave.knowledge import Knowledge
from hopweave.query import Query


class Upstream(Source):
    """Documents that are there already, in their order."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    kind: Literal["upstream"] = "upstream"
    documents: tuple[Document, ...] = Field(default=(), description="What was found.")

    def search(self, query: Query, knowledge: Knowledge, upstream: Rankings | None = None) -> list[Hit]:  # noqa: ARG002
        """
        The documents as hits, whatever the question.

        :param query: The question.
        :param knowledge: Where documents live.
        :param upstream: What other sources found.
        :returns: The hits.
        """
        return [to_hit(document) for document in self.documents]
