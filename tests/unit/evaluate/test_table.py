from hopweave.evaluate.table import markdown, plain


def test_columns_are_as_wide_as_their_widest_cell():
    assert plain(["a", "bb"], [["long", "1"], ["x", "222"]]).splitlines() == ["a      bb", "long    1", "x     222"]


def test_no_rows():
    assert plain(["a", "b"], []) == "a  b"
    assert markdown(["a", "b"], []) == "| a | b |\n|---|---:|"


def test_a_bar_in_a_cell_does_not_split_it():
    assert markdown(["a"], [["x|y"]]).splitlines()[-1] == r"| x\|y |"
