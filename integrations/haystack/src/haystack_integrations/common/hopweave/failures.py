"""Sources and stages that had no part in an answer, where people look: the log, the trace and the output."""

from collections.abc import Mapping
from typing import Any

from haystack import logging

logger = logging.getLogger(__name__)


def report_failures(component: Any, failures: Mapping[str, str]) -> dict[str, str]:
    """
    Log why optional sources or stages failed or were too slow.

    :param component: The component that goes on without them.
    :param failures: Reasons by the name of the source or the kind of the stage.
    :returns: The reasons, for the output `failures`.
    """
    for source, reason in failures.items():
        logger.warning(
            "{component} goes on without '{source}': {reason}",
            component=type(component).__name__,
            source=source,
            reason=reason,
        )
    return dict(failures)
