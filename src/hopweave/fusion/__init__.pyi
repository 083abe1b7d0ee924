# Written by `python -m hopweave.exports` from the catalogue.
from hopweave.fusion.confirmatory import Confirmatory
from hopweave.fusion.passthrough import Passthrough
from hopweave.fusion.reciprocal_rank import ReciprocalRank
from hopweave.fusion.trust_weighted import TrustWeighted
from hopweave.fusion.weighted import Weighted

__all__ = [
    "Confirmatory",
    "Passthrough",
    "ReciprocalRank",
    "TrustWeighted",
    "Weighted",
]
