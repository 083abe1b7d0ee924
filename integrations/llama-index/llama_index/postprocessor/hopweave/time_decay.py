"""What is old counts less."""

from llama_index.postprocessor.hopweave.stage import DatedPostprocessor

from hopweave.stages.adjust.time_decay import TimeDecay


class TimeDecayPostprocessor(TimeDecay, DatedPostprocessor):
    """
    Multiplies scores by a share that falls with age, down to a floor.

    Parameters are those of `hopweave.stages.adjust.time_decay.TimeDecay`.

    Examples:
        ```python
        from llama_index.postprocessor.hopweave import TimeDecayPostprocessor

        engine = index.as_query_engine(node_postprocessors=[TimeDecayPostprocessor(half_life_days=30)])
        ```

    """
