"""Every community is heard."""

from llama_index.postprocessor.hopweave.stage import StagePostprocessor

from hopweave.stages.diversify.community_spread import CommunitySpread


class CommunitySpreadPostprocessor(CommunitySpread, StagePostprocessor):
    """
    Raises the best node of each community, by the metadata field `community` or as the knowledge base knows it.

    Parameters are those of `hopweave.stages.diversify.community_spread.CommunitySpread`.

    Examples:
        ```python
        from llama_index.postprocessor.hopweave import CommunitySpreadPostprocessor

        engine = index.as_query_engine(node_postprocessors=[CommunitySpreadPostprocessor(multiplier=1.1)])
        ```

    """
