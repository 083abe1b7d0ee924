"""Rows of text as a table, for a terminal or for Markdown."""

from collections.abc import Sequence


def plain(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table for a terminal: the first column aligned left, the others right.

    >>> print(plain(["recipe", "recall@5"], [["hybrid", "0.500"], ["multihop", "0.750"]]))
    recipe    recall@5
    hybrid       0.500
    multihop     0.750
    """
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if place == 0 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in (heads, *rows)
    )


def markdown(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """The same table in Markdown.

    >>> print(markdown(["recipe", "recall@5"], [["hybrid", "0.500"]]))
    | recipe | recall@5 |
    |---|---:|
    | hybrid | 0.500 |
    """
    rule = ["---", *["---:"] * (len(heads) - 1)]
    escaped = [[cell.replace("|", r"\|") for cell in row] for row in (heads, *rows)]
    lines = ["| " + " | ".join(row) + " |" for row in escaped]
    return "\n".join([lines[0], "|" + "|".join(rule) + "|", *lines[1:]])
