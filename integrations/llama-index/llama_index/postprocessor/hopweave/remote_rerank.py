"""Reranking by a service on the network."""

from llama_index.postprocessor.hopweave.stage import RerankPostprocessor, VectorPostprocessor

from hopweave.stages.rerank.remote_rerank import RemoteRerank


class RemoteRerankPostprocessor(RemoteRerank, RerankPostprocessor, VectorPostprocessor):
    """
    Asks Jina, SiliconFlow, Pinecone or any endpoint of the common shape, within a deadline; if it fails, nodes are
    reranked by cosine, else stay as they are. The key comes from the environment and is never written.

    Parameters are those of `hopweave.stages.rerank.remote_rerank.RemoteRerank`.

    Examples:
        ```python
        from llama_index.postprocessor.hopweave import RemoteRerankPostprocessor

        engine = index.as_query_engine(node_postprocessors=[RemoteRerankPostprocessor(provider="jina", top_n=5)])
        ```

    """
