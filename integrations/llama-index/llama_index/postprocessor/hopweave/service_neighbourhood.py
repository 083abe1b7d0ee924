"""What calls the services of the nodes, and what they call."""

from collections.abc import Mapping, Sequence
from typing import Any

from llama_index.hopweave.failures import report
from llama_index.postprocessor.hopweave.connections import ConnectionsPostprocessor

from hopweave.graph.service_neighbourhood import ServiceNeighbourhood
from hopweave.hit import Hit
from hopweave.knowledge import Knowledge


class ServiceNeighbourhoodPostprocessor(ServiceNeighbourhood, ConnectionsPostprocessor):
    """
    Puts what calls the services of the nodes, and what they call, before them, as one more node: as text and as data.

    Parameters are those of `hopweave.graph.service_neighbourhood.ServiceNeighbourhood`, beside those of
    `ConnectionsPostprocessor`.

    Examples:
        ```python
        from llama_index.postprocessor.hopweave import ServiceNeighbourhoodPostprocessor

        around = ServiceNeighbourhoodPostprocessor(knowledge_base="hopweave.db")
        engine = index.as_query_engine(node_postprocessors=[around])
        ```

    """

    def connections(
        self, hits: Sequence[Hit], knowledge: Knowledge, tenant: Mapping[str, Any] | None
    ) -> tuple[Sequence[str], Any]:
        """The calls."""
        found = self.around(hits, knowledge, tenant=tenant)
        if found.missing is not None:
            report({self.kind: found.missing})
        return found.lines, found.as_dict()
