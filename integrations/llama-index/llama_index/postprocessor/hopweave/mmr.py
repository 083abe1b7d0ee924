"""Relevant, and not the same thing again."""

from llama_index.postprocessor.hopweave.stage import ComparingPostprocessor

from hopweave.stages.mmr import Mmr


class MmrPostprocessor(Mmr, ComparingPostprocessor):
    """
    Picks nodes one by one by maximal marginal relevance; scores stay as they are.

    Parameters are those of `hopweave.stages.mmr.Mmr`.

    Examples:
        ```python
        from llama_index.postprocessor.hopweave import MmrPostprocessor

        engine = index.as_query_engine(node_postprocessors=[MmrPostprocessor(relevance_weight=0.5, top_k=5)])
        ```

    """
