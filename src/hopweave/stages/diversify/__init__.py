"""Stages that diversify the hits."""
