import math

import numpy as np
import pytest

from hopweave.document import Document
from hopweave.errors import KnowledgeBaseError
from hopweave.knowledge_base.store import KnowledgeBase
from hopweave.query import Query
from hopweave.sources.vector_search import VectorSearch
from hopweave.vector.embedders import CallableEmbedder


@pytest.fixture
def compass():
    directions = {"north": [0, 1], "east": [1, 0], "south": [0, -1], "nowhere": [0, 0]}
    embedder = CallableEmbedder(
        name="compass", function=lambda texts: [directions.get(text.split()[0], [1, 1]) for text in texts]
    )
    with KnowledgeBase.open(embedder=embedder) as kb:
        kb.add(Document(name, f"{name} wind", {"strong": name != "east"}) for name in directions)
        yield kb


def test_hits_by_cosine_with_the_model_in_the_receipt(compass):
    hits = VectorSearch().search(Query("north"), compass)
    assert [(hit.id, hit.score, hit.scale) for hit in hits] == [
        ("north", 1, "cosine"),
        ("east", 0, "cosine"),
        ("south", -1, "cosine"),
    ]
    # cosines 1, 0 and -1: mean 0, deviation √(2/3); three quarters of z²/2 / ln 3
    said = {"rank": 1, "model": "compass", "above_chance": pytest.approx(0.75 * 0.75 / math.log(3), abs=6e-4)}
    said |= {"mean": pytest.approx(0, abs=1e-6), "deviation": pytest.approx(math.sqrt(2 / 3))}
    assert hits[0].receipts[0].details == said


def test_a_vector_that_comes_with_the_question_is_used(compass):
    hits = VectorSearch(top_k=1).search(Query("north", np.array([0, -7], np.float32)), compass)
    assert [hit.id for hit in hits] == ["south"]
    assert hits[0].receipts[0].details["model"] == "given with the question"
    named = VectorSearch(top_k=1, model="compass").search(Query("", np.array([0, -7], np.float32)), compass)
    assert named[0].receipts[0].details["model"] == "compass"


@pytest.mark.parametrize("question", [Query(""), Query("  "), Query("nowhere"), Query("x", np.zeros(2, np.float32))])
def test_a_question_without_direction_finds_nothing(compass, question):
    assert VectorSearch().search(question, compass) == []


@pytest.mark.parametrize("vector", [[1.0], [1.0, 2.0, 3.0], [[1.0, 2.0]], [float("nan"), 1.0], []])
def test_a_vector_of_the_wrong_size_is_an_error_that_names_both(compass, vector):
    with pytest.raises(KnowledgeBaseError, match=r"the question's vector has shape .* of model 'compass' are 2 finite"):
        VectorSearch().search(Query("x", np.array(vector, np.float32)), compass)


def test_an_unknown_model_is_named(compass):
    with pytest.raises(KnowledgeBaseError, match="holds no vectors of model 'sextant'"):
        VectorSearch(model="sextant").search(Query("x", np.ones(2, np.float32)), compass)


def test_tenants_see_their_own(compass):
    assert [hit.id for hit in VectorSearch().search(Query("east", tenant={"strong": True}), compass)] == [
        "north",
        "south",
    ]


def test_texts_to_embed_instead_of_the_question_are_averaged(compass):
    asked = Query("north", vector_texts=("east", "south"))
    assert [(hit.id, round(hit.score, 3)) for hit in VectorSearch().search(asked, compass)] == [
        ("east", 0.707),
        ("south", 0.707),
        ("north", -0.707),
    ]
    assert asked != Query("north", now=asked.now)
