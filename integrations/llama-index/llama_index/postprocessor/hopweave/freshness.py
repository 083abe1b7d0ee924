"""Newer conversations first."""

from llama_index.postprocessor.hopweave.stage import DatedPostprocessor

from hopweave.stages.adjust.freshness import Freshness


class FreshnessPostprocessor(Freshness, DatedPostprocessor):
    """
    Blends freshness into the scores of nodes of the given corpus types.

    Parameters are those of `hopweave.stages.adjust.freshness.Freshness`.

    Examples:
        ```python
        from llama_index.postprocessor.hopweave import FreshnessPostprocessor

        engine = index.as_query_engine(node_postprocessors=[FreshnessPostprocessor(corpus_types=None)])
        ```

    """
