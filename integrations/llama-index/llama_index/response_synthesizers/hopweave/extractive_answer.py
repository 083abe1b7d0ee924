"""Answers without a language model."""

from collections.abc import Sequence
from typing import Any

from llama_index.core.llms import MockLLM
from llama_index.core.types import TokenAsyncGen, TokenGen
from llama_index.response_synthesizers.hopweave.context_builder import Build, ContextBuilderSynthesizer

from hopweave.context.context_builder import ContextBuilder
from hopweave.context.extractive_answer import ExtractiveAnswer

NO_ANSWER = "The passages found do not answer the question."


class ExtractiveAnswerSynthesizer(ContextBuilderSynthesizer):
    """
    Answers with the best sentences of the nodes, word for word, each with the number of its source.

    Args:
        answer: Picks the sentences; the usual way when not given.
        context: Numbers the nodes, as in `ContextBuilderSynthesizer`.
        kwargs: What every response synthesizer takes.

    Examples:
        ```python
        from llama_index.response_synthesizers.hopweave import ExtractiveAnswerSynthesizer

        engine = index.as_query_engine(response_synthesizer=ExtractiveAnswerSynthesizer())
        print(engine.query("When does the tide gate open?"))
        ```

    """

    def __init__(
        self, answer: ExtractiveAnswer | None = None, *, context: ContextBuilder | Build | None = None, **kwargs: Any
    ) -> None:
        """Keep what picks the sentences."""
        super().__init__(MockLLM(), context=context, **kwargs)  # never asked, but LlamaIndex wants one
        self._answer = ExtractiveAnswer() if answer is None else answer

    def get_response(self, query_str: str, text_chunks: Sequence[str], **response_kwargs: Any) -> Any:  # noqa: ARG002
        """Pick the sentences."""
        answer = self._answer.answer(query_str, response_kwargs["context"].citations).text or NO_ANSWER
        return _words(answer) if self._streaming else answer

    async def aget_response(self, query_str: str, text_chunks: Sequence[str], **response_kwargs: Any) -> Any:  # noqa: ARG002
        """Pick the sentences."""
        answer = self._answer.answer(query_str, response_kwargs["context"].citations).text or NO_ANSWER
        return _words_async(answer) if self._streaming else answer


def _words(answer: str) -> TokenGen:
    first, *others = answer.split(" ")
    yield first
    yield from (f" {word}" for word in others)


async def _words_async(answer: str) -> TokenAsyncGen:
    for word in _words(answer):
        yield word
