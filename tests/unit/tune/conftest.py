"""The same made-up sources and judged queries as for evaluation."""

from ..evaluate.conftest import *  # noqa: F403
from ..evaluate.conftest import judged

__all__ = ["judged"]
