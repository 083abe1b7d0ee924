"""Near-duplicates step back."""

from llama_index.postprocessor.hopweave.stage import ComparingPostprocessor

from hopweave.stages.diversify.deferral import Deferral


class DeferralPostprocessor(Deferral, ComparingPostprocessor):
    """
    Moves a node that is too similar to a better one to the end. Nothing is dropped.

    Parameters are those of `hopweave.stages.diversify.deferral.Deferral`.

    Examples:
        ```python
        from llama_index.postprocessor.hopweave import DeferralPostprocessor

        engine = index.as_query_engine(node_postprocessors=[DeferralPostprocessor(max_similarity=0.9)])
        ```

    """
