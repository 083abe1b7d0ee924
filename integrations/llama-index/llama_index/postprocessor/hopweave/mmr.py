"""Relevant, and not the same thing again."""

from llama_index.postprocessor.hopweave.stage import ComparingPostprocessor

from hopweave.stages.diversify.mmr import MMR


class MMRPostprocessor(MMR, ComparingPostprocessor):
    """
    Picks nodes one by one by maximal marginal relevance; scores stay as they are.

    Parameters are those of `hopweave.stages.diversify.mmr.MMR`.

    Examples:
        ```python
        from llama_index.postprocessor.hopweave import MMRPostprocessor

        engine = index.as_query_engine(node_postprocessors=[MMRPostprocessor(relevance_weight=0.5, top_k=5)])
        ```

    """
