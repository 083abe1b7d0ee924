"""What matters more counts more."""

from llama_index.postprocessor.hopweave.stage import StagePostprocessor

from hopweave.stages.adjust.importance import Importance


class ImportancePostprocessor(Importance, StagePostprocessor):
    """
    Weighs scores by the importance in the metadata; without one, a score stays.

    Parameters are those of `hopweave.stages.adjust.importance.Importance`.

    Examples:
        ```python
        from llama_index.postprocessor.hopweave import ImportancePostprocessor

        engine = index.as_query_engine(node_postprocessors=[ImportancePostprocessor()])
        ```

    """
