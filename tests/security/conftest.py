"""How hard the attacks of this folder try: a few seconds in every test run, minutes with HOPWEAVE_ATTACK=long."""

import os

import pytest

LONG = os.environ.get("HOPWEAVE_ATTACK") == "long"


@pytest.fixture(scope="session")
def attempts():
    """A number of attempts: the first in every test run, the second with `make attack`."""
    return lambda short, long: long if LONG else short
