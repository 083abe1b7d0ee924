"""Small talk and non-answers are dropped."""

from haystack_integrations.common.hopweave.derived import derived
from haystack_integrations.components.rankers.hopweave.stage_ranker import StageRanker
from hopweave.stages.filter.noise import Noise


@derived(Noise)
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
