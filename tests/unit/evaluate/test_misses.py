import pytest

from hopweave.document import Document
from hopweave.evaluate.diagnose import diagnose
from hopweave.evaluate.misses import REASONS
from hopweave.evaluate.queries import EvaluationQuery
from hopweave.knowledge_base.store import KnowledgeBase
from hopweave.recipe import Recipe
from hopweave.routing.gate import Gate
from hopweave.stages.diversify.deferral import Deferral
from hopweave.stages.filter.metadata_filter import MetadataFilter

from .conftest import judged

DOCUMENTS = [
    Document("skua", "The MV Skua was designed by Ingrid Falk.", {"title": "MV Skua"}),
    Document("falk", "Ingrid Falk was born on Lunn.", {"title": "Ingrid Falk"}),
    Document("lunn", "Lunn lives on wool.", {"title": "Lunn"}),
    Document("alone", "nobody says a word of this, and it says none of others", {}),
]
QUESTION = "Where was the designer of MV Skua born?"


def walk(**parameters):
    written = {"kind": "pagerank", "seeds_from": [], "word_source": None, "top_k": 10, **parameters}
    return Recipe.model_validate({"name": "walk", "sources": {"graph": written}})


@pytest.fixture
def isles():
    with KnowledgeBase.open(embedder=None) as kb:
        kb.add(DOCUMENTS)
        yield kb


def only_miss(kb, recipe, query, top_k=1):
    ((miss,),) = [failure.misses for failure in diagnose(kb, recipe, [query], top_k=top_k).failures]
    return miss


def asked(gold, **fields):
    return EvaluationQuery.read({"question": QUESTION, "gold": [gold], **fields})


def test_not_stored(fixed, letters):
    miss = only_miss(letters, fixed(text={"one": "b"}), judged(one=["lost"])[0])
    assert (miss.reason, miss.rank, dict(miss.ranks)) == ("not_stored", None, {})


def test_filtered(fixed, letters):
    query = EvaluationQuery.read({"question": "one", "gold": ["a"], "filters": {"type": "consonant"}})
    assert only_miss(letters, fixed(text={"one": "ab"}), query).reason == "filtered"


def test_hidden_from_the_tenant(fixed, letters):
    query = EvaluationQuery.read({"question": "one", "gold": ["a"], "tenant": {"type": "consonant"}})
    assert only_miss(letters, fixed(text={"one": "b"}), query).reason == "filtered"


def test_gated(fixed, letters):
    recipe = fixed(text={"Good morning!": "a"}).model_copy(update={"gate": Gate()})
    query = EvaluationQuery.read({"question": "Good morning!", "gold": ["a"]})
    miss = only_miss(letters, recipe, query)
    assert (miss.reason, miss.detail) == ("gated", "greeting needs no retrieval")


def test_dropped_by_a_stage(fixed, letters):
    stages = (Deferral(), MetadataFilter(types=("consonant",)))
    miss = only_miss(letters, fixed(text={"one": "bac"}, stages=stages), judged(one="a")[0], top_k=2)
    assert (miss.reason, miss.detail, miss.rank) == ("stage", "metadata_filter dropped it from rank 2", 2)


def test_moved_down_by_a_stage(fixed):
    vectors = {"a": (1.0, 0.0), "b": (1.0, 0.0), "c": (0.0, 1.0)}
    with KnowledgeBase.open(embedder=None, builders=[]) as kb:
        kb.add(Document(key, f"About {key}.", {}, vector) for key, vector in vectors.items())
        miss = only_miss(kb, fixed(text={"one": "bac"}, stages=(Deferral(),)), judged(one="a")[0], top_k=2)
    assert (miss.reason, miss.detail) == ("stage", "deferral moved it from rank 2 to 3")


