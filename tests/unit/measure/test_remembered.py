from datetime import UTC, datetime

from hopweave.fusion.reciprocal_rank import ReciprocalRank
from hopweave.measure.remembered import Memory, remembering
from hopweave.pipeline import Pipeline
from hopweave.query import Query
from hopweave.recipe import load_recipe

from .conftest import Told

NOW = datetime(2026, 5, 1, tzinfo=UTC)


def ids(recipe, kb, memory, question, **how):
    query = Query(question, asked_at=NOW)
    return [hit.id for hit in Pipeline(remembering(recipe, memory), kb).run(query, **how).hits]


def test_the_same_question_is_searched_once(told, letters):
    recipe, memory = told(text={"one": "ab"}), Memory()
    assert [ids(recipe, letters, memory, "one") for _ in range(3)] == [["a", "b"]] * 3
    assert recipe.sources["text"].searched == ["one"]


def test_other_weights_need_no_new_search(told, letters):
    memory, recipe = Memory(), told(text={"one": "ab"}, vector={"one": "b"})
    for weight in (0, 1, 2):
        fuse = ReciprocalRank(weights={"vector": weight})
        ids(recipe.model_copy(update={"fuse": fuse}), letters, memory, "one")
    assert memory.searches == 2


def test_another_parameter_or_a_parameter_upstream_needs_one(told, letters):
    memory, recipe = Memory(), told(text={"one": "ab"})
    graph = Told(found={"one": ("c",)}, builds_on=("text",))
    recipe = recipe.model_copy(update={"sources": {**recipe.sources, "graph": graph}})
    ids(recipe, letters, memory, "one")
    assert memory.searches == 2
    sources = {**recipe.sources, "graph": graph.model_copy(update={"found": {"one": ("d",)}})}
    assert "d" in ids(recipe.model_copy(update={"sources": sources}), letters, memory, "one")
    assert memory.searches == 3
    text = Told(found={"one": ("e",)})
    sources = {**recipe.sources, "text": text}
    assert "e" in ids(recipe.model_copy(update={"sources": sources}), letters, memory, "one")
    assert memory.searches == 5


def test_another_question_number_of_hits_or_version_needs_one(told, letters):
    recipe, memory = told(text={"one": "ab", "two": "c"}), Memory()
    for question, top_k in (("one", 5), ("two", 5), ("one", 60)):
        ids(recipe, letters, memory, question, top_k=top_k)
    assert memory.searches == 3
    letters.delete(["b"])
    assert ids(recipe, letters, memory, "one") == ["a"]


def test_the_latest_rankings_are_at_hand(told, letters):
    recipe, memory = told(text={"one": "ab"}, vector={"one": "b"}), Memory()
    ids(recipe, letters, memory, "one")
    assert {name: [hit.id for hit in hits] for name, hits in memory.latest.items()} == {
        "text": ["a", "b"],
        "vector": ["b"],
    }


def test_only_so_many_are_kept(told, letters):
    recipe, memory = told(text={"one": "a", "two": "b"}), Memory(most_rankings=1)
    for question in ("one", "two", "one"):
        ids(recipe, letters, memory, question)
    assert memory.searches == 3


def test_a_shipped_recipe_answers_as_without_memory(kb):
    recipe, memory = load_recipe("multihop"), Memory()
    plain = kb.search("When does the tide gate open?", recipe=recipe)
    for _ in range(2):
        found = Pipeline(remembering(recipe, memory), kb).run("When does the tide gate open?")
        assert [(hit.id, hit.score) for hit in found.hits] == [(hit.id, hit.score) for hit in plain.hits]
