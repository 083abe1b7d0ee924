import json

import pytest

from hopweave.fusion.reciprocal_rank import ReciprocalRank
from hopweave.fusion.weighted import Weighted
from hopweave.recipe import Recipe
from hopweave.routing.intent import IntentClassifier
from hopweave.tune.search_space import tunable
from hopweave.tune.tune import MANY_QUERIES, _frequent_intents, cautious_mean, searches, tune

from .conftest import judged

TWELVE = [f"q{n}" for n in range(12)]


@pytest.fixture
def lopsided(fixed):
    """Words put the gold third, vectors first, but vectors weigh nothing."""
    fuse = ReciprocalRank(weights={"text": 1.0, "vector": 0.0})
    return fixed(text=dict.fromkeys(TWELVE, "xya"), vector=dict.fromkeys(TWELVE, "abc"), fuse=fuse)


@pytest.fixture
def balanced(fixed):
    """Words are right for half of the queries, vectors for the other half: no weights are better than equal ones."""
    even, odd = TWELVE[::2], TWELVE[1::2]
    text = {**dict.fromkeys(even, "ax"), **dict.fromkeys(odd, "xa")}
    vector = {**dict.fromkeys(even, "xa"), **dict.fromkeys(odd, "ax")}
    return fixed(text=text, vector=vector, fuse=ReciprocalRank(weights={"text": 0.5, "vector": 0.5}))


def queries(gold="a", count=12):
    return judged(**{f"q{n}": gold for n in range(count)})


def test_a_real_gain_is_found_and_taken(lopsided, letters):
    found = tune(letters, lopsided, queries(), measure="mrr@3", trials=8)
    assert found.trained == (pytest.approx(1 / 3), 1.0)
    # a passes x once vector / 61 > text / 61 − text / 63
    weights = found.recipe.fuse.weights
    assert weights["vector"] / 61 > weights["text"] / 61 - weights["text"] / 63
    assert (set(found.before), set(found.after), len(found.after)) == ({1 / 3}, {1.0}, 12)
    assert found.difference.mean == pytest.approx(2 / 3)
    assert found.difference.p_value == pytest.approx(2 / 2**12, abs=2e-4)
    assert found.accepted
    assert found.verdict.startswith("The tuned recipe is better (mrr@3 +0.667 on held-out queries")


def test_weights_are_tuned_without_searching_again(lopsided, letters):
    tune(letters, lopsided, queries(), measure="mrr@3", trials=8)
    for source in lopsided.sources.values():
        assert sorted(source.searched) == sorted(TWELVE)


def test_what_is_within_noise_leaves_the_recipe_as_it_was(balanced, letters):
    found = tune(letters, balanced, queries(), measure="mrr@3", trials=8)
    assert found.difference.within_noise
    assert not found.accepted
    assert found.recipe is balanced
    assert found.warnings[-1] == "the difference on held-out queries is within noise"


def test_noise_is_taken_if_you_say_so_but_never_what_did_no_better(fixed, balanced, letters):
    text = {**dict.fromkeys(TWELVE[:4], "ax"), **dict.fromkeys(TWELVE[4:], "xa")}
    vector = {**dict.fromkeys(TWELVE[:4], "xa"), **dict.fromkeys(TWELVE[4:], "ax")}
    tilted = fixed(text=text, vector=vector, fuse=ReciprocalRank(weights={"text": 0.6, "vector": 0.5}))
    kept, taken = (tune(letters, tilted, queries(), measure="mrr@3", trials=8, accept=say) for say in (False, True))
    # vectors are right for 8 of 12: p = (1 + 12 + 66 + 220 + 495) · 2 / 2^12 = 0.39
    assert (kept.accepted, kept.recipe) == (False, tilted)
    assert "within noise" in kept.verdict
    assert "the starting recipe is kept" in kept.verdict
    assert taken.accepted
    assert taken.recipe == taken.candidate != tilted
    assert "used anyway" in taken.verdict
    same = tune(letters, balanced, queries("z"), measure="mrr@3", trials=3, accept=True)
    assert (same.accepted, same.recipe) == (False, balanced)
    assert same.verdict.startswith("No values scored higher than the starting ones")


def test_equal_seeds_tune_alike(lopsided, balanced, letters):
    for recipe in (lopsided, balanced):
        first, second = (tune(letters, recipe, queries(), trials=6, seed=5) for _ in range(2))
        assert (first.trials, first.before, first.after) == (second.trials, second.before, second.after)


def test_few_queries_are_held_out_in_turn_each_once(lopsided, letters):
    found = tune(letters, lopsided, queries(), measure="mrr@3", trials=2)
    assert found.folds == 3
    assert sorted(one.id for one in found.held_out) == sorted(TWELVE)


