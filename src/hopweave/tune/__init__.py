"""Tuning: search for better parameters of a recipe."""
