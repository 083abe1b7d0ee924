"""An answer without a language model: the best sentences of the documents, word for word."""

from dataclasses import asdict
from typing import Any

from haystack import Document, component

from haystack_integrations.common.hopweave.documents import to_hit
from haystack_integrations.common.hopweave.parameters import NamedParameters, overridden, written
from haystack_integrations.common.hopweave.tracing import tag
from hopweave.context.cite import numbered, source_list
from hopweave.context.extractive_answer import ExtractiveAnswer

_CORE = ExtractiveAnswer()


@component
class ExtractiveAnswerBuilder(NamedParameters):
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

    def __init__(
        self,
        *,
        max_sentences: int = _CORE.max_sentences,
        min_gain: float = _CORE.min_gain,
        max_characters: int = _CORE.max_characters,
    ) -> None:
        """
        Create the builder.

        :param max_sentences: Maximum number of sentences in the answer.
        :param min_gain: Sentences with a lower gain are left out.
        :param max_characters: Longer sentences (tables, code) are not quoted.
        """
        self.extractor = ExtractiveAnswer(max_sentences=max_sentences, min_gain=min_gain, max_characters=max_characters)

    def to_dict(self) -> dict[str, Any]:
        """
        The component as serialised data.

        :returns: Its type and the parameters of its constructor.
        """
        return written(self, self.extractor)

    @component.output_types(answer=str, quotes=list[dict[str, Any]], sources=str)
    def run(self, query: str, documents: list[Document], overrides: dict[str, Any] | None = None) -> dict[str, Any]:
        """
        Answer a question from documents.

        :param query: The question.
        :param documents: What was retrieved, best first; the numbers in the answer count them from 1.
        :param overrides: Other values for parameters of the constructor, by name, for this run.
        :returns: `answer` as text with a number after each sentence, its `quotes`, and the list of `sources`.
        """
        citations = numbered(to_hit(one) for one in documents)
        answer = overridden(self.extractor, overrides).answer(query, citations)
        tag("extractive_answer", (), quotes=len(answer.quotes))
        quotes = [asdict(quote) for quote in answer.quotes]
        return {"answer": answer.text, "quotes": quotes, "sources": source_list(citations)}
