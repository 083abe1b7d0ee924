"""All vectors of a file are of one model."""

import numpy as np
import pytest

from hopweave import Document, KnowledgeBase
from hopweave.errors import KnowledgeBaseError
from hopweave.vector.embedders import CallableEmbedder, StaticEmbedder

TEXTS = [f"The ferry number {number} sails to Lunn." for number in range(12)]
CHANCE = np.random.default_rng(1)
STATIC = StaticEmbedder().embed(TEXTS)
OTHER = CHANCE.normal(size=STATIC.shape).astype(np.float32)
THIRD = CHANCE.normal(size=STATIC.shape).astype(np.float32)


def documents(vectors, prefix):
    pairs = zip(TEXTS, vectors, strict=True)
    return [Document(f"{prefix}{number}", text, vector=vector) for number, (text, vector) in enumerate(pairs)]


@pytest.mark.parametrize(("first", "second"), [("static", "other"), ("other", "static")])
@pytest.mark.parametrize("again", [False, True])
def test_static_vectors_and_others_of_equal_width_are_never_in_one_file(first, second, again, tmp_path):
    vectors = {"static": STATIC, "other": OTHER}
    with KnowledgeBase.open(tmp_path / "kb.db", embedder=None) as kb:
        kb.add(documents(vectors[first], "a"))
        if not again:
            with pytest.raises(KnowledgeBaseError, match=r"document 'b0': .* holds those of"):
                kb.add(documents(vectors[second], "b"))
    with KnowledgeBase.open(tmp_path / "kb.db", embedder=None) as kb:
        with pytest.raises(KnowledgeBaseError, match=r"document 'b0': .* holds those of"):
            kb.replace("b.md", documents(vectors[second], "b"))
        assert kb.count() == 12


def test_one_batch_holds_vectors_of_one_model():
    mixed = [*documents(STATIC, "a")[:6], *documents(OTHER, "b")[6:]]
    for embedder in (None, StaticEmbedder()):
        with KnowledgeBase.open(embedder=embedder) as kb:
            with pytest.raises(KnowledgeBaseError, match="document 'b6': comes with a vector of a model that was not"):
                kb.add(mixed)
            assert kb.count() == 0


def test_models_that_are_named_are_kept_apart(tmp_path):
    with KnowledgeBase.open(tmp_path / "kb.db", embedder=None) as kb:
        kb.add(documents(OTHER, "a"), vectors_of="north")
    with KnowledgeBase.open(tmp_path / "kb.db") as kb:
        for vectors_of, whose in (("south", "'south'"), (None, "a model that was not named")):
            with pytest.raises(KnowledgeBaseError, match=f"a vector of {whose}, but the file holds those of 'north'"):
                kb.add(documents(THIRD, "b"), vectors_of=vectors_of)
        assert kb.add(documents(THIRD, "b"), vectors_of="north").added == 12
        kb.delete(kb.ids())
        assert kb.add(documents(THIRD, "c"), vectors_of="south").added == 12  # nothing is left to compare with


def test_a_sample_decides_where_no_model_is_named(tmp_path):
    def turned(texts):
        return StaticEmbedder().embed(texts)[:, ::-1]

    embedder = CallableEmbedder(name="turned", function=turned)
    with KnowledgeBase.open(tmp_path / "kb.db", embedder=embedder) as kb:
        assert kb.add(documents(STATIC[:, ::-1], "a")).added == 12
        for vectors in (STATIC, OTHER):
            with pytest.raises(KnowledgeBaseError, match="document 'b0': comes with a vector of a model that was not"):
                kb.add(documents(vectors, "b"))
    with KnowledgeBase.open(tmp_path / "static.db") as kb:  # whose embedder nobody named
        assert kb.add(documents(STATIC, "a")).added == 12


def test_a_model_of_llama_index_is_refused_with_the_remedy():
    class Model:
        def __call__(self, nodes):
            return nodes

        def get_text_embedding_batch(self, texts):
            return [[1.0] for _ in texts]

    with pytest.raises(TypeError, match=r"Model is an embedding model of LlamaIndex; give llama_index.*to_embedder"):
        KnowledgeBase.open(embedder=Model())
