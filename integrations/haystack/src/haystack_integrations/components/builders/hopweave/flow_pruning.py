"""The most reliable paths between the best documents, for a prompt."""

from typing import Any, ClassVar

from haystack import Document

from haystack_integrations.common.hopweave.derived import derived
from haystack_integrations.common.hopweave.documents import check_documents, to_hit
from haystack_integrations.common.hopweave.inputs import DOCUMENTS, OVERRIDES, PLAN, SKIP, TENANT, TOP_K
from haystack_integrations.common.hopweave.parameters import overridden
from haystack_integrations.common.hopweave.questions import Skip, Tenant, asks_for_paths, narrowed, to_query
from haystack_integrations.common.hopweave.tracing import tag
from haystack_integrations.components.builders.hopweave.graph_reader import GraphReader
from hopweave.graph.flow_pruning import FlowPruning


@derived(FlowPruning)
class FlowPruningBuilder(GraphReader):
    """
    Finds the paths through the graph that connect the best documents, and keeps the most reliable ones.

    flow = product over the edges of decay · share of the edge. reliability = 0.6 · mean score of the nodes + 0.4 ·
    flow. Its output `paths` fits the input of that name of `ContextBuilder`, its input `plan` the output of that
    name of `PlanRouter`.

    ```python
    from haystack import Document
    from haystack_integrations.components.builders.hopweave import FlowPruningBuilder

    builder = FlowPruningBuilder(knowledge_base="hopweave.db", min_hits=2)
    documents = [Document(id="skua", score=1.0), Document(id="yard", score=0.5)]
    paths = builder.run(documents=documents)["paths"]
    ```
    """

    inputs = (DOCUMENTS, PLAN, TOP_K, TENANT, OVERRIDES, SKIP)
    outputs: ClassVar[dict[str, Any]] = {
        "paths": list[str],
        "details": list[dict[str, Any]],
        "document_ids": list[str],
        "finished": bool,
    }

    def _run(
        self,
        documents: list[Document],
        plan: dict[str, Any] | None,
        top_k: int | None,
        tenant: Tenant,
        overrides: dict[str, Any] | None,
        skip: Skip,
    ) -> dict[str, Any]:
        """
        Find the paths between documents.

        :returns: `paths` as lines of text, best last; the same as `details`, best first; the `document_ids` on them;
            and whether the search `finished` in time.
        """
        check_documents(documents)
        skipped = bool(skip) and self.builder.skipped_by(to_query("", skip=skip))
        asked = asks_for_paths(plan) and not skipped
        hits = [to_hit(one) for one in documents if asked]
        pruning = overridden(self.builder, overrides, top_k=top_k)
        found = pruning.paths(hits, self._file.knowledge(), tenant=narrowed(self.tenant, tenant))
        tag("flow_pruning", (), paths=len(found.paths), finished=found.finished)
        return {
            "paths": list(found.lines),
            "details": found.as_list(),
            "document_ids": list(found.document_ids),
            "finished": found.finished,
        }
