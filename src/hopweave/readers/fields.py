"""Documents from the fields of a JSON object or CSV row."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from hopweave.document import Document
from hopweave.readers.validation import storable

TEXT_KEYS = ("text", "content")
_METADATA_KEYS = ("metadata", "meta")
_VECTOR_KEYS = ("vector", "embedding")
_LINE = 200


def document_from_fields(fields: Mapping[str, Any], fallback_id: str, place: str) -> Document:
    """A document from fields: text or content, optionally id, vector or embedding; all others are metadata.

    >>> document_from_fields({"id": 7, "content": "A ferry.", "year": 1974}, "ships.jsonl:1", "ships.jsonl line 1")
    Document(id='7', text='A ferry.', metadata={'year': 1974}, vector=None)
    """
    rest = dict(fields)
    name = next((key for key in TEXT_KEYS if key in rest), None)
    if name is None:
        raise ValueError(f"needs a string under {' or '.join(TEXT_KEYS)}, but found {shown(fields)}")
    text = rest.pop(name)
    if not isinstance(text, str):
        raise ValueError(f"needs a string under {name}, but got {text!r}")
    key = rest.pop("id", None)
    if not isinstance(key, str | int | None) or isinstance(key, bool):
        raise ValueError(f"its id must be a string or a whole number, but got {key!r}")
    vector = next((rest.pop(key) for key in _VECTOR_KEYS if rest.get(key) is not None), None)
    if isinstance(vector, str):  # in CSV
        vector = json.loads(vector)
    metadata: dict[str, Any] = {}
    for name in _METADATA_KEYS:
        if isinstance(rest.get(name), dict):
            metadata.update(rest.pop(name))
    array = None if vector is None else np.asarray(vector, np.float32)
    return storable(Document(fallback_id if key is None else str(key), text, {**metadata, **rest}, array), place)


def shown(names: Iterable[object]) -> str:
    """The names of fields in an error message, no more than a line of them.

    >>> shown(["id", "Text"]), shown([])
    ("'id', 'Text'", 'nothing')
    """
    text = ", ".join(repr(name) for name in names) or "nothing"
    return text if len(text) <= _LINE else f"{text[:_LINE]} …"
