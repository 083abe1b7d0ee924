"""How near the question a node is, whatever found it."""

from llama_index.postprocessor.hopweave.stage import RerankPostprocessor, VectorPostprocessor

from hopweave.stages.rerank.cosine_rerank import CosineRerank


class CosineRerankPostprocessor(CosineRerank, RerankPostprocessor, VectorPostprocessor):
    """
    Mixes the score with the cosine between question and node; without any vector, nodes stay as they are.

    Parameters are those of `hopweave.stages.rerank.cosine_rerank.CosineRerank`.

    Examples:
        ```python
        from llama_index.postprocessor.hopweave import CosineRerankPostprocessor

        engine = index.as_query_engine(node_postprocessors=[CosineRerankPostprocessor(blend=0.5, top_n=5)])
        ```

    """
