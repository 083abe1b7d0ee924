"""Logs as JSON, one object per line. They hold no question, no key and no document."""

import json
import logging
from datetime import UTC, datetime
from typing import Any


class JsonLines(logging.Formatter):
    """A record as JSON; what is handed over as `extra={"fields": {...}}` becomes fields of it."""

    def format(self, record: logging.LogRecord) -> str:
        time = datetime.now(UTC).isoformat(timespec="milliseconds")
        entry: dict[str, Any] = {"time": time, "level": record.levelname, "event": record.getMessage()}
        entry |= getattr(record, "fields", {})
        if record.exc_info:
            entry["trace"] = self.formatException(record.exc_info)
        return json.dumps(entry, ensure_ascii=False, default=str)


def configuration(level: str, stream: str = "stdout") -> dict[str, Any]:
    """For uvicorn and everything else in the process."""
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"json": {"()": JsonLines}},
        "handlers": {"out": {"class": "logging.StreamHandler", "stream": f"ext://sys.{stream}", "formatter": "json"}},
        "root": {"handlers": ["out"], "level": "WARNING"},
        "loggers": {"search_service": {"level": level}, "uvicorn": {"level": level}},
    }
