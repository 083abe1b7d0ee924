"""Noise, kept out of an index."""

import asyncio
import logging
from collections.abc import Sequence
from typing import Any

from llama_index.core.bridge.pydantic import Field
from llama_index.core.schema import BaseNode, MetadataMode, TransformComponent

from hopweave.stages.filter.noise import NOISE_RULES, Noise, NoiseRule

logger = logging.getLogger(__name__)


class NoiseFilter(TransformComponent):
    """
    Leaves out nodes whose text is a greeting, a denial, a question about memory, a session message or too short.

    Each node that is left out is logged with the reason; `noise_in` says which they are.

    Args:
        rules: Rules for noise; a value given here replaces the built-in rules.
        extra_rules: Rules in addition to `rules`; they are tried first.
        min_characters: Shorter texts are noise.
        min_cjk_characters: The same limit for texts with Chinese, Japanese or Korean characters.

    Examples:
        ```python
        from llama_index.core import Document
        from llama_index.core.ingestion import IngestionPipeline
        from llama_index.ingestion.hopweave import NoiseFilter

        pipeline = IngestionPipeline(transformations=[NoiseFilter()])
        nodes = pipeline.run(documents=[Document(text="hello!"), Document(text="The tide gate opens at six.")])
        ```

    """

    rules: tuple[NoiseRule, ...] = Field(default=NOISE_RULES, description="Rules for noise.")
    extra_rules: tuple[NoiseRule, ...] = Field(default=(), description="Further rules, which are tried first.")
    min_characters: int = Field(default=5, ge=0, description="Shorter texts are noise.")
    min_cjk_characters: int = Field(default=2, ge=0, description="The same for Chinese, Japanese and Korean texts.")

    @classmethod
    def class_name(cls) -> str:
        """The name under which it is written."""
        return "NoiseFilter"

    def noise_in(self, nodes: Sequence[BaseNode]) -> dict[str, str]:
        """
        Which nodes are noise.

        Args:
            nodes: The nodes.

        Returns:
            The name of the rule, or `short`, by the id of the node.

        """
        names = ("rules", "extra_rules", "min_characters", "min_cjk_characters")
        noise = Noise(**{name: getattr(self, name) for name in names})
        found = {node.node_id: noise.rule_for(node.get_content(metadata_mode=MetadataMode.NONE)) for node in nodes}
        return {key: rule for key, rule in found.items() if rule is not None}

    def __call__(self, nodes: Sequence[BaseNode], **kwargs: Any) -> Sequence[BaseNode]:  # noqa: ARG002
        """Hand on the nodes that are not noise."""
        noise = self.noise_in(nodes)
        for key, rule in noise.items():
            logger.warning("node %r is left out: it is noise (%s)", key, rule)
        return [node for node in nodes if node.node_id not in noise]

    async def acall(self, nodes: Sequence[BaseNode], **kwargs: Any) -> Sequence[BaseNode]:
        """The same without blocking the event loop."""
        return await asyncio.to_thread(self.__call__, nodes, **kwargs)
