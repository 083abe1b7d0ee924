"""What a document says to the graph, without a model and without an LLM."""
