"""Property graphs of LlamaIndex in hopweave."""

from llama_index.graph_stores.hopweave.property_graph import contributions_of, import_property_graph, triplets_of

__all__ = ["contributions_of", "import_property_graph", "triplets_of"]
