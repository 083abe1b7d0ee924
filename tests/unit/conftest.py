"""A registry that tests may add to, and a graph that is nothing but a port, as one in a database would be."""

import pytest

from hopweave import component
from hopweave.recipe import Recipe
from hopweave.testing.graphs import PlainPort


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


@pytest.fixture
def plain_port():
    """The class itself: `plain_port(nodes, edges)`."""
    return PlainPort
