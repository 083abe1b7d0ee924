"""hopweave's stages as node postprocessors for LlamaIndex."""

from llama_index.hopweave.exports import exports

from hopweave.component import Stage

__all__, __getattr__ = exports(__name__, Stage, "Postprocessor", {"postprocessor_for": "recipe"})
