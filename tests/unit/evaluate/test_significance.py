import pytest

from hopweave.evaluate.significance import bootstrap_interval, paired_difference


def test_values_that_are_all_alike_have_no_spread():
    assert bootstrap_interval([0.5] * 10) == (0.5, 0.5)


@pytest.mark.parametrize("values", [[], [0.5]])
def test_fewer_than_two_values_tell_nothing(values):
    assert bootstrap_interval(values) is None


def test_the_interval_is_about_two_standard_errors_either_way():
    # 50 zeros and 50 ones: mean 0.5, standard error √(0.25 / 100) = 0.05
    low, high = bootstrap_interval([0.0, 1.0] * 50)
    assert low == pytest.approx(0.5 - 1.96 * 0.05, abs=0.015)
    assert high == pytest.approx(0.5 + 1.96 * 0.05, abs=0.015)


def test_equal_seeds_draw_alike():
    values = [0.1, 0.9, 0.4, 0.7, 0.2] * 6
    assert bootstrap_interval(values, seed=3) == bootstrap_interval(values, seed=3)
    assert paired_difference(values, values[::-1], seed=3) == paired_difference(values, values[::-1], seed=3)


def test_all_the_same_way_has_a_chance_of_two_in_two_to_the_n():
    found = paired_difference([0.0] * 6, [0.5] * 6)
    assert (found.mean, found.p_value) == (0.5, 2 / 2**6)
    assert not found.within_noise


def test_queries_that_are_equal_do_not_matter_to_the_test():
    # 3 better, 21 equal: chance makes all three go one way in 2 of 8 cases
    found = paired_difference([0.0] * 24, [0.5] * 3 + [0.0] * 21)
    assert (found.mean, found.p_value, found.within_noise) == (1.5 / 24, 2 / 2**3, True)


def test_sizes_count():
    # gains 3 and −1: of ±3 ±1 (4, 2, −2, −4) all are at least 2 away from 0
    assert paired_difference([0.0, 0.1], [0.3, 0.0]).p_value == 1.0
    # gains 3, 2, −1: of the 8 sums ±3 ±2 ±1 those at least 4 away are 6, 4, −4, −6
    assert paired_difference([0.0, 0.0, 0.1], [0.3, 0.2, 0.0]).p_value == pytest.approx(4 / 8)


def test_many_queries_are_drawn_at_random():
    found = paired_difference([0.0] * 40, [1.0] * 20 + [-1.0] * 20)
    assert (found.mean, found.within_noise) == (0.0, True)
    assert paired_difference([0.0] * 40, [1.0] * 35 + [-1.0] * 5).p_value < 0.001


def test_either_way_round():
    forth, back = paired_difference([0.0] * 8, [0.5] * 8), paired_difference([0.5] * 8, [0.0] * 8)
    assert (forth.mean, forth.p_value) == (-back.mean, back.p_value)


@pytest.mark.parametrize(
    ("first", "second"), [([], []), ([0.5], [0.7]), ([0.5, 0.2], [0.5, 0.2]), ([0.0, 0.0], [0.0, 1.0])]
)
def test_too_little_to_tell(first, second):
    found = paired_difference(first, second)
    assert (found.p_value, found.within_noise) == (1.0, True)


def test_lists_of_different_lengths():
    with pytest.raises(ValueError, match="a value for every query, but there are 1 and 2"):
        paired_difference([0.5], [0.5, 0.5])
