"""Evaluation of recipes on judged queries: metrics, comparison, diagnosis."""
