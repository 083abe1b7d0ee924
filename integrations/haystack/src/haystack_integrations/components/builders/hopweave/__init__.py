"""hopweave's builders for Haystack: what a language model or a reader gets."""

from haystack_integrations.components.builders.hopweave.assemble import CitedContextBuilder
from haystack_integrations.components.builders.hopweave.extract import ExtractiveAnswerBuilder
from haystack_integrations.components.builders.hopweave.neighbourhood import NeighbourhoodBuilder
from haystack_integrations.components.builders.hopweave.paths import FlowPruner
from haystack_integrations.components.builders.hopweave.service_neighbourhood import ServiceNeighbourhoodBuilder

__all__ = [
    "CitedContextBuilder",
    "ExtractiveAnswerBuilder",
    "FlowPruner",
    "NeighbourhoodBuilder",
    "ServiceNeighbourhoodBuilder",
]
