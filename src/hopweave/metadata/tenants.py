"""Tenants: metadata values a document must have to be seen."""

from collections.abc import Mapping
from typing import Any


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
    for one in (tenant, further):
        if one is not None and not isinstance(one, Mapping):
            raise ValueError(f"tenant: must be a mapping of metadata fields to values, but got {one!r}")
    if tenant is None or further is None:
        return further if tenant is None else tenant
    narrowed = {**tenant, **further}
    for name in sorted(tenant.keys() & further.keys()):
        allowed = _values(tenant[name])
        left = [value for value in _values(further[name]) if value in allowed]
        if not left:
            raise ValueError(
                f"tenant: the value of {name!r} is outside what was set before; a tenant can only be narrowed"
            )
        narrowed[name] = left[0] if len(left) == 1 else left
    return narrowed


def _values(wanted: Any) -> list[Any]:
    return list(wanted) if isinstance(wanted, list | tuple | set | frozenset) else [wanted]
