import pytest
from growth import slopes


@pytest.mark.parametrize("power", [0.0, 0.5, 1.0, 2.0])
def test_the_slope_is_the_power_of_growth(power):
    rows = {size: {"ms": 3 * size**power} for size in (10, 100, 1000)}
    assert slopes(rows) == {"ms": power}


def test_the_slope_is_of_the_line_that_fits_best():
    # log10: points (1, 0), (2, 1), (3, 1); deviations from the mean give (−1·0 + 0·1 + 1·1) / 2
    assert slopes({10: {"ms": 1.0}, 100: {"ms": 10.0}, 1000: {"ms": 10.0}}) == {"ms": 0.5}
