"""Stages that drop hits."""
