"""A model that reads question and passage together."""

from haystack_integrations.common.hopweave.derived import derived
from haystack_integrations.components.rankers.hopweave.stage_ranker import StageRanker
from hopweave.stages.rerank.cross_encoder import CrossEncoder


@derived(CrossEncoder)
class CrossEncoderRanker(StageRanker):
    """
    Rescores the first documents with a sentence-transformers cross-encoder; the rest follow behind them.

    score = blend * sigmoid(logit) + (1 - blend) * original, or the logit itself with `output="logit"`. A document
    without an original score takes the model's alone. The rest keep their order and get at most the lowest score
    of those that were read. The model is loaded at the first use, once per process, and shared by all threads.
    Needs the extra `hopweave[sentence-transformers]`.

    ```python
    from haystack import Document
    from haystack_integrations.components.rankers.hopweave import CrossEncoderRanker

    ranker = CrossEncoderRanker(candidates=20)
    documents = [Document(content="The Skua sails hourly.", score=0.8)]
    result = ranker.run(documents=documents, query="Why is the ferry down?")["documents"]
    ```
    """
