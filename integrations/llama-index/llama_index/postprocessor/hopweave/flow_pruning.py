"""The few paths that connect the best nodes."""

from collections.abc import Mapping, Sequence
from typing import Any

from llama_index.postprocessor.hopweave.connections import ConnectionsPostprocessor

from hopweave.graph.flow_pruning import FlowPruning
from hopweave.hit import Hit
from hopweave.knowledge import Knowledge


class FlowPruningPostprocessor(FlowPruning, ConnectionsPostprocessor):
    """
    Puts the most reliable paths between the best nodes before them, as one more node: as text and as data.

    Parameters are those of `hopweave.graph.flow_pruning.FlowPruning`, beside those of `ConnectionsPostprocessor`.

    Examples:
        ```python
        from llama_index.postprocessor.hopweave import FlowPruningPostprocessor

        engine = index.as_query_engine(node_postprocessors=[FlowPruningPostprocessor(knowledge_base="hopweave.db")])
        ```

    """

    def connections(
        self, hits: Sequence[Hit], knowledge: Knowledge, tenant: Mapping[str, Any] | None
    ) -> tuple[Sequence[str], Any]:
        """The paths."""
        found = self.paths(hits, knowledge, tenant=tenant)
        return found.lines, {
            "paths": found.as_list(),
            "document_ids": list(found.document_ids),
            "finished": found.finished,
        }
