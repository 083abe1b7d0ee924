"""What the graph says about the nodes, as one more node: text for a language model, and data."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from llama_index.core.bridge.pydantic import ConfigDict, Field
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from llama_index.hopweave.knowledge import check_written, opened
from llama_index.hopweave.nodes import CONNECTIONS_KEY, to_hit, visible_nodes
from llama_index.hopweave.questions import tenant_of, to_query

from hopweave.component import Component
from hopweave.hit import Hit
from hopweave.knowledge import Knowledge
from hopweave.metadata.tenants import CheckedTenant


class ConnectionsPostprocessor(Component, BaseNodePostprocessor, ABC):
    """
    Puts a node before the others that says how they are connected; nothing is added where nothing is known.

    The node's text has one line per connection, the best last, for any response synthesizer;
    `ContextBuilderSynthesizer` puts the lines before the passages, without a number to cite.
    `metadata["hopweave_connections"]` holds the same as data, hidden from language model and embedding model. The node
    has no score: put this postprocessor last.
    """

    # last in the list of bases, so its settings win: LlamaIndex sets the callback manager later
    model_config = ConfigDict(frozen=False, extra="forbid", validate_assignment=True)

    knowledge_base: Any = Field(
        exclude=True, repr=False, description="An open knowledge base or the path of its file, which has the graph."
    )
    header: str = Field(default="Connections:", description="First line of the text.")
    tenant: CheckedTenant = Field(
        default=None, description="Metadata values a document must have for what it says to be shown."
    )

    @classmethod
    def class_name(cls) -> str:
        """The name under which it is written."""
        return cls.__name__

    def to_dict(self, **kwargs: Any) -> dict[str, Any]:
        """As data; a knowledge base that was given as a path is in it, an open one is not."""
        path = {"knowledge_base": str(self.knowledge_base)} if isinstance(self.knowledge_base, str | Path) else {}
        return {**super().to_dict(**kwargs), **path}

    @classmethod
    def from_dict(cls, data: dict[str, Any], **kwargs: Any) -> Self:
        """Made of what `to_dict` wrote."""
        check_written({**data, **kwargs})
        return super().from_dict(data, **kwargs)

    @abstractmethod
    def connections(
        self, hits: Sequence[Hit], knowledge: Knowledge, tenant: Mapping[str, Any] | None
    ) -> tuple[Sequence[str], Any]:
        """What connects the hits: lines of text, the best last, and the same as JSON types."""

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        tenant = tenant_of(query_bundle, self.tenant)
        nodes = visible_nodes(nodes, tenant)
        if self.skipped_by(to_query(query_bundle)):
            return nodes
        lines, data = self.connections([to_hit(node) for node in nodes], opened(self.knowledge_base), tenant)
        if not lines:
            return nodes
        metadata = {**(tenant or {}), CONNECTIONS_KEY: {"kind": self.kind, "lines": list(lines), "data": data}}
        hidden = list(metadata)
        node = TextNode(
            id_=f"hopweave-{self.kind}",
            text="\n".join([self.header, *lines]),
            metadata=metadata,
            excluded_llm_metadata_keys=hidden,
            excluded_embed_metadata_keys=hidden,
        )
        return [NodeWithScore(node=node), *nodes]
