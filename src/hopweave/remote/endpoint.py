"""The address and the key of a service."""

import os
from typing import Any
from urllib.parse import urlsplit

from pydantic import SecretStr


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
    """The URL, if it is one of HTTP and holds no password.

    >>> checked_url("https://rerank.harbour.example/v1")
    'https://rerank.harbour.example/v1'
    """
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ValueError("a URL starts with http:// or https:// and a host")
    if parts.username or parts.password:
        raise ValueError("a URL must not contain a user name or password; use api_key_env")
    return url


def key_of(api_key: SecretStr | None, variable: str | None) -> str | None:
    """The key that was given, or else the value of an environment variable; None if both are empty.

    >>> key_of(SecretStr(" sk-123 "), None)
    'sk-123'
    """
    if api_key is not None:
        return api_key.get_secret_value().strip() or None
    return (os.environ.get(variable, "").strip() or None) if variable else None
