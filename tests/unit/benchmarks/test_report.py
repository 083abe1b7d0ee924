import pytest
from plots import draw_all
from report import PAGE, RESULTS, TEMPLATE, check_repeatable, page, read_results, share, short

TEXT = {
    "command": "python benchmarks/text.py",
    "measured": "2026-01-31",
    "machine": "x86_64, 2 cores, Python 3.11.2",
    "figures": {"vs_haystack_bm25": 65.23, "add_one_ms": 27.4},
}


def test_figures_take_their_places():
    template = "{{ source('text') }}: {{ text.vs_haystack_bm25 | short }} and {{ text.add_one_ms | short }}"
    assert page(template, {"text": TEXT}) == "`python benchmarks/text.py`, measured on 2026-01-31: 65 and 27\n"


def test_a_figure_that_is_not_there_is_an_error_that_names_it():
    with pytest.raises(SystemExit, match="vs_elastic"):
        page("{{ text.vs_elastic }}", {"text": TEXT})
    with pytest.raises(SystemExit, match="growth"):
        page("{{ growth.slopes }}", {"text": TEXT})


@pytest.mark.parametrize(
    ("figure", "written"),
    [(0.0, "0.00"), (0.126, "0.13"), (1.26, "1.3"), (12.6, "13"), (12_600.0, "12,600"), (-0.5, "−0.50"), (None, "–")],
)
def test_short(figure, written):
    assert short(figure) == written


def test_share_keeps_the_digits_of_the_script():
    assert [share(figure) for figure in (0.0, 0.5542, 1.0)] == [".0000", ".5542", "1.0000"]


def test_times_may_differ_between_runs_but_quality_may_not():
    first = {"ours": {"recall@5": 0.5, "median_ms": 7.0, "index_seconds": 1.0}}
    check_repeatable(first, {"ours": {"recall@5": 0.5, "median_ms": 9.0, "index_seconds": 2.0}})
    with pytest.raises(SystemExit, match="for ours"):
        check_repeatable(first, {"ours": {"recall@5": 0.5001, "median_ms": 7.0, "index_seconds": 1.0}})
    with pytest.raises(SystemExit, match="for theirs"):
        check_repeatable(first, {**first, "theirs": {"recall@5": 0.5}})


def test_the_page_is_what_the_results_say():
    assert PAGE.read_text(encoding="utf-8") == page(TEMPLATE.read_text(encoding="utf-8"), read_results(RESULTS))


def test_plots_are_the_same_in_every_run(tmp_path):
    figures = {name: one["figures"] for name, one in read_results(RESULTS).items()}
    first = draw_all(figures, tmp_path / "one")
    second = draw_all(figures, tmp_path / "other")
    assert {file.name for file in first} == {"growth.svg", "2wiki51.svg", "musique100.svg"}
    assert [file.read_bytes() for file in first] == [file.read_bytes() for file in second]
