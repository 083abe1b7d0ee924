"""Personalised PageRank and its solvers."""
