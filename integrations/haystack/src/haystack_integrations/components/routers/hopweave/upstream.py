"""What retrievers of other stores find, in the place of a source of a recipe."""

from typing import Any

from haystack import Document, component, default_to_dict

from haystack_integrations.common.hopweave.documents import check_documents
from haystack_integrations.common.hopweave.parameters import NamedParameters
from haystack_integrations.common.hopweave.questions import Tenant, narrowed
from hopweave.metadata.tenants import checked_tenant, in_tenant


@component
class UpstreamRouter(NamedParameters):
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

    def __init__(self, *, tenant: dict[str, Any] | None = None) -> None:
        """
        Create the router.

        :param tenant: Metadata values a document must have to be seen at all.
        """
        self.tenant = checked_tenant(tenant)

    def to_dict(self) -> dict[str, Any]:
        """
        The component as serialised data.

        :returns: Its type and the parameters of its constructor.
        """
        return default_to_dict(self, tenant=self.tenant)

    @component.output_types(documents=list[Document])
    def run(
        self,
        query: str,  # noqa: ARG002 - a gate or a plan that does not send one skips this source
        documents: list[Document] | None = None,
        tenant: Tenant = None,
    ) -> dict[str, list[Document]]:
        """
        Hand on documents.

        :param query: The question.
        :param documents: What was found, best first.
        :param tenant: Metadata values a document must have to be seen at all; narrows those given at construction.
        :returns: `documents`, those that the tenant may see; nothing if none came in.
        """
        if documents is None:
            return {}
        check_documents(documents)
        seen_by = narrowed(self.tenant, tenant)
        return {"documents": [one for one in documents if in_tenant(one.meta, seen_by)]}
