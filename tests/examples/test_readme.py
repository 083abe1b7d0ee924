"""What the README shows works as shown."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_everything_runs_in_order_and_prints_what_it_says():
    done = subprocess.run(
        [sys.executable, "docs/snippets.py", "README.md"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_each_first_snippet_stands_alone():
    sections = dict(re.findall(r"^## (From Python|In Haystack|In LlamaIndex)\n(.*?)(?=^## )", README, re.M | re.S))
    snippets = [re.search(r"^```python\n(.*?)^```", text, re.M | re.S)[1] for text in sections.values()]
    assert len(snippets) == 3
    files = [set(re.findall(r'"(\w+\.db)"', snippet)) for snippet in snippets]
    assert all(len(one) == 1 for one in files)
    assert len(set.union(*files)) == 3  # none reads what another wrote


def test_links_lead_somewhere():
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", README):
        assert (ROOT / target).exists(), target


def test_make_help_lists_what_the_readme_names():
    shown = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert all(f"make {name}" in shown for name in ("demo", "test", "fix", "docs", "bench"))
