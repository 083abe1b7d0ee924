"""Benchmarks are scripts, not a package; `from growth import slopes` finds what is imported here.

Their folder is in the path only meanwhile: some of them are called like packages (haystack) or like folders of tests
(stages), and pytest asks the path for the names of those.
"""

import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[3] / "benchmarks"
if find_spec("matplotlib"):
    sys.path.append(str(BENCHMARKS))
    for _name in ("growth", "hipporag", "plots", "report", "synthetic"):
        import_module(_name)
    sys.path.remove(str(BENCHMARKS))
else:
    collect_ignore_glob = ["test_*.py"]


@pytest.fixture
def root():
    """The repository."""
    return BENCHMARKS.parent
