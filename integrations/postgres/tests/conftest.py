"""Repeatable examples, and five short documents; the databases come from the repository's own conftest."""

import pytest
from hypothesis import settings

from hopweave import Document

settings.register_profile("hopweave", deadline=None, derandomize=True)
settings.load_profile("hopweave")


@pytest.fixture
def isles():
    return [
        Document("skua", "The Skua is a ferry between Hallow and Great Tern.", {"title": "MV Skua", "type": "ship"}),
        Document("petrel", "The Petrel is a small ferry for the winter.", {"title": "MV Petrel", "type": "ship"}),
        Document("gate", "The tide gate at Hallow opens at six.", {"title": "Tide gate", "type": "place"}),
        Document("hallow", "Hallow is the harbour of the northern isle.", {"title": "Hallow", "type": "place"}),
        Document("notice", "No ferry sails on 3 May; the tide gate is shut.", {"title": "Notice", "type": "notice"}),
    ]
