"""Which documents a filter can match at all, found by SQLite, so that few have to be read."""

from collections.abc import Mapping
from typing import Any

from hopweave import KnowledgeBase
from hopweave.document import Document as Passage


def candidates(knowledge_base: KnowledgeBase, filters: Mapping[str, Any] | None) -> list[Passage]:
    """
    All documents that match Haystack filters, and perhaps others.

    Ids, and metadata fields that must equal a string or number or be in a list of them, alone or joined by AND, are
    looked up; for any other filter these are all documents.

    :param knowledge_base: Where the documents are.
    :param filters: Haystack filters.
    :returns: The documents.
    """
    wanted = _required(filters or {})
    if not wanted:
        return list(knowledge_base.documents())
    ids = wanted.pop("id", None)
    tenant = {name.removeprefix("meta."): values for name, values in wanted.items()} or None
    found = knowledge_base.get(knowledge_base.ids(tenant=tenant) if ids is None else ids, tenant=tenant)
    return [Passage(hit.id, hit.text, hit.metadata) for hit in found.values()]


def _required(filters: Mapping[str, Any]) -> dict[str, list[Any]]:
    """The values that a field must have one of, by field, as far as the filters are that simple."""
    if "conditions" in filters:
        if filters.get("operator") != "AND":
            return {}
        found: dict[str, list[Any]] = {}
        for condition in filters["conditions"]:
            found |= _required(condition) if isinstance(condition, Mapping) else {}
        return found
    field, operator, value = filters.get("field"), filters.get("operator"), filters.get("value")
    values = [value] if operator == "==" else value if operator == "in" and isinstance(value, list) else None
    if values is None or not isinstance(field, str) or not all(_is_plain(one) for one in values):
        return {}
    if field == "id":
        return {"id": values} if all(isinstance(one, str) for one in values) else {}
    name = field.removeprefix("meta.")
    return {field: values} if values and field.startswith("meta.") and "." not in name and '"' not in name else {}


def _is_plain(value: Any) -> bool:
    return isinstance(value, str | int | float) and not isinstance(value, bool)
