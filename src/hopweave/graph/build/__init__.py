"""From contributions to a graph: which names are entities, and how they connect."""
