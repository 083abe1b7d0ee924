"""The address and the key of a service."""

import os
import re
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from pydantic import SecretStr

_CREDENTIAL = re.compile(r"(?i)key|token|secret|passw|auth|credential|signature|^(sig|code|pw)$")
"""Names of the parameters of a URL that services take keys by."""


def hidden_key(data: Any) -> Any:
    """The input of a component with its `api_key` as a secret: before validation, so that no error quotes it.

    >>> hidden_key({"api_key": "sk-123"})
    {'api_key': SecretStr('**********')}
    """
    if isinstance(data, dict) and not isinstance(data.get("api_key"), SecretStr | None):
        key = data["api_key"]
        return {**data, "api_key": SecretStr(key.decode() if isinstance(key, bytes) else str(key))}
    return data


def checked_url(url: str) -> str:
    """The URL, if it is one of HTTP and holds neither a password nor a key.

    >>> checked_url("https://rerank.harbour.example/v1?api-version=2")
    'https://rerank.harbour.example/v1?api-version=2'
    >>> checked_url("https://rerank.harbour.example/v1?key=sk-123")
    Traceback (most recent call last):
        ...
    ValueError: a URL must not contain a key, as its parameter 'key' does; use api_key_env
    """
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ValueError("a URL starts with http:// or https:// and a host")
    if parts.username or parts.password:
        raise ValueError("a URL must not contain a user name or password; use api_key_env")
    for name, _ in parse_qsl(parts.query, keep_blank_values=True):
        if _CREDENTIAL.search(name):
            raise ValueError(f"a URL must not contain a key, as its parameter {name!r} does; use api_key_env")
    return url


def key_of(api_key: SecretStr | None, variable: str | None) -> str | None:
    """The key that was given, or else the value of an environment variable; None if both are empty.

    >>> key_of(SecretStr(" sk-123 "), None)
    'sk-123'
    """
    if api_key is not None:
        return api_key.get_secret_value().strip() or None
    return (os.environ.get(variable, "").strip() or None) if variable else None
