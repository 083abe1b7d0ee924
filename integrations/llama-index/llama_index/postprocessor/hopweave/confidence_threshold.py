"""No nodes at all rather than some that do not have the answer."""

from llama_index.postprocessor.hopweave.stage import StagePostprocessor

from hopweave.stages.filter.confidence_threshold import ConfidenceThreshold


class ConfidenceThresholdPostprocessor(ConfidenceThreshold, StagePostprocessor):
    """
    Returns all nodes or none: none if the answer is probably not among them.

    Parameters are those of `hopweave.stages.filter.confidence_threshold.ConfidenceThreshold`.

    Examples:
        ```python
        from llama_index.postprocessor.hopweave import ConfidenceThresholdPostprocessor

        engine = index.as_query_engine(node_postprocessors=[ConfidenceThresholdPostprocessor(min_confidence=0.2)])
        ```

    """
