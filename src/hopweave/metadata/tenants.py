"""Tenants: metadata values a document must have to be seen."""

from collections.abc import Mapping
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator

T = TypeVar("T", bound=Mapping[str, Any] | None)


MAX_TENANT_CHARACTERS = 1_000
"""The length of a tenant's value; graphs keep no longer texts of metadata."""

_FILTER_KEYS = frozenset({"field", "operator", "value", "conditions"})


def checked_tenant(tenant: T) -> T:
    """The tenant, if it can be one: for each of at least one metadata field a value, or a list of values, of JSON.

    None is no tenant and sees everything; an empty mapping, which would as well, is refused. An empty list of values
    allows none. Two or more keys of a filter are taken for a filter, which would match nothing.

    >>> checked_tenant({"customer": "acme", "team": [1, 2]})
    {'customer': 'acme', 'team': [1, 2]}
    >>> checked_tenant({})
    Traceback (most recent call last):
        ...
    ValueError: tenant: must name at least one metadata field; without a tenant, it is None
    >>> checked_tenant({"meta.customer": "acme"})
    Traceback (most recent call last):
        ...
    ValueError: tenant: 'meta.customer' is no metadata field; leave out 'meta.', as in {'customer': 'acme'}
    """
    if tenant is None:
        return tenant
    if not isinstance(tenant, Mapping):
        raise ValueError(f"tenant: must be a mapping of metadata fields to values, but got {tenant!r}")
    if not tenant:
        raise ValueError("tenant: must name at least one metadata field; without a tenant, it is None")
    if len(_FILTER_KEYS.intersection(tenant)) > 1:
        raise ValueError(
            "tenant: looks like a filter; it must be a mapping of metadata fields to the values that documents must "
            "have, as in {'customer': 'acme'}"
        )
    for name, wanted in tenant.items():
        if not isinstance(name, str) or '"' in name:
            raise ValueError(f"tenant field {name!r} must be a string without double quotes")
        if name.startswith("meta."):
            plain = name.removeprefix("meta.")
            raise ValueError(f"tenant: {name!r} is no metadata field; leave out 'meta.', as in {{{plain!r}: 'acme'}}")
        if wrong := [one for one in _values(wanted) if not isinstance(one, str | int | float)]:
            raise ValueError(
                f"tenant field {name!r} must be a string, a number, a boolean or a list of them, but got {wrong[0]!r}"
            )
        if any(isinstance(one, str) and len(one) > MAX_TENANT_CHARACTERS for one in _values(wanted)):
            raise ValueError(f"tenant: the value of {name!r} is longer than {MAX_TENANT_CHARACTERS:,} characters")
    return tenant


CheckedTenant = Annotated[dict[str, Any] | None, AfterValidator(checked_tenant)]
"""A field of a pydantic model that holds a tenant."""


def is_same(one: Any, other: Any) -> bool:
    """Whether two values of metadata are the same for a tenant: 1 and 1.0 are, 1 and True are not.

    >>> is_same(1, 1.0), is_same(1, True)
    (True, False)
    """
    return bool(one == other) and isinstance(one, bool) == isinstance(other, bool)


def narrow_tenant(tenant: Mapping[str, Any] | None, further: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """What both tenants may see. The second can only take away from what the first sees.

    A list of values allows each of them. Where nothing would be left, an error names the field but not the values.

    >>> narrow_tenant({"customer": ["acme", "zeta"]}, {"customer": "acme", "team": "ops"})
    {'customer': 'acme', 'team': 'ops'}
    >>> narrow_tenant({"customer": "acme"}, None)
    {'customer': 'acme'}
    >>> narrow_tenant({"customer": "acme"}, {"customer": "zeta"})
    Traceback (most recent call last):
        ...
    ValueError: tenant: the value of 'customer' is outside what was set before; a tenant can only be narrowed
    """
    tenant, further = checked_tenant(tenant), checked_tenant(further)
    if tenant is None or further is None:
        return further if tenant is None else tenant
    narrowed = {**tenant, **further}
    for name in sorted(tenant.keys() & further.keys()):
        allowed = _values(tenant[name])
        left = [value for value in _values(further[name]) if any(is_same(value, one) for one in allowed)]
        if not left:
            raise ValueError(
                f"tenant: the value of {name!r} is outside what was set before; a tenant can only be narrowed"
            )
        narrowed[name] = left[0] if len(left) == 1 else left
    return narrowed


def _values(wanted: Any) -> list[Any]:
    return list(wanted) if isinstance(wanted, list | tuple | set | frozenset) else [wanted]
