import numpy as np
import pytest

from hopweave.document import Document
from hopweave.errors import HopweaveError
from hopweave.graph.build.mentions import MentionsBuilder
from hopweave.graph.documents_elsewhere import DocumentsElsewhere
from hopweave.graph.resolve import resolve

EAST = np.array([1, 0], np.float32)
DOCUMENTS = [
    Document("skua", "MV Skua was designed by Ingrid Falk.", {"title": "MV Skua", "owner": "harbour"}),
    Document("falk", "Ingrid Falk was born in Lunn.", {"title": "Ingrid Falk", "owner": "museum"}, EAST),
]


@pytest.fixture
def elsewhere():
    build = MentionsBuilder().contribute
    shelf = {one.id: one.as_hit() for one in DOCUMENTS}
    graph = resolve([build(one) for one in DOCUMENTS]).graph(version=7)
    return DocumentsElsewhere(graph, lambda ids: [shelf[key] for key in ids if key in shelf])


def test_fetches_what_is_there(elsewhere):
    assert list(elsewhere.get(["falk", "nobody", "skua"])) == ["falk", "skua"]
    assert elsewhere.get([]) == {}
    assert list(elsewhere.get(["falk", "skua"], tenant={"owner": "harbour"})) == ["skua"]
    assert list(elsewhere.vectors(["falk", "skua"])) == ["falk"]
    assert elsewhere.version == 7


def test_a_tenant_sees_its_own(elsewhere):
    assert elsewhere.visible({"owner": "museum"}) == {"falk"}
    assert elsewhere.visible({}) == {"falk", "skua"}


def test_words_and_vectors_are_not_here(elsewhere):
    for ask in (
        lambda: elsewhere.rank_text({}, analyzer="nlp", top_k=1),
        lambda: elsewhere.rank_full_text("x", top_k=1),
        lambda: elsewhere.rank_vectors(np.ones(2), top_k=1),
        lambda: elsewhere.embed("x"),
    ):
        with pytest.raises(HopweaveError, match="live in another store"):
            ask()
