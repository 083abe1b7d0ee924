"""An answer without a language model: the best sentences of the documents, word for word."""

from dataclasses import asdict
from typing import Any, ClassVar

from haystack import Document

from haystack_integrations.common.hopweave.derived import CoreComponent, derived
from haystack_integrations.common.hopweave.documents import check_documents, to_hit
from haystack_integrations.common.hopweave.inputs import DOCUMENTS, OVERRIDES, QUERY
from haystack_integrations.common.hopweave.parameters import overridden
from haystack_integrations.common.hopweave.tracing import tag
from hopweave.context.cite import numbered, source_list
from hopweave.context.extractive_answer import ExtractiveAnswer


@derived(ExtractiveAnswer, without=("vector_share",))
class ExtractiveAnswerBuilder(CoreComponent):
    """
    Answers with the sentences that cover most of the question's words, rare words counting more, each cited.

    All outputs are text or plain data, so a pipeline that ends here can be served as an MCP tool.

    ```python
    from haystack import Document
    from haystack_integrations.components.builders.hopweave import ExtractiveAnswerBuilder

    document = Document(id="skua", content="The Skua is red. The Skua sails hourly.")
    result = ExtractiveAnswerBuilder(max_sentences=1).run(query="When does the Skua sail?", documents=[document])
    result["answer"]  # "The Skua sails hourly. [1]"
    ```
    """

    inputs = (QUERY, DOCUMENTS, OVERRIDES)
    outputs: ClassVar[dict[str, Any]] = {"answer": str, "quotes": list[dict[str, Any]], "sources": str}

    def _hold(self, extractor: ExtractiveAnswer) -> None:
        """Create the builder."""
        self.extractor = extractor

    def _run(self, query: str, documents: list[Document], overrides: dict[str, Any] | None) -> dict[str, Any]:
        """
        Answer a question from documents.

        :returns: `answer` as text with a number after each sentence that counts the documents from 1, its `quotes`, and
            the list of `sources`.
        """
        check_documents(documents)
        citations = numbered(to_hit(one) for one in documents)
        answer = overridden(self.extractor, overrides).answer(query, citations)
        tag("extractive_answer", (), quotes=len(answer.quotes))
        quotes = [asdict(quote) for quote in answer.quotes]
        return {"answer": answer.text, "quotes": quotes, "sources": source_list(citations)}
