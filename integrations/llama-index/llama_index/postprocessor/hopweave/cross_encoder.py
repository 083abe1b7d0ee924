"""A model that reads question and text together."""

from llama_index.postprocessor.hopweave.stage import RerankPostprocessor

from hopweave.stages.rerank.cross_encoder import CrossEncoder


class CrossEncoderPostprocessor(CrossEncoder, RerankPostprocessor):
    """
    Rescores the first nodes with a sentence-transformers cross-encoder; the rest follow behind them.

    Parameters are those of `hopweave.stages.rerank.cross_encoder.CrossEncoder`.

    Examples:
        ```python
        from llama_index.postprocessor.hopweave import CrossEncoderPostprocessor

        engine = index.as_query_engine(node_postprocessors=[CrossEncoderPostprocessor(candidates=20, top_n=5)])
        ```

    """
