"""The demo says that core, Haystack and LlamaIndex agree, and means it."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_demo_shows_the_same_ranking_three_times(tmp_path):
    command = [sys.executable, "examples/demo.py", str(tmp_path / "isles.db")]
    shown = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert "62 documents (62 new, 0 as they were)" in shown
    assert "same ids and scores in all three: yes" in shown
    assert "Words and vectors alone find 2 of them" in shown
    assert "The recipe 'multihop' finds 3, marked *" in shown
    assert "—mentions→" in shown
    again = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert "62 documents (0 new, 62 as they were)" in again
    assert again.split("\n", 1)[1] == shown.split("\n", 1)[1]
