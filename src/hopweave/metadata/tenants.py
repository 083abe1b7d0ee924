"""Tenants: metadata values a document must have to be seen."""

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator

from hopweave.concurrency.once import Once
from hopweave.concurrency.threads import share_with_pools
from hopweave.errors import TenantRequired

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
    """Return whether a tenant treats two metadata values as equal: 1 and 1.0 are, 1 and True are not.

    >>> is_same(1, 1.0), is_same(1, True)
    (True, False)
    """
    return bool(one == other) and isinstance(one, bool) == isinstance(other, bool)


def in_tenant(metadata: Mapping[str, Any], tenant: Mapping[str, Any] | None) -> bool:
    """Return whether a tenant may see a document with this metadata. A list, on either side, allows each value.

    >>> in_tenant({"customer": ["acme", "zeta"]}, {"customer": "acme"}), in_tenant({}, {"customer": "acme"})
    (True, False)
    """
    return all(
        name in metadata and any(is_same(one, other) for one in _values(wanted) for other in _values(metadata[name]))
        for name, wanted in (tenant or {}).items()
    )


def narrow_tenant(tenant: Mapping[str, Any] | None, further: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """Combine two tenants: the result sees what both may see. The second can only narrow the first.

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


_EVERY: Mapping[str, Any] = {}
_context: ContextVar[Mapping[str, Any] | None] = ContextVar("hopweave_tenant", default=None)
_shared = Once[None]()  # not at import: a program that names no tenants keeps its pools as they are


@contextmanager
def tenant(fields: Mapping[str, Any] | None = None, /, **more: Any) -> Iterator[None]:
    """Within it, every question is asked, and every document written, for this tenant.

    It holds wherever the program's context goes: sub-questions, retries, agents and tools, event loops, pools of
    threads, and threads that take it over. A tenant given to a component or to a question narrows it and never widens
    it.

    >>> from hopweave.query import Query
    >>> with tenant(customer="acme"):
    ...     Query("When does the gate open?").tenant
    {'customer': 'acme'}
    """
    outside = _context.get()
    narrowed = narrow_tenant(outside or None, {**(fields or {}), **more})
    _shared.get_or_make(lambda: share_with_pools(_context))
    token = _context.set(narrowed)
    try:
        yield
    finally:
        _context.reset(token)


@contextmanager
def every_tenant() -> Iterator[None]:
    """Within it, a question without a tenant means the documents of all tenants, where it would be refused otherwise.

    >>> with tenant(customer="acme"), every_tenant():
    ...     pass
    Traceback (most recent call last):
        ...
    ValueError: every_tenant: is not allowed within tenant(...); a tenant can only be narrowed
    """
    if _context.get():
        raise ValueError("every_tenant: is not allowed within tenant(...); a tenant can only be narrowed")
    _shared.get_or_make(lambda: share_with_pools(_context))
    token = _context.set(_EVERY)
    try:
        yield
    finally:
        _context.reset(token)


def in_context(given: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """The tenant of the context, narrowed by the one given.

    >>> in_context({"customer": "acme"})
    {'customer': 'acme'}
    """
    return narrow_tenant(_context.get() or None, given)


def checked_fields(fields: Collection[str]) -> tuple[str, ...]:
    """The names of metadata fields that a tenant is asked for.

    >>> checked_fields("customer")
    Traceback (most recent call last):
        ...
    ValueError: tenant_required: must be a list of metadata fields, as ['customer'], but got 'customer'
    """
    if isinstance(fields, str) or not isinstance(fields, Collection):
        raise ValueError(f"tenant_required: must be a list of metadata fields, as ['customer'], but got {fields!r}")
    checked_tenant(dict.fromkeys(fields, "") or None)
    return tuple(fields)


def require_tenant(fields: Collection[str], given: Mapping[str, Any] | None, whose: str) -> None:
    """Raise if a tenant has no value for one of these fields, unless the caller means every tenant.

    >>> require_tenant(["customer"], None, "corpus.db")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    hopweave.errors.TenantRequired: corpus.db: its documents are those of tenants; say whose are meant by ...
    """
    missing = [name for name in fields if name not in (given or {})]
    if missing and _context.get() is not _EVERY:
        named = ", ".join(f"{name!r}: ..." for name in missing)
        keywords = ", ".join(f"{name}=..." for name in missing)
        raise TenantRequired(
            f"{whose}: its documents are those of tenants; say whose are meant by tenant={{{named}}} or within "
            f"hopweave.tenant({keywords}), or, for those of all, within hopweave.every_tenant()"
        )


def _values(wanted: Any) -> list[Any]:
    return list(wanted) if isinstance(wanted, list | tuple | set | frozenset) else [wanted]
