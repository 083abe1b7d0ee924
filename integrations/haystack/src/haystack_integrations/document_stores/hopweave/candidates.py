"""Which documents a filter can match at all, found by SQLite, so that few have to be read."""

import re
from collections.abc import Mapping
from typing import Any

from haystack_integrations.common.hopweave.documents import PARTS_KEY
from hopweave import KnowledgeBase
from hopweave.document import Document as Passage
from hopweave.metadata.tenants import MAX_TENANT_CHARACTERS, in_tenant

_MAX_WHOLE = 2**53  # up to which whole numbers are the same as integers and as floats
_NO_FIELDS = ("", PARTS_KEY, "field", "operator", "value", "conditions")  # the last four are refused as a tenant
_LIKE_A_DATE = re.compile(r"\d{4}-\d{2}-\d{2}(?:$|[Tt ])")


def candidates(
    knowledge_base: KnowledgeBase, filters: Mapping[str, Any] | None, seen_by: Mapping[str, Any] | None = None
) -> list[Passage]:
    """
    All documents that match Haystack filters, and perhaps others.

    Ids, and metadata fields that must equal a string or a whole number or be in a list of them, alone or joined by AND,
    are looked up; for any other filter these are all documents. Strings that are ISO dates are not looked up: Haystack
    compares them as points in time, of which there is more than one spelling.
    """
    wanted = _required(filters or {})
    if not wanted:
        return list(knowledge_base.documents(None if seen_by is None else knowledge_base.ids(tenant=seen_by)))
    ids = wanted.pop("id", None)
    tenant = {name.removeprefix("meta."): values for name, values in wanted.items()} or None
    found = knowledge_base.get(knowledge_base.ids(tenant=tenant) if ids is None else ids, tenant=tenant)
    return [Passage(hit.id, hit.text, hit.metadata) for hit in found.values() if in_tenant(hit.metadata, seen_by)]


def _required(filters: Mapping[str, Any]) -> dict[str, list[Any]]:
    """The values that a field must have one of, by field, as far as the filters are that simple."""
    if "conditions" in filters:
        if filters.get("operator") != "AND" or not isinstance(filters["conditions"], list):
            return {}
        found: dict[str, list[Any]] = {}
        for condition in filters["conditions"]:
            found |= _required(condition) if isinstance(condition, Mapping) else {}
        return found
    field, operator, value = filters.get("field"), filters.get("operator"), filters.get("value")
    values = [value] if operator == "==" else value if operator == "in" and isinstance(value, list) else None
    if not values or not isinstance(field, str) or not all(_is_exact(one) for one in values):
        return {}
    if field == "id":
        return {"id": values} if all(isinstance(one, str) for one in values) else {}
    return {field: [*values, *_booleans(values)]} if _is_plain_field(field) else {}


def _is_exact(value: Any) -> bool:
    """Whether SQLite finds all that Haystack takes for equal to this value, but for Booleans."""
    if type(value) is str:
        return len(value) <= MAX_TENANT_CHARACTERS and value.isprintable() and not _LIKE_A_DATE.match(value)
    return type(value) in (int, float) and abs(value) <= _MAX_WHOLE and value == int(value)


def _booleans(values: list[Any]) -> list[bool]:
    return [bool(one) for one in values if type(one) is not str and one in (0, 1)]  # which equal them in Python


def _is_plain_field(field: str) -> bool:
    name = field.removeprefix("meta.")
    is_name = name != field and name.isprintable() and not set('."\\').intersection(name)
    return is_name and name not in _NO_FIELDS
