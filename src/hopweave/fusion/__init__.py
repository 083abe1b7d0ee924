"""Fusion: merges the rankings of several sources into one."""

from hopweave.exports import exports

__getattr__, __dir__ = exports(__name__)
