"""Nothing below a bar."""

from llama_index.postprocessor.hopweave.stage import StagePostprocessor

from hopweave.stages.minimum import Minimum


class MinimumPostprocessor(Minimum, StagePostprocessor):
    """
    Drops nodes whose score is too low.

    Parameters are those of `hopweave.stages.minimum.Minimum`.

    Examples:
        ```python
        from llama_index.postprocessor.hopweave import MinimumPostprocessor

        engine = index.as_query_engine(node_postprocessors=[MinimumPostprocessor(minimum=0.2)])
        ```

    """