def test_ranked_low(fixed, letters):
    recipe = fixed(text={"one": "xya"}, vector={"one": "yxza"})
    miss = only_miss(letters, recipe, judged(one="a")[0], top_k=2)
    # x and y are in both at 1 and 2; a is in both at 3 and 4 and so before z
    assert (miss.reason, miss.rank, dict(miss.ranks)) == ("ranked_low", 3, {"text": 3, "vector": 4})
    assert str(miss) == "'a': found, but ranked low; 3rd after fusion, text 3rd, vector 4th"


def test_the_best_of_a_class_is_what_counts(fixed, letters):
    miss = only_miss(letters, fixed(text={"one": "xyba"}), judged(one=[["a", "b"]])[0], top_k=2)
    assert (miss.ids, miss.rank) == (("a", "b"), 3)
    assert str(miss).startswith("'a' or 'b': ")


def test_not_found_by_any_source(fixed, letters):
    miss = only_miss(letters, fixed(text={"one": "x"}), judged(one="a")[0])
    assert (miss.reason, dict(miss.beyond)) == ("not_found", {})


def test_beyond_what_a_source_was_asked_for(isles):
    recipe = Recipe.from_yaml("{name: words, sources: {text: {kind: bm25, top_k: 1}}}")
    miss = only_miss(isles, recipe, EvaluationQuery.read({"question": "Skua Falk wool", "gold": ["lunn"]}))
    assert (miss.reason, list(miss.beyond)) == ("not_found", ["text"])
    assert miss.beyond["text"] > 1
    assert "if asked for 1000: text" in str(miss)


def test_reached_by_the_walk_but_too_low(isles):
    miss = only_miss(isles, walk(top_k=1), asked("falk"))
    assert (miss.reason, miss.rank, list(miss.beyond)) == ("walk_ranked_low", None, ["graph"])
    assert miss.beyond["graph"] > 1
    assert miss.path == "MV Skua —mentions→ Ingrid Falk ←about— Ingrid Falk"


def test_found_by_the_walk_and_ranked_low(isles):
    miss = only_miss(isles, walk(), asked("falk"))
    assert (miss.reason, dict(miss.ranks)) == ("ranked_low", {"graph": miss.rank})
    assert miss.rank > 1


def test_linked_but_not_reached(isles):
    miss = only_miss(isles, walk(min_share=0.5), asked("falk"))
    assert (miss.reason, dict(miss.beyond)) == ("not_reached", {})
    assert miss.path == "MV Skua —mentions→ Ingrid Falk ←about— Ingrid Falk"


def test_not_linked(isles):
    miss = only_miss(isles, walk(), asked("alone"))
    assert (miss.reason, miss.detail, miss.path) == ("not_linked", "the question names MV Skua", None)


def test_nothing_named(isles):
    miss = only_miss(isles, walk(), EvaluationQuery.read({"question": "what now?", "gold": ["falk"]}))
    assert (miss.reason, miss.detail) == ("not_linked", "the question names nothing in the graph")


def test_a_walk_from_hits_is_linked_through_them(isles):
    recipe = Recipe.from_yaml(
        "{name: near, sources: {text: {kind: bm25, top_k: 1}, "
        "graph: {kind: graph_boost, seeds_from: [text], top_k: 1}}}"
    )
    query = EvaluationQuery.read({"question": "designed", "gold": ["lunn"]})
    miss = only_miss(isles, recipe, query)
    assert miss.path is not None
    assert miss.reason in ("not_reached", "walk_ranked_low")


def test_what_another_source_ranks_well_fusion_loses(isles):
    recipe = Recipe.model_validate(
        {
            "name": "both",
            "sources": {"text": {"kind": "bm25"}, "graph": {"kind": "pagerank", "seeds_from": ["text"]}},
            "fuse": {"kind": "weighted", "weights": {"graph": 1, "text": 0}},
        }
    )
    query = EvaluationQuery.read({"question": "nobody says a word of MV Skua", "gold": ["alone"]})
    miss = only_miss(isles, recipe, query)
    assert miss.reason == "ranked_low"
    assert miss.ranks["text"] == 1


def test_every_reason_has_words():
    assert all(REASONS.values())
    assert list(REASONS)[-1] == "not_found"
