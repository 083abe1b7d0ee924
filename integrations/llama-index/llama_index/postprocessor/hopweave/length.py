"""Long texts do not win by their length."""

from llama_index.postprocessor.hopweave.stage import StagePostprocessor

from hopweave.stages.adjust.length import Length


class LengthPostprocessor(Length, StagePostprocessor):
    """
    Divides the scores of nodes that are longer than an anchor length.

    Parameters are those of `hopweave.stages.adjust.length.Length`.

    Examples:
        ```python
        from llama_index.postprocessor.hopweave import LengthPostprocessor

        engine = index.as_query_engine(node_postprocessors=[LengthPostprocessor(anchor_characters=300)])
        ```

    """
