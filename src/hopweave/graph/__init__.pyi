# Written by `python -m hopweave.exports` from the catalogue.
from hopweave.graph.build.builders.links import LinksBuilder
from hopweave.graph.build.builders.mentions import MentionsBuilder
from hopweave.graph.build.builders.metadata import MetadataBuilder
from hopweave.graph.build.builders.parts import PartsBuilder
from hopweave.graph.build.builders.services import ServicesBuilder
from hopweave.graph.build.builders.triples import TriplesBuilder
from hopweave.graph.flow_pruning import FlowPruning
from hopweave.graph.service_neighbourhood import ServiceNeighbourhood

__all__ = [
    "FlowPruning",
    "LinksBuilder",
    "MentionsBuilder",
    "MetadataBuilder",
    "PartsBuilder",
    "ServiceNeighbourhood",
    "ServicesBuilder",
    "TriplesBuilder",
]
