"""Nothing below a bar."""

from llama_index.postprocessor.hopweave.stage import StagePostprocessor

from hopweave.stages.filter.score_threshold import ScoreThreshold


class ScoreThresholdPostprocessor(ScoreThreshold, StagePostprocessor):
    """
    Drops nodes whose score is too low.

    Parameters are those of `hopweave.stages.filter.score_threshold.ScoreThreshold`.

    Examples:
        ```python
        from llama_index.postprocessor.hopweave import ScoreThresholdPostprocessor

        engine = index.as_query_engine(node_postprocessors=[ScoreThresholdPostprocessor(min_score=0.2)])
        ```

    """
