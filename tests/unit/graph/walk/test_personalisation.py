import pytest

from hopweave.graph.walk.personalisation import adaptive_restart, restart_vector


def test_shares_do_not_depend_on_how_many_passages_there_are():
    for count in (10, 10_000):
        seeds = restart_vector({"skua": 2.0}, {f"p{number}": 1.0 for number in range(count)}, 0.2)
        assert seeds["skua"] == pytest.approx(0.8)
        assert sum(seeds.values()) == pytest.approx(1.0)
        assert seeds["p7"] == pytest.approx(0.2 / count)


def test_one_sort_has_everything():
    assert restart_vector({1: 3.0, 2: 1.0}, {}, 0.9) == {1: 0.75, 2: 0.25}
    assert restart_vector({}, {1: 3.0, 2: 1.0}, 0.0) == {1: 0.75, 2: 0.25}
    assert restart_vector({1: 0.0}, {2: 1.0}, 0.0) == {2: 1.0}
    assert restart_vector({}, {}, 0.5) == {}


def test_a_seed_of_both_sorts_adds_up():
    assert restart_vector({1: 1.0, 2: 1.0}, {2: 1.0}, 0.5) == {1: 0.25, 2: 0.25 + 0.5}


def test_all_or_nothing():
    assert restart_vector({1: 1.0}, {2: 1.0}, 0.0) == {1: 1.0}
    assert restart_vector({1: 1.0}, {2: 1.0}, 1.0) == {2: 1.0}


def test_bad_numbers_are_named():
    with pytest.raises(ValueError, match=r"passage_mass: 1\.2 is not allowed"):
        restart_vector({1: 1.0}, {2: 1.0}, 1.2)
    with pytest.raises(ValueError, match=r"entities\[1\]: weight nan"):
        restart_vector({1: float("nan")}, {}, 0.5)
    with pytest.raises(ValueError, match=r"passages\['d'\]: weight -1"):
        restart_vector({}, {"d": -1.0}, 0.5)


@pytest.mark.parametrize(("entities", "expected"), [(0, 0.3), (1, 0.5), (3, 0.5), (4, 0.3), (5, 0.3), (6, 0.15)])
def test_specific_questions_stay_near_and_broad_ones_go_far(entities, expected):
    assert adaptive_restart(entities) == expected
