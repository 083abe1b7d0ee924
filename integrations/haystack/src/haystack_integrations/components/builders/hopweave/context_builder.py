"""As much evidence as fits, numbered."""

from dataclasses import asdict
from typing import Any, ClassVar

from haystack import Document

from haystack_integrations.common.hopweave.derived import CoreComponent, derived
from haystack_integrations.common.hopweave.documents import check_documents, to_hit
from haystack_integrations.common.hopweave.inputs import DOCUMENTS, OVERRIDES, QUERY_IF_ANY, Input
from haystack_integrations.common.hopweave.parameters import overridden
from haystack_integrations.common.hopweave.tracing import tag
from hopweave.context.context_builder import ContextBuilder as CoreContextBuilder


@derived(CoreContextBuilder)
class ContextBuilder(CoreComponent):
    r"""
    Packs documents into a context with numbered citations that never exceeds its budget.

    Documents go in whole, in their order; the one that no longer fits is cut at the end of a sentence and is the last.
    All outputs are text or plain data, so a pipeline that ends here can be served as an MCP tool.

    ```python
    from haystack import Document
    from haystack_integrations.components.builders.hopweave import ContextBuilder

    builder = ContextBuilder(budget_tokens=500)
    document = Document(id="skua", content="The Skua sails hourly.", meta={"title": "MV Skua"})
    result = builder.run(documents=[document], query="When does the Skua sail?")
    result["context"]  # "[1] MV Skua\nThe Skua sails hourly."
    ```
    """

    inputs = (
        DOCUMENTS,
        QUERY_IF_ANY,
        Input("paths", list[str] | None, "Connections found in the graph as lines of text, best last.", None),
        Input(
            "neighbours",
            list[str] | None,
            "Who calls whom as lines of text, best last; they go before the paths.",
            None,
        ),
        OVERRIDES,
    )
    outputs: ClassVar[dict[str, Any]] = {
        "context": str,
        "prompt": str,
        "sources": str,
        "citations": list[dict[str, Any]],
        "tokens": int,
        "dropped": list[str],
    }

    def _hold(self, builder: CoreContextBuilder) -> None:
        """Create the builder."""
        self.builder = builder

    def _run(
        self,
        documents: list[Document],
        query: str,
        paths: list[str] | None,
        neighbours: list[str] | None,
        overrides: dict[str, Any] | None,
    ) -> dict[str, Any]:
        """
        Build the context.

        :returns: `context`, a `prompt` that asks to answer from it and to cite it, the list of `sources` and the same
            as `citations`, the length in `tokens`, and the ids of documents that were `dropped`.
        """
        check_documents(documents)
        hits = [to_hit(one) for one in documents]
        context = overridden(self.builder, overrides).build(hits, [*(neighbours or ()), *(paths or ())])
        tag("context", (), tokens=context.tokens, dropped=len(context.dropped))
        return {
            "context": context.text,
            "prompt": context.prompt(query),
            "sources": context.sources,
            "citations": [asdict(one) for one in context.citations],
            "tokens": context.tokens,
            "dropped": list(context.dropped),
        }
