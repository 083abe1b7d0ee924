"""Stages that adjust scores by metadata and length."""
