# Written by `python -m hopweave.exports` from the catalogue.
from hopweave.routing.gate import Gate
from hopweave.routing.intent import IntentClassifier
from hopweave.routing.plan import Planner

__all__ = [
    "Gate",
    "IntentClassifier",
    "Planner",
]
