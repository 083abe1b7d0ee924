"""What other retrievers have found, scored by all that is known of it."""

from llama_index.retrievers.hopweave.graph import GraphRetriever

from hopweave.sources.evidence_sum import EvidenceSum


class EvidenceSumRetriever(GraphRetriever):
    """
    Ranks what other retrievers have found by the sum of the evidence for each node, on one scale.

    Takes the parameters of `hopweave.sources.evidence_sum.EvidenceSum` beside those of `GraphRetriever`.

    Examples:
        ```python
        from llama_index.retrievers.hopweave import EvidenceSumRetriever

        nodes = EvidenceSumRetriever("hopweave.db", similarity_top_k=5).retrieve("When does the tide gate open?")
        ```

    """

    source_class = EvidenceSum
    named_in = "candidates_from"
