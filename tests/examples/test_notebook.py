"""The notebook runs from top to bottom without a network, and what is kept of its last run is what it prints now."""

import re
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOK = Path(__file__).parents[2] / "examples" / "notebook.ipynb"


def outputs(notebook):
    return [output for cell in notebook.cells for output in cell.get("outputs", ())]


def printed(notebook):
    return "".join(output.text for output in outputs(notebook) if output.output_type == "stream")


def shown(notebook):
    """The kinds of what is not printed; what is printed may come in any number of pieces."""
    return [sorted(output.data) for output in outputs(notebook) if output.output_type != "stream"]


@pytest.fixture(scope="module")
def kept():
    return nbformat.read(NOTEBOOK, as_version=4)


@pytest.fixture(scope="module")
def fresh(fenced):
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    environment, log = fenced("notebook")
    client = NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(NOTEBOOK.parent)}})
    client.execute(env=environment)
    assert not log.exists(), f"the notebook asked for the network: {log.read_text()}"
    return notebook


def test_a_result_draws_itself(fresh):
    drawn = [output.data["text/html"] for output in outputs(fresh) if "text/html" in output.get("data", {})]
    assert len(drawn) == 1
    assert drawn[0].count('class="hit"') == 2
    assert "lucja-wrona" in drawn[0]
    assert "<svg" in drawn[0]


def test_there_are_three_plots(fresh):
    assert sum("image/png" in output.get("data", {}) for output in outputs(fresh)) == 3


def test_a_higher_restart_stays_nearer(fresh):
    far, near = map(float, re.search(r"([\d.]+) hops at restart 0.05, ([\d.]+) at 0.95", printed(fresh)).groups())
    assert near < 0.1
    assert far > 1.5


def test_multihop_finds_more_of_what_takes_several_pages(fresh):
    several = next(line for line in printed(fresh).splitlines() if line.startswith("several pages"))
    recall = {way: float(value) for way, value in re.findall(r"'([^']+)': ([\d.]+)", several)}
    assert recall["multihop"] > recall["hybrid"] + 0.1


def test_what_is_kept_of_the_last_run_is_small_and_names_no_machine(kept):
    assert NOTEBOOK.stat().st_size < 150_000
    assert not re.search(r"/(home|work|tmp|root|usr|Users)/|[A-Z]:\\\\", NOTEBOOK.read_text(encoding="utf-8"))
    assert not [output for output in outputs(kept) if output.output_type == "error" or output.get("name") == "stderr"]


def test_what_is_kept_of_the_last_run_still_holds(kept, fresh):
    refresh = "run: jupyter execute --inplace examples/notebook.ipynb"
    assert printed(kept) == printed(fresh), refresh
    assert shown(kept) == shown(fresh), refresh
