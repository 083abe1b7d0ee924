"""A weighted sum of retrievers, with weights that follow how much each can be trusted for this question."""

from haystack_integrations.common.hopweave.derived import derived
from haystack_integrations.common.hopweave.inputs import WEIGHTS
from haystack_integrations.components.joiners.hopweave.fuser_joiner import FuserJoiner
from hopweave.fusion.trust_weighted import TrustWeighted


@derived(TrustWeighted)
class TrustWeightedJoiner(FuserJoiner):
    """
    Score = sum over sources of weight · strength, where the weights follow the evidence of the rankings themselves.

    The trust in a ranking is above_chance^`exponent` · √contrast, where contrast = (first score - score at `depth`)
    / first score and above_chance says how far its best hit is above what chance gives; contrast² where retrievers
    of other packages do not state that. A source that states its own trust (`PageRankRetriever`, from how well the
    names in the question were linked) gets `max_stated_share` · trust of the whole; the others share the rest in
    proportion to their trust.

    ```python
    from haystack import Document
    from haystack_integrations.components.joiners.hopweave import TrustWeightedJoiner

    joiner = TrustWeightedJoiner(sources=["text", "vector"])
    skua = Document(id="skua", content="A ferry.", score=7.5)
    documents = joiner.run(text=[skua], vector=[Document(id="tern", content="A bird.", score=0.7)])["documents"]
    ```
    """

    inputs = (*FuserJoiner.inputs, WEIGHTS)
