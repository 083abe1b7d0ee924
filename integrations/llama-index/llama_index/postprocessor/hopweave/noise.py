"""Small talk and non-answers are dropped."""

from llama_index.postprocessor.hopweave.stage import StagePostprocessor

from hopweave.stages.filter.noise import Noise


class NoisePostprocessor(Noise, StagePostprocessor):
    """
    Drops nodes whose text is a denial, a greeting, a question about memory, boilerplate or too short.

    Parameters are those of `hopweave.stages.filter.noise.Noise`.

    Examples:
        ```python
        from llama_index.postprocessor.hopweave import NoisePostprocessor

        engine = index.as_query_engine(node_postprocessors=[NoisePostprocessor()])
        ```

    """
