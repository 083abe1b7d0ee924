import numpy as np
import pytest

from hopweave.errors import EmbeddingError
from hopweave.hit import Hit
from hopweave.knowledge import Capability
from hopweave.query import Query
from hopweave.stages.diversify.deferral import Deferral
from hopweave.stages.diversify.mmr import MMR
from hopweave.stages.similarity.vector_finder import VectorFinder

HITS = [Hit("a", 0.9, "The tide gate opens."), Hit("copy", 0.8, "The tide gate opens!"), Hit("b", 0.5, "A ferry.")]


def test_knows_nothing():
    finder = VectorFinder()
    assert (finder.vectors(["a"]), finder.get(["a"]), finder.version) == ({}, {}, 0)
    assert finder.capabilities == {Capability.WORD_VECTORS}
    for ask in (lambda: finder.embed("question"), lambda: finder.embed_texts(["x"])):
        with pytest.raises(EmbeddingError, match="no embedder"):
            ask()


def test_a_vector_of_none_is_left_out():
    assert VectorFinder(dict.fromkeys).vectors(["a"]) == {}


def test_embeds_a_question():
    name, vector = VectorFinder(embed_texts=lambda texts: [[1, 2]]).embed("question")
    assert (name, vector.dtype, vector.tolist()) == ("embedder", np.float32, [1, 2])


@pytest.mark.parametrize("stage", [MMR(relevance_weight=0.5), Deferral()])
def test_stages_step_over_repeated_words(stage):
    moved = stage.apply(HITS, Query("gate"), VectorFinder())
    assert [hit.id for hit in moved] == ["a", "b", "copy"]
    assert {hit.receipts[-1].details["vector_from"] for hit in moved} == {"lexical"}
    assert [hit.id for hit in stage.apply(HITS, Query("gate"))] == ["a", "copy", "b"]
