"""A weighted sum of signals, with weights that follow the intent of the question."""

from haystack_integrations.common.hopweave.derived import derived
from haystack_integrations.common.hopweave.inputs import INTENT, WEIGHTS
from haystack_integrations.components.joiners.hopweave.fuser_joiner import FuserJoiner
from hopweave.fusion.weighted import Weighted


@derived(Weighted)
class WeightedJoiner(FuserJoiner):
    """
    Score = sum over signals of weight · strength, with each signal's strengths in [0, 1] over its own documents.

    Without `weights`, the four signals (embedding, text, graph, intent_edges) weigh what the question's intent says, or
    0.40, 0.45, 0.15 and 0 if there is none. The intent comes in through the input `intent`, from an `IntentRouter`.
    The weight of a signal that is missing is shared out over the others in proportion. Two sources of one signal count
    as the stronger of the two. A source that ran and did not find a document gives it strength 0.

    ```python
    from haystack import Document
    from haystack_integrations.components.joiners.hopweave import WeightedJoiner

    joiner = WeightedJoiner(sources=["text", "vector"], weights={"text": 0.4, "vector": 0.6})
    skua = Document(id="skua", content="A ferry.", score=7.5)
    documents = joiner.run(text=[skua], vector=[Document(id="tern", content="A bird.", score=0.7)])["documents"]
    ```
    """

    inputs = (*FuserJoiner.inputs, INTENT, WEIGHTS)
