"""As much evidence as fits, numbered."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from haystack import Document, component

from haystack_integrations.common.hopweave.documents import to_hit
from haystack_integrations.common.hopweave.parameters import NamedParameters, overridden, written
from haystack_integrations.common.hopweave.tracing import tag
from hopweave.context.context_builder import ContextBuilder as CoreContextBuilder

_CORE = CoreContextBuilder()


@component
class ContextBuilder(NamedParameters):
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

    def __init__(
        self,
        *,
        budget_tokens: int = _CORE.budget_tokens,
        header: str = _CORE.header,
        separator: str = _CORE.separator,
        paths_header: str = _CORE.paths_header,
        paths_share: float = _CORE.paths_share,
        source_field: str = _CORE.source_field,
        type_order: Sequence[str] = _CORE.type_order,
        type_field: str = _CORE.type_field,
        counter: str = _CORE.counter,
        encoding: str = _CORE.encoding,
    ) -> None:
        """
        Create the builder.

        :param budget_tokens: The context is never longer than this.
        :param header: Before each passage: number, title, source, id.
        :param separator: Between passages.
        :param paths_header: Before the paths found in the graph.
        :param paths_share: Share of the budget that paths may take.
        :param source_field: Metadata field that names the source.
        :param type_order: Types whose documents go first, in this order, such as agent, skill, command and hook; those
            of other types follow. Within a type documents keep their order; without types, all do.
        :param type_field: Metadata field that names the type.
        :param counter: How tokens are counted: approximate, words, characters or tiktoken.
        :param encoding: Vocabulary for the counter tiktoken.
        """
        self.builder = CoreContextBuilder(
            budget_tokens=budget_tokens,
            header=header,
            separator=separator,
            paths_header=paths_header,
            paths_share=paths_share,
            source_field=source_field,
            type_order=type_order,
            type_field=type_field,
            counter=counter,
            encoding=encoding,
        )

    def to_dict(self) -> dict[str, Any]:
        """
        The component as serialised data.

        :returns: Its type and the parameters of its constructor.
        """
        return written(self, self.builder)

    @component.output_types(
        context=str, prompt=str, sources=str, citations=list[dict[str, Any]], tokens=int, dropped=list[str]
    )
    def run(
        self,
        documents: list[Document],
        query: str = "",
        paths: list[str] | None = None,
        neighbours: list[str] | None = None,
        overrides: dict[str, Any] | None = None,
    ) -> dict[str, Any]:
        """
        Build the context.

        :param documents: What was retrieved, best first.
        :param query: The question, for the prompt.
        :param paths: Connections found in the graph as lines of text, best last.
        :param neighbours: Who calls whom as lines of text, best last; they go before the paths.
        :param overrides: Other values for parameters of the constructor, by name, for this run.
        :returns: `context`, a `prompt` that asks to answer from it and to cite it, the list of `sources` and the same
            as `citations`, the length in `tokens`, and the ids of documents that were `dropped`.
        """
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
