"""Benchmarks are scripts, not a package: their folder goes last, because one of them is called haystack."""

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[3] / "benchmarks"))


@pytest.fixture
def root():
    """The repository."""
    return Path(__file__).parents[3]