def test_a_share_is_held_out_of_many_or_when_asked_for(fixed, letters):
    many = {f"q{n}": "xa" for n in range(MANY_QUERIES)}
    recipe = fixed(text=many, vector=dict.fromkeys(many, "ax"))
    found = tune(letters, recipe, queries(count=MANY_QUERIES), measure="mrr@3", trials=2)
    assert (found.folds, len(found.held_out)) == (1, 30)
    found = tune(letters, recipe, queries(), measure="mrr@3", trials=2, held_out=0.5)
    assert (found.folds, len(found.held_out)) == (1, 6)


def test_progress_comes_to_what_was_announced(lopsided, letters):
    for held_out in (None, 0.5):
        counted = []
        tune(letters, lopsided, queries(), trials=3, held_out=held_out, progress=counted.append)
        assert sum(counted) == 3 * searches(12, held_out)


def test_only_what_is_named_is_tuned(lopsided, letters):
    found = tune(letters, lopsided, queries(), measure="mrr@3", parameters=["fuse.k=1:100"], trials=3)
    assert [one.path for one in found.parameters] == ["fuse.k"]
    assert found.candidate.fuse.weights == lopsided.fuse.weights


def test_the_recipe_is_written_with_how_it_came_about(kb):
    found = tune(kb, "hybrid", judged(**{f"What about ferry {n}?": ["gate"] for n in range(6)}), trials=2, accept=True)
    text = found.to_yaml()
    assert text.startswith(f"# {found.verdict}\nname: hybrid\n")
    assert Recipe.from_yaml(text) == found.recipe


def test_as_a_table_and_as_json(lopsided, letters):
    found = tune(letters, lopsided, queries(), measure="mrr@3", trials=4)
    plain = json.loads(json.dumps(found.as_dict()))
    assert plain["training"] == {"before": pytest.approx(1 / 3), "after": 1.0}
    assert plain["held_out"]["queries"] == 12
    assert set(plain["parameters"]) == {"fuse.weights.text", "fuse.weights.vector"}
    shown = str(found).splitlines()
    assert shown[0].split() == ["before", "after", "difference", "95", "%", "interval", "p"]
    assert shown[1].startswith("mrr@3, tuned on   0.333  1.000      +0.667")
    assert shown[-1] == found.verdict
    assert plain["warnings"] == ["only 12 judged queries: with fewer than 20, figures are not reliable"]


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"trials": 0}, "trials: 0 is not allowed"),
        ({"held_out": 0}, "held_out: 0 is not allowed: it must be a share between 0 and 1"),
        ({"held_out": 1.5}, "held_out: 1.5 is not allowed"),
        ({"measure": "speed@3"}, "measure: 'speed@3' is not allowed"),
        ({"parameters": ["fuse.k"]}, "fuse.k has no bounds of its own"),
    ],
)
def test_bad_input(lopsided, letters, given, complaint):
    with pytest.raises(ValueError, match=complaint):
        tune(letters, lopsided, queries(), **given)


def test_nothing_to_tune_and_nothing_to_tune_on(fixed, lopsided, letters):
    with pytest.raises(ValueError, match="the recipe 'fixed' has none that are bounded; name some as path=low:high"):
        tune(letters, fixed(text={}), queries())
    with pytest.raises(ValueError, match="at least 6 judged queries, but there are 5"):
        tune(letters, lopsided, queries(count=5))


def test_caution_grows_with_spread_and_shrinks_with_queries():
    # gains 0.4 and 0: mean 0.7, standard deviation 0.4 / √2 = 0.2828
    assert cautious_mean([0.5, 0.5], [0.9, 0.5]) == pytest.approx(0.7 - 0.2828 / 2**0.5, abs=1e-4)
    assert cautious_mean([0.5, 0.5] * 50, [0.9, 0.5] * 50) == pytest.approx(0.7 - 0.2 / 10, abs=1e-3)
    assert cautious_mean([0.5], [0.9]) == 0.9


def test_weights_of_an_intent_are_tuned_by_name_and_by_default(fixed, letters):
    asked = [f"fix q{n}" for n in range(12)]  # which are debugging, where words weigh more than vectors
    lopsided = fixed(text=dict.fromkeys(asked, "xya"), vector=dict.fromkeys(asked, "abc"), fuse=Weighted())
    recipe = lopsided.model_copy(update={"intent": IntentClassifier()})
    judged_queries = judged(**dict.fromkeys(asked, "a"))
    found = tune(letters, recipe, judged_queries, measure="mrr@3", trials=20, parameters=["intent.weights.debugging"])
    assert found.accepted
    tuned = found.recipe.intent.classify("fix it").weights
    assert tuned["embedding"] > tuned["text"]
    paths = [one.path for one in tune(letters, recipe, judged_queries, trials=1).parameters]
    assert [path for path in paths if path.startswith("intent")] == [
        f"intent.weights.debugging.{signal}" for signal in ("embedding", "graph", "intent_edges", "text")
    ]
    few = judged(**dict.fromkeys([*asked[:4], "q1", "q2"], "a"))
    assert not [one for one in tunable(recipe, _frequent_intents(recipe, few)) if "debugging" in one.path]
