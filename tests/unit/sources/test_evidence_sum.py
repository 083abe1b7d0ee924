"""Evidence on one scale: the addends, who is scored, who is hidden, and what happens where nothing is known."""

import math

import numpy as np
import pytest

from hopweave import Document, KnowledgeBase
from hopweave.hit import Hit, Receipt
from hopweave.knowledge import Capability
from hopweave.query import Query
from hopweave.sources.bm25 import BM25
from hopweave.sources.evidence_sum import EvidenceSum
from hopweave.sources.vector_search import VectorSearch

LAWS = ["The tide gate opens at six.", "A carrier pays for goods.", "Who steals a bicycle is punished."]
QUESTION = Query("When does the gate of article 3 open?")
KINDS = {"document", "latent", "latent_document", "text", "vector"}


def documents(owner=lambda law, article: "all", **fields):
    return [
        Document(
            f"{law}-{article}",
            f"{text} Article {article} of many, in words {law * 7 + article}.",
            {"owner": owner(law, article), **({"source_id": f"law{law}"} if fields.get("parts", True) else {})},
        )
        for law, text in enumerate(LAWS)
        for article in range(5)
    ]


@pytest.fixture
def library():
    with KnowledgeBase.open() as kb:
        kb.add(documents())
        yield kb


def heads(kb, query=QUESTION, top_k=50):
    return {"text": BM25(top_k=top_k).search(query, kb), "vector": VectorSearch(top_k=top_k).search(query, kb)}


def test_the_addends_of_every_hit_sum_to_its_score(library):
    hits = EvidenceSum().search(QUESTION, library, heads(library))
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    for hit in hits:
        addends = hit.receipts[-1].details["addends"]
        assert math.fsum(addends.values()) == hit.score
        assert addends.keys() <= KINDS
    assert hits[0].receipts[-1].details["addends"].keys() == KINDS


def test_an_addend_is_the_weight_times_z_over_all_passages(library):
    upstream = heads(library)
    scores = {hit.id: hit.score for hit in BM25(top_k=50).search(QUESTION, library)}
    everyone = [scores.get(f"{law}-{article}", 0.0) for law in range(3) for article in range(5)]
    for hit in EvidenceSum().search(QUESTION, library, upstream):
        z = (scores.get(hit.id, 0.0) - np.mean(everyone)) / np.std(everyone)
        assert hit.receipts[-1].details["addends"]["text"] == pytest.approx(z, abs=1e-5)


def test_what_one_source_found_is_scored_by_the_others(library):
    upstream = {"text": heads(library, top_k=1)["text"], "vector": heads(library)["vector"]}
    found = EvidenceSum(by_words=0).search(QUESTION, library, upstream)
    everything = EvidenceSum().search(QUESTION, library, heads(library))
    assert [(hit.id, hit.score) for hit in found] == [(hit.id, hit.score) for hit in everything]


def test_a_passage_that_is_its_own_document_does_not_vote_twice():
    with KnowledgeBase.open() as kb:
        kb.add(documents(parts=False))
        hits = EvidenceSum().search(QUESTION, kb, heads(kb))
        assert hits[0].receipts[-1].details["addends"].keys() == {"text", "vector"}
        kb.add([Document(f"alone{number}", "The gate.", {"source_id": f"alone{number}"}) for number in range(4)])
        hits = EvidenceSum().search(QUESTION, kb, heads(kb))
        assert all(hit.receipts[-1].details["addends"].keys() <= {"text", "vector"} for hit in hits)


def test_evidence_of_documents_weighs_the_share_of_passages_that_are_parts(library):
    weights = EvidenceSum().search(QUESTION, library, heads(library))[0].receipts[-1].details["weights"]
    assert (weights["document"], weights["text"]) == (1.0, 1.0)
    library.add([Document(f"flat{number}", f"Gate number {number}.") for number in range(5)])
    hits = EvidenceSum(top_k=100).search(QUESTION, library, heads(library))
    assert hits[0].receipts[-1].details["weights"]["document"] == 0.75
    flat = next(hit for hit in hits if hit.id.startswith("flat"))
    assert flat.receipts[-1].details["addends"].keys() <= {"text", "vector"}


def test_evidence_can_be_left_out(library):
    hits = EvidenceSum(without=("latent", "vector")).search(QUESTION, library, heads(library))
    assert hits[0].receipts[-1].details["addends"].keys() == KINDS - {"latent", "vector"}


