"""What retrievers of other stores find, in the place of a source of a recipe."""

from typing import Any, ClassVar

from haystack import Document

from haystack_integrations.common.hopweave.derived import CoreComponent, derived
from haystack_integrations.common.hopweave.documents import check_documents
from haystack_integrations.common.hopweave.inputs import QUERY, TENANT, Input
from haystack_integrations.common.hopweave.questions import Tenant, narrowed
from haystack_integrations.common.hopweave.settings import OWN_TENANT, TENANT_REQUIRED
from hopweave.metadata.tenants import in_tenant, require_tenant


@derived()
class UpstreamRouter(CoreComponent):
    """
    Hands on what a retriever of yours has found, as far as the tenant may see it.

    In a pipeline that `to_pipeline` makes with `upstream`, one stands for each source whose documents your retrievers
    find: connect them to its input `documents`. If nothing comes in, there are no documents, as for a source that is
    skipped.

    ```python
    from haystack import Document
    from haystack_integrations.components.routers.hopweave import UpstreamRouter

    router = UpstreamRouter(tenant={"customer": "acme"})
    found = [Document(content="MV Skua", meta={"customer": "acme"}), Document(content="MV Plover")]
    len(router.run(query="Which ships?", documents=found)["documents"])  # 1
    ```
    """

    inputs = (QUERY, Input("documents", list[Document] | None, "What was found, best first.", None), TENANT)
    outputs: ClassVar[dict[str, Any]] = {"documents": list[Document]}

    settings = (OWN_TENANT, TENANT_REQUIRED)

    tenant: dict[str, Any] | None
    tenant_required: list[str]

    def _run(
        self,
        query: str,  # noqa: ARG002 - a gate or a plan that does not send one skips this source
        documents: list[Document] | None,
        tenant: Tenant,
    ) -> dict[str, list[Document]]:
        """
        Hand on documents.

        :returns: `documents`, those that the tenant may see; nothing if none came in.
        """
        if documents is None:
            return {}
        check_documents(documents)
        seen_by = narrowed(self.tenant, tenant)
        require_tenant(self.tenant_required, seen_by, type(self).__name__)
        return {"documents": [one for one in documents if in_tenant(one.meta, seen_by)]}
