"""Paths between nodes, and what lies around them."""
