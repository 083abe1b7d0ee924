"""What other retrievers have found, scored by all that is known of it."""

from haystack_integrations.common.hopweave.derived import derived
from haystack_integrations.common.hopweave.inputs import INTENT
from haystack_integrations.components.retrievers.hopweave.source_retriever import GraphRetriever
from hopweave.sources.evidence_sum import EvidenceSum


@derived(EvidenceSum)
class EvidenceSumRetriever(GraphRetriever):
    """
    Documents that other retrievers have found, by the sum of the evidence for each on one scale: weight · z.

    Each name in `candidates_from` is an input: connect any retriever to it. Words, vectors, the whole document and a
    latent space of the corpus are asked of the knowledge base; documents of other stores are fused as
    `TrustWeightedJoiner` does.

    ```python
    from haystack_integrations.components.retrievers.hopweave import BM25Retriever, EvidenceSumRetriever

    words = BM25Retriever(knowledge_base="hopweave.db").run(query="Who built the tide gate?")["documents"]
    retriever = EvidenceSumRetriever(knowledge_base="hopweave.db", candidates_from=["text"])
    documents = retriever.run(query="Who built the tide gate?", text=words)["documents"]
    ```
    """

    inputs = (*GraphRetriever.inputs, INTENT)
    named_in = "candidates_from"
