"""How many requests a key may send per second, over all workers."""

import fcntl
import mmap
import os
import struct
from collections.abc import Mapping
from pathlib import Path
from time import time

_BUCKET = struct.Struct("dd")  # tokens, and when they were counted


class Rates:
    """A token bucket for each name, in a file that the workers share: it holds one second's worth of requests."""

    def __init__(self, file: Path, per_second: Mapping[str, float]) -> None:
        self._numbers = {name: number for number, name in enumerate(sorted(per_second))}
        self._per_second = per_second
        file.parent.mkdir(parents=True, exist_ok=True)
        self._file = os.open(file, os.O_RDWR | os.O_CREAT, 0o600)
        os.ftruncate(self._file, max(1, len(per_second)) * _BUCKET.size)
        self._buckets = mmap.mmap(self._file, 0)

    def wait_seconds(self, name: str, now: float | None = None) -> float:
        """0 if a request may go on; else how long to wait for the next one."""
        rate = self._per_second.get(name)
        if rate is None:
            return 0.0
        place, now, size = self._numbers[name] * _BUCKET.size, time() if now is None else now, max(rate, 1.0)
        fcntl.lockf(self._file, fcntl.LOCK_EX, _BUCKET.size, place)
        try:
            tokens, counted = _BUCKET.unpack_from(self._buckets, place)
            tokens = size if not counted else min(size, tokens + max(0.0, now - counted) * rate)
            allowed = tokens >= 1.0
            _BUCKET.pack_into(self._buckets, place, tokens - allowed, now)
        finally:
            fcntl.lockf(self._file, fcntl.LOCK_UN, _BUCKET.size, place)
        return 0.0 if allowed else (1.0 - tokens) / rate
