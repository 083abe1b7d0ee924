"""Only what is returned is read, and nobody can tell the difference."""

from typing import Literal

import pytest

from hopweave import Document, KnowledgeBase, Pipeline, Query
from hopweave.component import Source, fetched
from hopweave.errors import KnowledgeBaseError
from hopweave.graph.external_documents import ExternalDocuments
from hopweave.graph.model import Contribution, Edge, Node
from hopweave.hit import Hit
from hopweave.recipe import Recipe, load_recipe
from hopweave.search.retrieval import materialise
from hopweave.sources.bm25 import BM25
from hopweave.stages.filter.score_threshold import ScoreThreshold


@pytest.fixture
def reads(monkeypatch):
    """The ids of every call of `get`."""
    calls = []
    get = KnowledgeBase.get

    def noted(self, ids, *, tenant=None):
        calls.append(list(ids))
        return get(self, calls[-1], tenant=tenant)

    monkeypatch.setattr(KnowledgeBase, "get", noted)
    return calls


@pytest.fixture
def harbour():
    with KnowledgeBase.open() as kb:
        kb.add(
            Document(f"d{n}", f"Ferry {n} calls at Hallow quay.", {"title": f"Ferry {n}", "team": "ab"[n % 2]})
            for n in range(40)
        )
        yield kb


@pytest.mark.parametrize("recipe", ["multihop", "hybrid", "weighted"])
@pytest.mark.parametrize("tenant", [None, {"team": "a"}])
@pytest.mark.parametrize("top_k", [1, 3, 12])
def test_the_same_as_the_first_of_all_that_was_found(harbour, recipe, tenant, top_k):
    pipeline, query = Pipeline(recipe, harbour), Query("Which quay does Ferry 7 call at?", tenant=tenant)
    result, everything = pipeline.run(query, top_k=top_k), pipeline.find(query, top_k=top_k)
    assert result.hits == everything.hits[:top_k]
    assert all(hit.text and hit.metadata for hit in result.hits)
    assert result.evidence == everything.evidence


def test_only_what_is_returned_or_judged_is_read(harbour, reads):
    Pipeline("multihop", harbour).run("Ferry 7 at Hallow", top_k=3)
    assert [len(ids) for ids in reads] == [10], "confidence goes by the first ten"
    Pipeline("multihop", harbour).run("Ferry 7 at Hallow", top_k=15)
    assert len(reads[1]) == 15


def test_stages_filters_and_those_who_want_all_get_texts(harbour, reads):
    with_stage = load_recipe("hybrid").model_copy(update={"stages": (ScoreThreshold(min_score=0.0),)})
    for ask in (
        lambda: Pipeline(with_stage, harbour).run("ferry", top_k=2),
        lambda: Pipeline("hybrid", harbour).run(
            Query("ferry", filters={"field": "team", "operator": "==", "value": "a"})
        ),
        lambda: Pipeline("hybrid", harbour).find("ferry"),
    ):
        reads.clear()
        assert all(hit.text for hit in ask().hits)
        assert sum(map(len, reads)) >= 40


class Longest(Source):
    """Reads what it ranks."""

    kind: Literal["longest"] = "longest"

    def search(self, query, knowledge, upstream=None):
        hits = fetched([(key, 1.0) for key in knowledge.ids()], knowledge, query, self.kind, "positive")
        return [hit._replace(score=float(len(hit.text))) for hit in hits if len(hit.text) > 40]


def test_a_source_that_reads_documents_has_their_texts(harbour):
    recipe = Recipe(name="longest", sources={"text": BM25(), "longest": Longest()})
    harbour.add([Document("long", "A very long text about every quay of all the isles, and nothing about boats.")])
    assert Pipeline(recipe, harbour).run("zebra", top_k=1).hits[0].id == "long"


def test_passages_without_a_document_are_left_out_and_counted():
    passage = Node.passage("lost", "Lost log")
    log = Contribution("import", nodes=(passage,), edges=(Edge(passage.id, "entity:hallow quay", "mentions"),))
    with KnowledgeBase.open() as kb:
        kb.add([Document("quay", "Hallow Quay is a quay.", {"title": "Hallow Quay"})])
        kb.contribute([log])
        result = Pipeline("multihop", kb).run("What does Hallow Quay see?")
    assert [hit.id for hit in result.hits] == ["quay"]
    assert result.missing == {"graph": 1}


@pytest.mark.parametrize("recipe", ["multihop", "hybrid"])
def test_documents_that_the_store_of_the_user_lost_are_left_out_and_counted(harbour, recipe):
    there = ExternalDocuments(None, lambda ids: harbour.get(set(ids) - {"d7"}).values(), index=harbour)
    whole, result = (Pipeline(recipe, place).run("Ferry 7 at Hallow", top_k=3) for place in (harbour, there))
    assert "d7" in [hit.id for hit in whole.hits]
    assert len(result.hits) == 3
    assert "d7" not in [hit.id for hit in result.hits]
    assert result.missing["text"] == 1


def test_a_document_that_is_gone_is_an_error_and_no_silence(harbour):
    hits = [Hit("d1", 0.5)]
    harbour.delete(["d1"])
    with pytest.raises(KnowledgeBaseError, match="document 'd1' was ranked and is not there"):
        materialise(hits, harbour, None)
