"""Graph builders: what one document contributes to the graph."""
