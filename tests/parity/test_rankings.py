"""Same ids in the same order, scores equal to 1e-9, in the core, in Haystack and in LlamaIndex."""

import pytest

from hopweave.hit import Hit
from hopweave.query import Query
from hopweave.recipe import load_recipe, recipe_names
from hopweave.routing.intent import IntentClassifier

QUESTIONS = (
    "How did people make a living in the place where the designer of MV Skua was born?",
    "Ingrid Falk",
    "How do I fix the crash of the tide gate?",
    "compare MV Skua and MV Plover",
    "zzz qqq",
)
PARAMETERS = {
    "community_spread": {"multiplier": 1.5, "min_hits": 2, "clamp": True},
    "corpus_boost": {"clamp": True},
    "cosine_rerank": {"blend": 0.7},
    "cross_encoder": {"candidates": 5, "blend": 0.5, "include_title": False},
    "deferral": {"max_similarity": 0.3},
    "metadata_filter": {"types": ("log",), "where": {"importance": {"gte": 0.2}}},
    "freshness": {"weight": 0.4, "half_life_days": 10, "corpus_types": None, "decay": "exponential"},
    "importance": {"floor": 0.2},
    "length": {"anchor_characters": 10, "slope": 2.0},
    "score_threshold": {"min_score": 0.6},
    "mmr": {"relevance_weight": 0.3, "relevance": "min_max", "top_k": 5},
    "noise": {"min_characters": 30},
    "recency_boost": {"weight": 0.5, "clamp": True},
    "remote_rerank": {"cosine_share": 0.9, "max_retries": 0},
    "time_decay": {"half_life_days": 5, "floor": 0.1},
    "confirmatory": {"base": "text", "bonus": 0.5, "min_score": 0.2},
    "reciprocal_rank": {"k": 3, "weights": {"text": 2.0, "vector": 0.5}},
    "trust_weighted": {"depth": 3, "weights": {"vector": 2.0}},
    "weighted": {"weights": {"text": 0.9, "vector": 0.1}, "normalisation": "max"},
    "bm25": {"top_k": 7, "keyword_weight": 1.0},
    "full_text": {"top_k": 7},
    "keyword": {"top_k": 7},
    "vector": {"top_k": 7},
    "pagerank": {"top_k": 7, "restart": 0.5, "max_seed_passages": 2},
    "graph_boost": {"top_k": 7, "seeds_per_source": 3},
    "intent_edges": {"top_k": 7},
}


def variants(kind, cross_encoder=None):
    fixed = {"model": cross_encoder} if kind == "cross_encoder" else {}
    return fixed, {**fixed, **PARAMETERS.get(kind, {})}


def same(found, expected):
    assert [key for key, _ in found] == [key for key, _ in expected]
    for (_, score), (_, wanted) in zip(found, expected, strict=True):
        assert (score is None) == (wanted is None)
        assert score is None or abs(score - wanted) <= 1e-9


def test_stages(stage_kind, framework, core, hits_of_every_scale, question, request):
    model = request.getfixturevalue("cross_encoder") if stage_kind == "cross_encoder" else None
    for parameters in variants(stage_kind, model):
        stage, made = core.make("stage", stage_kind, **parameters), framework.make("stage", stage_kind, **parameters)
        assert framework.apply(made, [], question) == []
        for hits in hits_of_every_scale:
            same(framework.apply(made, hits, question), core.apply(stage, hits, question))
            same(framework.apply(made, hits[:1], question), core.apply(stage, hits[:1], question))


def test_fusers(fuser_kind, framework, core, hits_of_every_scale, question):
    for parameters in variants(fuser_kind):
        fuser = core.make("fuser", fuser_kind, **parameters)
        made = framework.make("fuser", fuser_kind, **parameters)
        for hits in hits_of_every_scale:
            for rankings in rankings_of(hits):
                same(framework.fuse(made, rankings, question), core.fuse(fuser, rankings, question))


def rankings_of(hits):
    """Rankings of two sources that share hits, in either order, one of them empty, and with ties."""
    text = [hit for place, hit in enumerate(hits) if place % 3]
    vector = [hit._replace(score=0.9 - place / 20, scale="unit") for place, hit in enumerate(hits[::-1]) if place % 2]
    yield {"text": text, "vector": vector}
    yield {"vector": vector, "text": text}
    yield {"text": text, "vector": []}
    yield {"text": [Hit("b", 1.0), Hit("a", 1.0), Hit("b", 0.5)], "vector": [Hit("a", None)]}


def test_sources(source_kind, framework, core, kb):
    for text in QUESTIONS:
        question = Query(text, intent=IntentClassifier().classify(text))
        for parameters in variants(source_kind):
            expected = core.search(core.make("source", source_kind, **parameters), question, kb)
            same(framework.search(framework.make("source", source_kind, **parameters), question, kb), expected)


@pytest.mark.parametrize("recipe", recipe_names())
def test_recipes(recipe, framework, core, kb):
    for text in QUESTIONS:
        expected = core.run(recipe, Query(text), kb)
        same(framework.run(recipe, Query(text), kb), expected)
        same(framework.run_native(recipe, Query(text), kb), expected)


def test_the_plan_says_how_many_hits_there_are(framework, core, kb):
    from hopweave import Query
    from hopweave.routing.plan import Planner

    recipe = load_recipe("skills").model_copy(update={"plan": Planner(top_k=2)})
    expected = core.run(recipe, Query(QUESTIONS[0]), kb)
    assert len(expected) == 2
    same(framework.run(recipe, Query(QUESTIONS[0]), kb), expected)
    same(framework.run_native(recipe, Query(QUESTIONS[0]), kb), expected)
