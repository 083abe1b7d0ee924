"""Spreading the hits."""
