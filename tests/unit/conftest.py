"""A registry that tests may add to."""

import pytest

from hopweave import component
from hopweave.recipe import Recipe


@pytest.fixture
def registry():
    """Whatever a test registers is forgotten afterwards."""
    before = {role: dict(kinds) for role, kinds in component._ROLES.items()}
    yield
    for role, kinds in before.items():
        component._ROLES[role].clear()
        component._ROLES[role].update(kinds)
    component.rebuild()
    Recipe.model_rebuild(force=True)
