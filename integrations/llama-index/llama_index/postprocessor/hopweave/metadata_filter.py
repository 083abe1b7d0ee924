"""Only nodes of the right type, corpus, service or repository."""

from llama_index.postprocessor.hopweave.stage import StagePostprocessor

from hopweave.stages.filter.metadata_filter import MetadataFilter


class MetadataFilterPostprocessor(MetadataFilter, StagePostprocessor):
    """
    Keeps the nodes whose metadata is allowed; scores and order stay.

    Parameters are those of `hopweave.stages.filter.metadata_filter.MetadataFilter`.

    Examples:
        ```python
        from llama_index.postprocessor.hopweave import MetadataFilterPostprocessor

        engine = index.as_query_engine(node_postprocessors=[MetadataFilterPostprocessor(types=("notice",))])
        ```

    """
