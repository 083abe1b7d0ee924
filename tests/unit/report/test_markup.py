import pytest

from hopweave.report.markup import as_html, escaped, number, shortened


def test_what_html_cannot_hold_is_replaced():
    assert escaped("a\x00b\ud800c\x1b[31m") == "a\N{REPLACEMENT CHARACTER}" + "b\N{REPLACEMENT CHARACTER}c" + (
        "\N{REPLACEMENT CHARACTER}[31m"
    )
    escaped("\ud800").encode("utf-8")


def test_both_quotes_are_escaped():
    assert escaped("\"'&<>") == "&quot;&#x27;&amp;&lt;&gt;"


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0, "0"), (-1.5, "−1.5"), (1e-9, "1e−09"), (123456.0, "1.235e+05"), (123456, "123456"), (None, "–")],
)
def test_numbers(value, shown):
    assert number(value) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (True, "yes"),
        (False, "no"),
        (None, "–"),
        ("", "–"),
        ([], "none"),
        ({}, "<dl></dl>"),
        ([1, [2.5]], "1, 2.5"),
        ("<b>", "<bdi>&lt;b&gt;</bdi>"),
        ({"<k>": 1}, "<dl><dt>&lt;k&gt;</dt><dd>1</dd></dl>"),
    ],
)
def test_details(value, shown):
    assert as_html(value) == shown


def test_entries_that_are_alike_are_a_table():
    shown = as_html({"text": {"raw": 4.0, "part": 0.1}, "vector": {"raw": 0.5, "part": 0.2}})
    assert shown.count("<tr>") == 3
    assert '<th scope="row">vector</th><td>0.5</td><td>0.2</td>' in shown
    assert "<table>" not in as_html({"text": {"raw": 4.0}, "vector": {"part": 0.2}})


def test_one_long_word_is_cut_all_the_same():
    assert shortened("x" * 20, 10) == "x" * 9 + " …"
    assert shortened("short", 10) == "short"
