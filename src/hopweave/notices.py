"""Warnings that are given once: a component that cannot do its work names the remedy the first time."""

import logging
from threading import Lock
from typing import Any
from weakref import finalize

logger = logging.getLogger("hopweave")

_said: dict[int, set[str]] = {}
_lock = Lock()


def warn_once(owner: Any, cause: str, message: str, *arguments: Any) -> None:
    """Log a warning the first time that `owner` has this `cause`; later ones are debug messages.

    >>> class Ranker:
    ...     pass
    >>> ranker = Ranker()
    >>> warn_once(ranker, "no date", "freshness: no document has a %s", "timestamp")
    """
    with _lock:
        causes = _said.get(id(owner))
        if causes is None:
            causes = _said[id(owner)] = set()
            finalize(owner, _said.pop, id(owner), None)
        first = cause not in causes
        causes.add(cause)
    logger.log(logging.WARNING if first else logging.DEBUG, message, *arguments)
