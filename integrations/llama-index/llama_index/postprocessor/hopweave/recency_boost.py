"""A bonus for what is new."""

from llama_index.postprocessor.hopweave.stage import DatedPostprocessor

from hopweave.stages.adjust.recency_boost import RecencyBoost


class RecencyBoostPostprocessor(RecencyBoost, DatedPostprocessor):
    """
    Adds a bonus to the scores that falls with age.

    Parameters are those of `hopweave.stages.adjust.recency_boost.RecencyBoost`.

    Examples:
        ```python
        from llama_index.postprocessor.hopweave import RecencyBoostPostprocessor

        engine = index.as_query_engine(node_postprocessors=[RecencyBoostPostprocessor(half_life_days=7)])
        ```

    """
