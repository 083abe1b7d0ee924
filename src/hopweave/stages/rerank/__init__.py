"""Stages that rerank hits by a model."""
