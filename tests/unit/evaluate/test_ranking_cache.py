from datetime import UTC, datetime

from hopweave.evaluate.ranking_cache import RankingCache, with_cached_sources
from hopweave.fusion.reciprocal_rank import ReciprocalRank
from hopweave.pipeline import Pipeline
from hopweave.query import Intent, Query
from hopweave.recipe import Recipe, load_recipe

from .conftest import FixedRanking

NOW = datetime(2026, 5, 1, tzinfo=UTC)


def ids(recipe, kb, cache, question, **how):
    query = Query(question, now=NOW)
    return [hit.id for hit in Pipeline(with_cached_sources(recipe, cache), kb).run(query, **how).hits]


def test_the_same_question_is_searched_once(fixed, letters):
    recipe, cache = fixed(text={"one": "ab"}), RankingCache()
    assert [ids(recipe, letters, cache, "one") for _ in range(3)] == [["a", "b"]] * 3
    assert recipe.sources["text"].searched == ["one"]


def test_other_weights_need_no_new_search(fixed, letters):
    cache, recipe = RankingCache(), fixed(text={"one": "ab"}, vector={"one": "b"})
    for weight in (0, 1, 2):
        fuse = ReciprocalRank(weights={"vector": weight})
        ids(recipe.model_copy(update={"fuse": fuse}), letters, cache, "one")
    assert cache.searches == 2


def test_another_parameter_or_a_parameter_upstream_needs_one(fixed, letters):
    cache, recipe = RankingCache(), fixed(text={"one": "ab"})
    graph = FixedRanking(found={"one": ("c",)}, builds_on=("text",))
    recipe = recipe.model_copy(update={"sources": {**recipe.sources, "graph": graph}})
    ids(recipe, letters, cache, "one")
    assert cache.searches == 2
    sources = {**recipe.sources, "graph": graph.model_copy(update={"found": {"one": ("d",)}})}
    assert "d" in ids(recipe.model_copy(update={"sources": sources}), letters, cache, "one")
    assert cache.searches == 3
    text = FixedRanking(found={"one": ("e",)})
    sources = {**recipe.sources, "text": text}
    assert "e" in ids(recipe.model_copy(update={"sources": sources}), letters, cache, "one")
    assert cache.searches == 5


def test_another_question_number_of_hits_or_version_needs_one(fixed, letters):
    recipe, cache = fixed(text={"one": "ab", "two": "c"}), RankingCache()
    for question, top_k in (("one", 5), ("two", 5), ("one", 60)):
        ids(recipe, letters, cache, question, top_k=top_k)
    assert cache.searches == 3
    letters.delete(["b"])
    assert ids(recipe, letters, cache, "one") == ["a"]


def test_the_latest_rankings_are_at_hand(fixed, letters):
    recipe, cache = fixed(text={"one": "ab"}, vector={"one": "b"}), RankingCache()
    ids(recipe, letters, cache, "one")
    assert {name: [hit.id for hit in hits] for name, hits in cache.latest.items()} == {
        "text": ["a", "b"],
        "vector": ["b"],
    }


def test_only_so_many_are_kept(fixed, letters):
    recipe, cache = fixed(text={"one": "a", "two": "b"}), RankingCache(max_rankings=1)
    for question in ("one", "two", "one"):
        ids(recipe, letters, cache, question)
    assert cache.searches == 3


def test_a_shipped_recipe_answers_as_without_memory(kb):
    recipe, cache = load_recipe("multihop"), RankingCache()
    plain = kb.search("When does the tide gate open?", recipe=recipe)
    for _ in range(2):
        found = Pipeline(with_cached_sources(recipe, cache), kb).run("When does the tide gate open?")
        assert [(hit.id, hit.score) for hit in found.hits] == [(hit.id, hit.score) for hit in plain.hits]


def test_weights_of_an_intent_matter_to_fusion_and_not_to_sources_of_ours(letters):
    cache = RankingCache()
    recipe = with_cached_sources(Recipe.from_yaml("{name: words, sources: {text: {kind: bm25}}}"), cache)
    for share in (0.2, 0.8):
        Pipeline(recipe, letters).run(Query("a", now=NOW, intent=Intent("debugging", {"text": share})))
    assert cache.searches == 1
    Pipeline(recipe, letters).run(Query("a", now=NOW, intent=Intent("debugging", {}, keywords=("a",))))
    assert cache.searches == 2
