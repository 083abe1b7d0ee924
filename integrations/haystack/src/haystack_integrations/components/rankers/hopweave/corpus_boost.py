"""Questions that name a subject favour the corpus that covers it."""

from collections.abc import Sequence
from typing import Any

from haystack import component

from haystack_integrations.components.rankers.hopweave.stage_ranker import StageRanker
from hopweave.stages.adjust.corpus_boost import CorpusBoost, CorpusRule

_CORE = CorpusBoost()


@component
class CorpusBoostRanker(StageRanker):
    """
    Score = score · multiplier, for each rule that the question fires and that lists the document's corpus type.

    Words are whole words: "download" does not say "down". Logits become probabilities first, so that a boost always
    raises a score.

    ```python
    from haystack import Document
    from haystack_integrations.components.rankers.hopweave import CorpusBoostRanker

    ranker = CorpusBoostRanker(rules=[{"phrases": ["ferry"], "corpus_types": ["NOTICE"], "multiplier": 1.2}])
    documents = [Document(content="The Skua sails hourly.", score=0.8, meta={"corpus_type": "NOTICE"})]
    result = ranker.run(documents=documents, query="Why is the ferry down?")["documents"]
    ```
    """

    def __init__(
        self,
        *,
        rules: Sequence[CorpusRule | dict[str, Any]] = _CORE.rules,
        corpus_type_field: str = _CORE.corpus_type_field,
        clamp: bool = _CORE.clamp,
        optional: bool = False,
        top_k: int | None = None,
    ) -> None:
        """
        Create the ranker.

        :param rules: Which phrases boost which corpus types, and by how much.
        :param corpus_type_field: Metadata field with the corpus type.
        :param clamp: Whether to keep scores within [0, 1].
        :param optional: Go on with the documents as they were if this stage fails.
        :param top_k: How many documents to return, all of them when not given.
        """
        stage = CorpusBoost(
            optional=optional,
            rules=rules,
            corpus_type_field=corpus_type_field,
            clamp=clamp,
        )
        StageRanker.__init__(self, stage, top_k=top_k)
