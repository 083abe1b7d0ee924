"""What calls the services of the documents, and what they call."""

from typing import Any, ClassVar

from haystack import Document

from haystack_integrations.common.hopweave.derived import derived
from haystack_integrations.common.hopweave.documents import check_documents, to_hit
from haystack_integrations.common.hopweave.inputs import DOCUMENTS, OVERRIDES, SKIP, TENANT
from haystack_integrations.common.hopweave.parameters import overridden
from haystack_integrations.common.hopweave.questions import Skip, Tenant, narrowed, to_query
from haystack_integrations.common.hopweave.tracing import report
from haystack_integrations.components.builders.hopweave.graph_reader import GraphReader
from hopweave.graph.service_neighbourhood import ServiceNeighbourhood


@derived(ServiceNeighbourhood)
class ServiceNeighbourhoodBuilder(GraphReader):
    """
    Looks around the services that documents are about. Its output `lines` fits the input `neighbours` of
    `ContextBuilder`.

    ```python
    from haystack import Document
    from haystack_integrations.components.builders.hopweave import ServiceNeighbourhoodBuilder

    builder = ServiceNeighbourhoodBuilder(knowledge_base="hopweave.db")
    lines = builder.run(documents=[Document(id="skua")])["lines"]
    ```
    """

    inputs = (DOCUMENTS, TENANT, OVERRIDES, SKIP)
    outputs: ClassVar[dict[str, Any]] = {
        "lines": list[str],
        "neighbourhood": dict[str, Any],
        "failures": dict[str, str],
    }

    def _run(
        self, documents: list[Document], tenant: Tenant, overrides: dict[str, Any] | None, skip: Skip
    ) -> dict[str, Any]:
        """
        Look around the services of documents.

        :returns: The calls as `lines` of text, best last, and the `neighbourhood` by service as plain data; if the
            graph has no services though the documents name some, `failures` says what to do.
        """
        check_documents(documents)
        if skip and self.builder.skipped_by(to_query("", skip=skip)):
            return {"lines": [], "neighbourhood": {}}
        hits = [to_hit(one) for one in documents]
        builder = overridden(self.builder, overrides)
        around = builder.around(hits, self._file.knowledge(), tenant=narrowed(self.tenant, tenant))
        failures = {} if around.missing is None else {self.builder.kind: around.missing}
        failed = report(self, "service_neighbourhood", (), failures, services=len(around.by_name))
        return {"lines": list(around.lines), "neighbourhood": around.as_dict(), **failed}
