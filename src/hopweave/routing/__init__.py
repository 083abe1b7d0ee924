"""Decisions about a question before retrieval: gate, intent and plan."""

from hopweave.exports import exports

__getattr__, __dir__ = exports(__name__)
