"""Vector search over vectors that are blended with those of their neighbours in the graph."""

import numpy as np
import pytest

from hopweave import Document, KnowledgeBase, Query, Recipe
from hopweave.cli import main
from hopweave.errors import KnowledgeBaseError, MissingCapability
from hopweave.graph.build.builders.metadata import MetadataBuilder
from hopweave.sources.vector_search import VectorSearch
from hopweave.stages.similarity.vector_finder import VectorFinder

EAST, NORTH, DOWN = [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]
DOCUMENTS = [
    Document("pump", "pump", {"requires": ["valve"], "team": "sea"}, vector=EAST),
    Document("valve", "valve", {"team": "sea"}, vector=NORTH),
    Document("crane", "crane", {"team": "land"}, vector=DOWN),
]


@pytest.fixture
def kb(tmp_path):
    with KnowledgeBase.open(tmp_path / "kb.db", embedder=None, builders=[MetadataBuilder()]) as kb:
        kb.add(DOCUMENTS)
        yield kb


def scores(kb, vector, own_share=None, **query):
    source = VectorSearch(own_share=own_share)
    hits = source.search(Query("?", vector=np.array(vector, np.float32), **query), kb)
    return {hit.id: hit.score for hit in hits}


def test_a_document_is_found_by_what_its_neighbours_say(kb):
    # valve = 0.8 · north + 0.2 · east, of length sqrt(0.68)
    assert "valve" not in {key for key, score in scores(kb, EAST).items() if score > 0}
    found = scores(kb, EAST, own_share=0.8)
    assert found["valve"] == pytest.approx(0.2 / 0.68**0.5)
    assert found["pump"] == pytest.approx(0.8 / 0.68**0.5)
    assert scores(kb, DOWN, own_share=0.8)["crane"] == pytest.approx(1.0)  # without neighbours, it stays itself


def test_the_receipt_says_so(kb):
    hit = VectorSearch(own_share=0.8).search(Query("?", vector=np.array(EAST, np.float32)), kb)[0]
    assert hit.receipts[0].details["own_share"] == 0.8
    assert (
        "own_share"
        not in VectorSearch().search(Query("?", vector=np.array(EAST, np.float32)), kb)[0].receipts[0].details
    )


def test_a_deleted_neighbour_leaves_no_trace_and_a_new_one_counts(kb):
    before = scores(kb, NORTH, own_share=0.5)
    kb.delete(["valve"])
    assert scores(kb, NORTH, own_share=0.5).get("pump", 0.0) == pytest.approx(0.0)
    kb.add([DOCUMENTS[1]])
    assert scores(kb, NORTH, own_share=0.5) == pytest.approx(before)


def test_a_tenant_is_not_influenced_by_what_it_may_not_see(tmp_path):
    with KnowledgeBase.open(tmp_path / "kb.db", embedder=None, builders=[MetadataBuilder()]) as kb:
        secret = Document("valve", "valve", {"team": "land"}, vector=NORTH)
        kb.add([DOCUMENTS[0], secret, DOCUMENTS[2]])
        assert scores(kb, NORTH, own_share=0.5)["pump"] > 0.5
        assert scores(kb, NORTH, own_share=0.5, tenant={"team": "sea"}).get("pump", 0.0) == pytest.approx(0.0)


def test_filters_choose_among_blended_vectors(kb):
    recipe = Recipe.of_source(VectorSearch(own_share=0.8), top_k=1)
    query = Query("?", vector=np.array(EAST, np.float32), filters={"team": "sea"})
    hits = kb.search(query, recipe=recipe, top_k=5).hits
    among_all = scores(kb, EAST, own_share=0.8)
    assert {hit.id: hit.score for hit in hits} == {key: pytest.approx(among_all[key]) for key in ("pump", "valve")}


def test_it_can_be_settled_for_a_file(tmp_path):
    path = tmp_path / "kb.db"
    with KnowledgeBase.open(path, embedder=None, builders=[MetadataBuilder()], own_share=0.8) as kb:
        kb.add(DOCUMENTS)
        assert scores(kb, EAST) == scores(kb, EAST, own_share=0.8)
        assert scores(kb, EAST, own_share=1.0)["pump"] == pytest.approx(1.0)
    with KnowledgeBase.open(path) as kb:
        assert kb.own_share == 0.8
        assert kb.check() == []
    with pytest.raises(KnowledgeBaseError, match=r"its own_share is 0.8, not 0.5; open it without naming one"):
        KnowledgeBase.open(path, own_share=0.5)
    with pytest.raises(ValueError, match="own_share: 0 is not allowed"):
        KnowledgeBase.open(tmp_path / "new.db", own_share=0)


def test_the_command_takes_it(tmp_path, capsys):
    (tmp_path / "a.md").write_text("# Pump\nSee [the valve](b.md).")
    (tmp_path / "b.md").write_text("# Valve\nA valve.")
    assert main(["index", str(tmp_path), "--kb", str(tmp_path / "kb.db"), "--own-share", "0.7"]) == 0
    with KnowledgeBase.open(tmp_path / "kb.db") as kb:
        assert kb.own_share == 0.7
        assert (
            kb.search("pump", recipe=Recipe.of_source(VectorSearch())).hits[0].receipts[0].details["own_share"] == 0.7
        )
    with pytest.raises(SystemExit):
        main(["index", str(tmp_path), "--own-share", "2"])
    assert "must be a number above 0 and at most 1" in capsys.readouterr().err


def test_a_place_that_cannot_says_so():
    class Shelf(VectorFinder):
        capabilities = frozenset({"vectors"})

    with pytest.raises(MissingCapability, match="vector needs smoothed_vectors"):
        VectorSearch(own_share=0.5).search(Query("?", vector=np.array(EAST, np.float32)), Shelf())
