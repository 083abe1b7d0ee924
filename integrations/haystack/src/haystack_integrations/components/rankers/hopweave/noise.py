"""Small talk and non-answers are dropped."""

from collections.abc import Sequence
from typing import Any

from haystack import component

from haystack_integrations.components.rankers.hopweave.stage_ranker import StageRanker
from hopweave.stages.filter.noise import Noise, NoiseRule

_CORE = Noise()


@component
class NoiseRanker(StageRanker):
    """
    Drops documents whose text is a non-answer, a question about memory, a greeting, boilerplate or too short.

    The order of the others stays.

    ```python
    from haystack import Document
    from haystack_integrations.components.rankers.hopweave import NoiseRanker

    ranker = NoiseRanker(min_characters=10)
    documents = [Document(content="The Skua sails hourly.", score=0.8)]
    result = ranker.run(documents=documents, query="Why is the ferry down?")["documents"]
    ```
    """

    def __init__(
        self,
        *,
        rules: Sequence[NoiseRule | dict[str, Any]] = _CORE.rules,
        extra_rules: Sequence[NoiseRule | dict[str, Any]] = _CORE.extra_rules,
        min_characters: int = _CORE.min_characters,
        min_cjk_characters: int = _CORE.min_cjk_characters,
        optional: bool = False,
        top_k: int | None = None,
    ) -> None:
        """
        Create the ranker.

        :param rules: Rules for noise; a value given here replaces the built-in rules.
        :param extra_rules: Rules in addition to `rules`; they are tried first.
        :param min_characters: Shorter texts are noise.
        :param min_cjk_characters: The same limit for texts with Chinese, Japanese or Korean characters.
        :param optional: Go on with the documents as they were if this stage fails.
        :param top_k: How many documents to return, all of them when not given.
        """
        stage = Noise(
            optional=optional,
            rules=rules,
            extra_rules=extra_rules,
            min_characters=min_characters,
            min_cjk_characters=min_cjk_characters,
        )
        StageRanker.__init__(self, stage, top_k=top_k)
