import re

from hopweave.tune.report import tuning_report
from hopweave.tune.tune import tune

from .conftest import judged

SIX = {f"q{n}": "a" for n in range(6)}


def test_the_page_stands_for_itself(fixed, letters):
    recipe = fixed("<fixed>", text=dict.fromkeys(SIX, "xa"), vector=dict.fromkeys(SIX, "ax"))
    tuning = tune(letters, recipe, judged(**SIX), measure="mrr@3", trials=3)
    page = tuning_report(tuning)
    assert page.count("<svg") == 2 + len(tuning.parameters)  # the search, the gains, each parameter
    assert "<title>Tuning &lt;fixed&gt;</title>" in page
    assert not re.search(r"<script|src=|https?://", page)
    assert "fuse.weights.vector" in page
    assert "only 6 judged queries" in page
    assert "held out, in 3 groups, one at a time; a search makes 3 trials" in page


def test_the_same_tuning_gives_the_same_page(fixed, letters):
    recipe = fixed(text=dict.fromkeys(SIX, "xa"), vector=dict.fromkeys(SIX, "ax"))
    pages = [tuning_report(tune(letters, recipe, judged(**SIX), trials=3, held_out=0.5)) for _ in range(2)]
    assert pages[0] == pages[1]
    assert "in one group" in pages[0]
