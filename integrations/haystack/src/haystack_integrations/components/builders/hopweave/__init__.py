"""hopweave's builders for Haystack: what a language model or a reader gets."""

from haystack_integrations.components.builders.hopweave.context_builder import ContextBuilder
from haystack_integrations.components.builders.hopweave.extractive_answer import ExtractiveAnswerBuilder
from haystack_integrations.components.builders.hopweave.flow_pruning import FlowPruningBuilder
from haystack_integrations.components.builders.hopweave.neighbourhood import NeighbourhoodBuilder
from haystack_integrations.components.builders.hopweave.service_neighbourhood import ServiceNeighbourhoodBuilder

__all__ = [
    "ContextBuilder",
    "ExtractiveAnswerBuilder",
    "FlowPruningBuilder",
    "NeighbourhoodBuilder",
    "ServiceNeighbourhoodBuilder",
]
