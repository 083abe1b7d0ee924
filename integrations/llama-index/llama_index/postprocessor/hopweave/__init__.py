"""hopweave's stages as node postprocessors for LlamaIndex."""

from llama_index.hopweave.exports import exports

from hopweave.component import Stage

_OTHERS = {
    "FlowPruningPostprocessor": "flow_pruning",
    "ServiceNeighbourhoodPostprocessor": "service_neighbourhood",
    "postprocessor_for": "recipe",
}

__all__, __getattr__ = exports(__name__, Stage, "Postprocessor", _OTHERS)
