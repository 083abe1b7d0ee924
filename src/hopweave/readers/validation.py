"""Checks that what was read can be stored, and errors that name the place."""

import json
from collections.abc import Callable

from hopweave.document import Document
from hopweave.errors import KnowledgeBaseError, UnreadableInput
from hopweave.knowledge_base.documents import Entry

OnBad = Callable[[UnreadableInput], object]
"""A function that is called with the error of each document that cannot be read."""


def storable(document: Document, place: object) -> Document:
    """The document, or `UnreadableInput` with the place if it cannot be stored."""
    try:
        Entry.of(document)
    except KnowledgeBaseError as error:
        raise unreadable(place, error) from error
    return document


def unreadable(place: object, error: Exception) -> UnreadableInput:
    """The error as `UnreadableInput`, with the place in front."""
    if isinstance(error, UnreadableInput):
        return error
    if isinstance(error, json.JSONDecodeError):  # its own message has a line number, too
        return UnreadableInput(f"{place}: is not JSON: {error.msg} at column {error.colno}")
    return UnreadableInput(f"{place}: {error}")
