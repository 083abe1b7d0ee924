"""Packages that an extra of hopweave installs, loaded when they are first needed."""

from importlib import import_module
from typing import Any

from hopweave.errors import HopweaveError


def of_extra(extra: str, module: str, error: type[HopweaveError] = HopweaveError) -> Any:
    """The module of a package that an extra installs; if it is not there, the error says which extra that is.

    >>> of_extra("remote", "no_such_package")
    Traceback (most recent call last):
        ...
    hopweave.errors.HopweaveError: no-such-package is not installed; run: pip install 'hopweave[remote]'
    """
    try:
        return import_module(module)
    except ImportError as missing:
        package = module.replace("_", "-")
        raise error(f"{package} is not installed; run: pip install 'hopweave[{extra}]'") from missing