def test_a_source_with_a_trust_of_its_own_names_candidates_only(library):
    trusting = (Receipt("pagerank", None, 1.0, {"trust": 0.9}),)
    graph = [Hit("2-4", 1.0, "Who steals", receipts=trusting), Hit("0-3", 0.9, "The tide", receipts=trusting)]
    source = EvidenceSum(candidates_from=("text", "graph"), by_words=0)
    hits = source.search(QUESTION, library, {"text": heads(library, top_k=1)["text"], "graph": graph})
    assert "graph" not in hits[0].receipts[-1].details["addends"]
    assert {hit.id for hit in hits} <= {"2-4", "0-3", heads(library)["text"][0].id}


def test_vectors_that_cannot_tell_passages_apart_fall_silent(library):
    upstream = heads(library)
    *before, receipt = upstream["vector"][0].receipts
    silent = receipt._replace(details={**receipt.details, "above_chance": 0.2})
    upstream["vector"][0] = upstream["vector"][0]._replace(receipts=(*before, silent))
    hits = EvidenceSum().search(QUESTION, library, upstream)
    assert hits[0].receipts[-1].details["weights"]["vector"] == pytest.approx(0.0625, abs=1e-3)


def test_lists_of_other_stores_are_fused_by_trust(library):
    upstream = {"text": [Hit("0-3", 2.0, "a"), Hit("1-1", 1.0, "b")], "vector": [Hit("1-1", 0.9, "b")]}
    hits = EvidenceSum().search(QUESTION, library, upstream)
    assert {hit.id for hit in hits} == {"0-3", "1-1"}
    details = hits[0].receipts[-1].details
    assert details["as_given"] == ["text", "vector"]
    assert "trust_weighted" in details["reason"]


def test_a_list_that_cannot_be_scored_again_counts_as_given(library):
    upstream = heads(library)
    blended = [
        hit._replace(receipts=(hit.receipts[-1]._replace(details={**hit.receipts[-1].details, "own_share": 0.5}),))
        for hit in upstream["vector"][:3]
    ]
    hits = EvidenceSum().search(QUESTION, library, {**upstream, "vector": blended})
    assert hits[0].receipts[-1].details["as_given"] == ["vector"]


def test_hidden_parts_give_nothing_away():
    """What a tenant is given does not depend on parts of its documents that it may not see."""
    mine = Query(QUESTION.text, tenant={"owner": "me"})

    def asked(extra):
        with KnowledgeBase.open() as kb:
            kb.add([*documents(owner=lambda law, article: "me" if article < 4 else "you")])
            before = _seen(kb, mine)
            kb.add([Document("hidden", extra, {"owner": "you", "source_id": "law0"})])
            return before, _seen(kb, mine)

    for extra in ("The gate of article 3 opens when the gate opens.", "Bicycle thief."):
        before, after = asked(extra)
        assert "hidden" not in after
        for key in after.keys() & before.keys():
            # the numbers of the whole corpus are shared: idf and axes move, but no document's own evidence does
            assert after[key]["document"] == pytest.approx(before[key]["document"], abs=1e-6)


def _seen(kb, query):
    return {hit.id: hit.receipts[-1].details["addends"] for hit in EvidenceSum().search(query, kb, heads(kb, query))}


@pytest.mark.parametrize("scored", [True, False])
def test_a_tenant_is_not_shown_what_others_hand_in(scored):
    with KnowledgeBase.open() as kb:
        kb.add([*documents(owner=lambda law, article: "me" if law else "you")])
        upstream = heads(kb) if scored else {"text": [Hit("0-3", 2.0, "secret"), Hit("1-1", 1.0, "mine")]}
        hits = EvidenceSum().search(Query(QUESTION.text, tenant={"owner": "me"}), kb, upstream)
        assert hits
        assert all(hit.id[0] in "12" for hit in hits)


def test_candidates_that_the_asker_may_not_see_are_dropped(library):
    upstream = heads(library, top_k=2)
    upstream["text"] = [*upstream["text"], Hit("elsewhere", 1.0, "?", receipts=upstream["text"][0].receipts)]
    assert "elsewhere" not in {hit.id for hit in EvidenceSum().search(QUESTION, library, upstream)}


def test_a_knowledge_base_scores_candidates(library):
    assert Capability.SCORES in library.capabilities
    found = library.score_text({"gate": 1.0}, ["1-1", "0-0", "lost"], analyzer="nlp", best=1)
    assert found.keys() >= {"1-1", "0-0"}
    assert "lost" not in found
    assert found["1-1"] == 0 < found["0-0"]
    model, vector = library.embed("tide gate")
    ranked = dict(library.rank_vectors(vector, model=model, top_k=15))
    assert library.score_vectors(vector, ["0-2", "lost"], model=model) == {"0-2": pytest.approx(ranked["0-2"])}
