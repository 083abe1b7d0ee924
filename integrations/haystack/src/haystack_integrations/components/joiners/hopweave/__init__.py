"""hopweave's joiners for Haystack: named rankings in, one out."""

from haystack_integrations.components.joiners.hopweave.confirmatory import ConfirmatoryJoiner
from haystack_integrations.components.joiners.hopweave.passthrough import PassthroughJoiner
from haystack_integrations.components.joiners.hopweave.reciprocal_rank import ReciprocalRankJoiner
from haystack_integrations.components.joiners.hopweave.trust_weighted import TrustWeightedJoiner
from haystack_integrations.components.joiners.hopweave.weighted import WeightedJoiner

__all__ = [
    "ConfirmatoryJoiner",
    "PassthroughJoiner",
    "ReciprocalRankJoiner",
    "TrustWeightedJoiner",
    "WeightedJoiner",
]
