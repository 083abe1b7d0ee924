import pytest

from hopweave.errors import HopweaveError, RecipeError
from hopweave.tune.search import Trial, best, search
from hopweave.tune.search_space import Parameter

HILL = [Parameter("x", 0.0, 1.0, 0.9), Parameter("n", 1, 9, 1, whole=True)]


def hill(values):
    return -abs(values["x"] - 0.3) - abs(values["n"] - 5) / 10


def test_it_climbs_and_starts_where_we_are():
    found = search(HILL, hill, trials=60)
    assert found[0] == Trial(0, {"x": 0.9, "n": 1}, hill({"x": 0.9, "n": 1}))
    assert len(found) == 61
    top = best(found)
    assert top.score > -0.15
    assert isinstance(top.values["n"], int)


def test_equal_seeds_try_the_same_and_others_do_not():
    runs = [search(HILL, hill, trials=12, seed=seed) for seed in (4, 4, 5)]
    assert runs[0] == runs[1]
    assert runs[0] != runs[2]


def test_values_stay_within_their_range_and_have_four_digits():
    for trial in search([Parameter("x", 0.1234567, 0.2, 0.15)], lambda values: values["x"], trials=20):
        assert 0.1234567 <= trial.values["x"] <= 0.2
        assert trial.values["x"] in (float(f"{trial.values['x']:.4g}"), 0.1234567)


def test_a_start_outside_the_range_is_scored_all_the_same():
    found = search([Parameter("x", 0.5, 1.0, 0.1)], lambda values: -values["x"], trials=3)
    assert best(found) == Trial(0, {"x": 0.1}, -0.1)


def test_what_the_recipe_does_not_allow_is_passed_over():
    def picky(values):
        if values["x"] < 0.5:
            raise RecipeError("too small")
        return values["x"]

    found = search([Parameter("x", 0.0, 1.0, 0.5)], picky, trials=20)
    assert 1 < len(found) < 21
    assert all(trial.values["x"] >= 0.5 for trial in found)


def test_of_equal_trials_the_first_is_best():
    assert best([Trial(0, {}, 0.1), Trial(1, {}, 0.5), Trial(2, {}, 0.5)]).number == 1


def test_progress_counts_trials():
    counted = []
    search(HILL, hill, trials=5, progress=counted.append)
    assert counted == [1] * 5


def test_it_leaves_the_verbosity_of_the_library_as_it_was(capfd):
    import optuna

    before = optuna.logging.get_verbosity()
    search(HILL, hill, trials=2)
    assert optuna.logging.get_verbosity() == before
    assert capfd.readouterr() == ("", "")


def test_no_trials():
    with pytest.raises(ValueError, match="trials: 0 is not allowed: it must be at least 1"):
        search(HILL, hill, trials=0)


def test_without_the_library_it_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "optuna", None)
    with pytest.raises(HopweaveError, match=r"optuna is not installed; run: pip install 'hopweave\[measure\]'"):
        search(HILL, hill, trials=1)
