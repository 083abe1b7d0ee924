"""hopweave's converters for Haystack."""

from haystack_integrations.components.converters.hopweave.file import FileConverter

__all__ = [
    "FileConverter",
]
