"""LlamaIndex metadata filters as functions of a hit."""

from collections.abc import Callable, Mapping
from typing import Any

from llama_index.core.vector_stores.types import FilterCondition, FilterOperator, MetadataFilter, MetadataFilters

from hopweave.hit import Hit
from hopweave.metadata.filters import matches

_CORE = {
    FilterOperator.EQ: "eq",
    FilterOperator.NE: "ne",
    FilterOperator.GT: "gt",
    FilterOperator.GTE: "gte",
    FilterOperator.LT: "lt",
    FilterOperator.LTE: "lte",
    FilterOperator.IN: "in",
    FilterOperator.NIN: "nin",
}
_OWN: Mapping[FilterOperator, Callable[[Any, Any], bool]] = {
    FilterOperator.ANY: lambda actual, wanted: any(one in _listed(actual) for one in _listed(wanted)),
    FilterOperator.ALL: lambda actual, wanted: all(one in _listed(actual) for one in _listed(wanted)),
    FilterOperator.CONTAINS: lambda actual, wanted: wanted in _listed(actual),
    FilterOperator.TEXT_MATCH: lambda actual, wanted: str(wanted) in str(actual),
    FilterOperator.TEXT_MATCH_INSENSITIVE: lambda actual, wanted: str(wanted).casefold() in str(actual).casefold(),
    FilterOperator.IS_EMPTY: lambda actual, _: actual in (None, "", []),
}
_CONDITIONS: Mapping[FilterCondition, Callable[[list[bool]], bool]] = {
    FilterCondition.AND: all,
    FilterCondition.OR: any,
    FilterCondition.NOT: lambda held: not any(held),
}


class Predicate:
    """
    Metadata filters as a function of a hit.

    Args:
        filters: LlamaIndex metadata filters.

    """

    def __init__(self, filters: MetadataFilters) -> None:
        """Keep the filters."""
        self.filters = filters

    def __call__(self, hit: Hit) -> bool:
        """Whether the hit may be returned."""
        return _admits(self.filters, hit.metadata)


def to_predicate(filters: MetadataFilters | None) -> Predicate | None:
    """
    The filters as a function that says whether a hit may be returned.

    All operators and conditions are known, nested filters too. A missing field satisfies only `!=`, `nin` and
    `is_empty`. Values that cannot be compared do not match.

    Args:
        filters: LlamaIndex metadata filters.

    Returns:
        A function of a hit, or None if there are no filters.

    Raises:
        ValueError: If it is something else than LlamaIndex metadata filters, or `in` has no list.

    """
    if filters is not None and not isinstance(filters, MetadataFilters):
        raise ValueError(
            "filters: must be MetadataFilters, as MetadataFilters(filters=[MetadataFilter(key='year', value=1974)]), "
            f"but got {filters!r}"
        )
    if filters is not None:
        _check_lists(filters)
    return None if filters is None else Predicate(filters)


def _admits(part: MetadataFilters | MetadataFilter, metadata: Mapping[str, Any]) -> bool:
    if isinstance(part, MetadataFilters):
        condition = _CONDITIONS[part.condition or FilterCondition.AND]
        return not part.filters or condition([_admits(one, metadata) for one in part.filters])
    if part.operator in _CORE:
        return matches({part.key: {_CORE[part.operator]: part.value}}, metadata)
    actual = metadata.get(part.key)
    if actual is None and part.operator != FilterOperator.IS_EMPTY:
        return False
    return _OWN[part.operator](actual, part.value)


def _check_lists(filters: MetadataFilters) -> None:
    for part in filters.filters:
        if isinstance(part, MetadataFilters):
            _check_lists(part)
        elif part.operator in (FilterOperator.IN, FilterOperator.NIN) and not isinstance(part.value, list):
            raise ValueError(
                f"filters.{part.key}: operator {part.operator.value!r} takes a list of values, but got {part.value!r}"
            )


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple | set) else [value]
