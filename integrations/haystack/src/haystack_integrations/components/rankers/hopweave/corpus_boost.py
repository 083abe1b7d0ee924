"""Questions that name a subject favour the corpus that covers it."""

from haystack_integrations.common.hopweave.derived import derived
from haystack_integrations.components.rankers.hopweave.stage_ranker import StageRanker
from hopweave.stages.adjust.corpus_boost import CorpusBoost


@derived(CorpusBoost)
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
