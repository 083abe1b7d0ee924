"""Questions about deployments prefer deployment files."""

from llama_index.postprocessor.hopweave.stage import StagePostprocessor

from hopweave.stages.adjust.corpus_boost import CorpusBoost


class CorpusBoostPostprocessor(CorpusBoost, StagePostprocessor):
    """
    Multiplies scores where words of the question and the corpus type of a node match a rule.

    Parameters are those of `hopweave.stages.adjust.corpus_boost.CorpusBoost`.

    Examples:
        ```python
        from llama_index.postprocessor.hopweave import CorpusBoostPostprocessor

        engine = index.as_query_engine(node_postprocessors=[CorpusBoostPostprocessor(corpus_type_field="type")])
        ```

    """
