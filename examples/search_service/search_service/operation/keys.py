"""Who calls, and what they may do."""

import hashlib
import hmac
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from search_service.settings import Role, Settings


@dataclass(frozen=True, slots=True)
class Caller:
    """What is known of whoever sent a request."""

    name: str
    role: Role
    knowledge_bases: frozenset[str] | None = None
    tenant: Mapping[str, Any] = field(default_factory=dict)


ANONYMOUS = "anonymous"
NOBODY = Caller("nobody", "none", frozenset())
CALLER: ContextVar[Caller] = ContextVar("caller")


def current_caller() -> Caller:
    """Whoever sent the request that is being answered."""
    return CALLER.get()


class Keys:
    """All keys. Only their digests are kept, and each is compared, so that time tells nothing about any of them."""

    def __init__(self, settings: Settings) -> None:
        self._anonymous = Caller(ANONYMOUS, settings.anonymous)
        self._callers = [
            (
                _digest(key.key.get_secret_value().encode()),
                Caller(
                    key.name,
                    key.role,
                    None if key.knowledge_bases is None else frozenset(key.knowledge_bases),
                    key.tenant,
                ),
            )
            for key in settings.all_keys
        ]

        self.rates = {one.name: one.requests_per_second for one in settings.all_keys if one.requests_per_second}

    def caller(self, headers: Mapping[bytes, bytes]) -> Caller | None:
        """Who sent these headers; None if the key is not known."""
        scheme, _, token = headers.get(b"authorization", b"").partition(b" ")
        sent = headers.get(b"x-api-key", token.strip() if scheme.lower() == b"bearer" else None)
        if sent is None or not self._callers:
            return self._anonymous
        digest, found = _digest(sent), None
        for own, caller in self._callers:
            if hmac.compare_digest(own, digest):
                found = caller
        return found


def _digest(key: bytes) -> bytes:
    return hashlib.sha256(key).digest()
